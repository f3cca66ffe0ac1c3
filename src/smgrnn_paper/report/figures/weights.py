"""Figs. 5 and A.2: how large networks become without pruning, and how weak their weights.

The weights of all runs of a condition are taken together.  Most are tiny and a few are large, so
density and distribution have an axis that is linear up to τ_w, where pruning may remove an edge,
and logarithmic beyond.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.scale import SymmetricalLogTransform
from matplotlib.ticker import NullLocator

from smgrnn.arrays import Floats
from smgrnn.pages import figure as fig
from smgrnn.runs.record import Record
from smgrnn.text import quantity
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures import style
from smgrnn_paper.report.figures.style import CONDITIONS, TASKS, Records
from smgrnn_paper.report.topology import SMALL_WEIGHT

VARIANTS = ("smgrnn", "growth-only")
SHAPES = ("histogram", "density", "CDF")
BINS = 61
NOTES = (
    "Weights of all runs of a condition together.",
    rf"Grey: magnitudes up to {SMALL_WEIGHT} ($\tau_w$), which pruning can remove; up to there the",
    "axis is linear, beyond it is logarithmic, and bins are as wide as they look.",
)


@fig.styled
def draw_pruning_ablation(records: Records) -> Figure:
    """Draw the nodes on all tasks, and three views of the final weights on CartPole."""
    (figure, body), width = fig.new_figure(5.2), style.smoothing(records)
    axes = body.subplots(2, 2).flat
    nodes = axes[0]
    for task in CONTROL_TASKS:
        for variant, runs in _on_task(records, task).items():
            if runs:
                look = CONDITIONS[variant]._replace(line=TASKS[task].line)
                style.size_curve(runs, width=width).plot(nodes, look)
    if nodes.lines:
        nodes.set_yscale("log")
    else:
        fig.say_empty(nodes)
    nodes.set(xlabel="episode", ylabel="nodes")
    fig.limit_ticks([nodes])
    draw_weights(axes[1:], _on_task(records, "CartPole-v1"))
    for number, shape in enumerate(("Nodes, all tasks", *SHAPES)):
        fig.name_panel(axes[number], number, shape if number == 0 else f"CartPole: {shape}")
    tasks = [TASKS[task]._replace(colour=fig.GREY).key() for task in CONTROL_TASKS]
    fig.add_legend(body, [*style.keys(VARIANTS), *tasks])
    n_stopped = sum(bool(run.warnings) for runs in records.values() for run in runs)
    stopped = f"In {quantity(n_stopped, 'run')} growth stopped at a limit of nodes or edges."
    mean = f"(a) Mean over {style.averaged(records, width)}; shaded: one standard deviation."
    fig.add_note(figure, mean, stopped if n_stopped else "", "(b-d)", *NOTES)
    return figure


@fig.styled
def draw_more_weights(records: Records) -> Figure:
    """Draw three views of the final weights on Acrobot and on LunarLander."""
    figure, body = fig.new_figure(4.8)
    axes = body.subplots(2, 3)
    for row, task in enumerate(("Acrobot-v1", "LunarLander-v3")):
        draw_weights(axes[row], _on_task(records, task))
        for column, shape in enumerate(SHAPES):
            fig.name_panel(axes[row, column], 3 * row + column, f"{TASKS[task].label}: {shape}")
    fig.add_legend(body, style.keys(VARIANTS))
    fig.add_note(figure, f"{style.runs_each(records)} each.".capitalize(), *NOTES)
    return figure


def _on_task(records: Records, task: str) -> Mapping[str, Sequence[Record]]:
    return {name: records.get(f"{task}/{name}", ()) for name in VARIANTS}


def draw_weights(axes: Sequence[Axes], runs: Mapping[str, Sequence[Record]]) -> None:
    """Fill three panels: histogram on a logarithmic scale, density, cumulative distribution."""
    weights = {
        name: np.concatenate([run.final.graph.weight for run in found])
        for name, found in runs.items()
        if found
    }
    there = {name: values for name, values in weights.items() if values.size}
    if not there:
        for ax in axes:
            fig.say_empty(ax)
        return
    histogram, density, distribution = axes
    farthest = float(max(np.abs(values).max() for values in there.values()))
    even, growing = np.linspace(-farthest, farthest, BINS + 1), growing_bins(farthest)
    for name, values in there.items():
        colour = CONDITIONS[name].colour
        counts = np.histogram(values, even)[0] / len(runs[name])
        histogram.stairs(counts, even, color=colour, fill=True, alpha=2 * fig.BAND_OPACITY)
        shares = np.histogram(values, growing)[0] / values.size
        density.stairs(100 * shares, growing, color=colour, linewidth=1.2)
        below = np.searchsorted(np.sort(values), growing, side="right") / values.size
        distribution.plot(growing, 100 * below, color=colour)
    histogram.set(yscale="log", ylabel="edges per run", xlabel="weight")
    density.set(ylabel="weights per bin (%)", ylim=(0, None))
    distribution.set(ylabel="weights up to this (%)", ylim=(0, 100))
    fig.limit_ticks(axes)
    decades = 10.0 ** np.arange(0, max(np.log10(farthest), 0) + 0.01)
    decades = decades[:: 2 if decades.size > 2 else 1]
    marks = [*-decades[::-1], 0.0, *decades]
    for ax in (density, distribution):
        ax.set_xscale("symlog", base=10, linthresh=SMALL_WEIGHT, linscale=1)
        ax.set_xticks(marks, [f"{mark:g}".replace("-", "−") for mark in marks])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.axvspan(-SMALL_WEIGHT, SMALL_WEIGHT, color=fig.GREY, alpha=0.12, linewidth=0, zorder=0)
        ax.set(xlim=(-farthest, farthest), xlabel="weight")


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
