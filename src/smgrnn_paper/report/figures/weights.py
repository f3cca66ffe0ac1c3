"""Weights: the final weights of the runs of two conditions, as histogram, density and distribution.

Paper: Figs. 5(b-d) and A.2.  The weights of all runs of a condition are taken together.  Most are
tiny and a few are large, so density and distribution have an axis that is linear up to τ_w, where
pruning may remove an edge, and logarithmic beyond.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.scale import SymmetricalLogTransform
from matplotlib.ticker import NullLocator

from smgrnn.arrays import Floats
from smgrnn.runs.record import Record
from smgrnn_paper.report.figures.style import BAND_OPACITY, CONDITIONS, GREY, limit_ticks, say_empty
from smgrnn_paper.report.topology import SMALL_WEIGHT

Runs = Mapping[str, Sequence[Record]]
"""The runs on one task, by variant."""

BINS = 61


def draw_weights(axes: Sequence[Axes], runs: Runs) -> None:
    """Fill three panels: histogram on a logarithmic scale, density, cumulative distribution."""
    weights = {name: pooled_weights(found) for name, found in runs.items()}
    there = {name: values for name, values in weights.items() if values.size}
    if not there:
        for ax in axes:
            say_empty(ax)
        return
    histogram, density, distribution = axes
    farthest = float(max(np.abs(values).max() for values in there.values()))
    even, growing = np.linspace(-farthest, farthest, BINS + 1), growing_bins(farthest)
    for name, values in there.items():
        colour = CONDITIONS[name].colour
        counts = np.histogram(values, even)[0] / len(runs[name])
        histogram.stairs(counts, even, color=colour, fill=True, alpha=2 * BAND_OPACITY)
        shares = np.histogram(values, growing)[0] / values.size
        density.stairs(100 * shares, growing, color=colour, linewidth=1.2)
        below = np.searchsorted(np.sort(values), growing, side="right") / values.size
        distribution.plot(growing, 100 * below, color=colour)
    histogram.set(yscale="log", ylabel="edges per run", xlabel="weight")
    density.set(ylabel="weights per bin (%)", ylim=(0, None))
    distribution.set(ylabel="weights up to this (%)", ylim=(0, 100))
    limit_ticks(axes)
    for ax in (density, distribution):
        _stretch(ax, farthest)


def pooled_weights(runs: Sequence[Record]) -> Floats:
    """Return the final weights of all runs together."""
    return np.concatenate([np.empty(0), *(run.graph.weight for run in runs)])


def growing_bins(farthest: float) -> Floats:
    """Return the edges of bins that look equal on the stretched axis, up to ±`farthest`.

    >>> growing_bins(10.0)[[0, -1]].round(6).tolist()
    [-10.0, 10.0]
    """
    stretch = SymmetricalLogTransform(10, SMALL_WEIGHT, 1)
    end = stretch.transform(np.array([farthest]))[0]
    edges: Floats = stretch.inverted().transform(np.linspace(-end, end, BINS + 1))
    edges[[0, -1]] = -farthest, farthest  # or rounding would leave the largest weight out
    return edges


def _stretch(ax: Axes, farthest: float) -> None:
    """Let an axis be linear up to τ_w, which is shaded, and logarithmic beyond."""
    ax.set_xscale("symlog", base=10, linthresh=SMALL_WEIGHT, linscale=1)
    decades = 10.0 ** np.arange(0, max(np.log10(farthest), 0) + 0.01)
    decades = decades[:: 2 if decades.size > 2 else 1]
    marks = [*-decades[::-1], 0.0, *decades]
    ax.set_xticks(marks, [f"{mark:g}".replace("-", "−") for mark in marks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.axvspan(-SMALL_WEIGHT, SMALL_WEIGHT, color=GREY, alpha=0.12, linewidth=0, zorder=0)
    ax.set(xlim=(-farthest, farthest), xlabel="weight")
