"""Fig. 3, baselines: the growing network beside MLPs of fixed size and evolved networks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smgrnn.arrays import Floats
from smgrnn.runs.record import Record
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import (
    BANDS,
    Curve,
    mean_and_bar,
    plot_curve,
    smoothing_width,
)
from smgrnn_paper.report.figures.two_scales import shorten_below
from smgrnn_paper.report.topology import measure

DISTILLED = ("smgrnn", "mlp-100", "mlp-200")
EVOLVED = ("neat", "ndp")
VARIANTS = (*DISTILLED, *EVOLVED)
CROSS: dict[str, Any] = {"marker": "x", "markersize": 3.5}
"""Marker of the best candidate of a generation."""
STRIP = 0.2
"""Width of the strip that shows the end, as a share of the panel's."""
HEIGHTS = (1.3, 1)
"""Heights of returns and of nodes."""
ENDS = {"late_return": panels.possible_returns, "n_nodes": panels.possible_sizes}
"""The metrics of the strips, and the bounds that each has in a run."""
FEW = 0.05
"""Share of the episodes that may lie in the shorter part of an axis: students begin low."""

Variants = Mapping[str, Sequence[Record]]
"""The runs on one task, by variant."""


def best_of_generations(record: Record, column: str) -> Floats:
    """Return a column of each generation's best; NaN if no candidate was large enough to play."""
    assert record.generations is not None
    values = getattr(record.generations, column).astype(np.float64)
    return np.where(record.generations.steps > 0, values, np.nan)


@style.styled
def draw_baseline_comparison(records: style.Records) -> Figure:
    """Draw returns above and nodes below, a column for each task, and strips for the end."""
    (figure, body), width = style.new_figure(5.6), smoothing_width(panels.n_episodes(records))
    ratios = [1, STRIP] * len(CONTROL_TASKS)
    axes = body.subplots(2, len(ratios), width_ratios=ratios, height_ratios=HEIGHTS)
    found = [
        {name: records.get(f"{task}/{name}", ()) for name in VARIANTS} for task in CONTROL_TASKS
    ]
    for column, task in enumerate(CONTROL_TASKS):
        _draw_task(axes[:, 2 * column], axes[:, 2 * column + 1], found[column], width)
        for row in range(2):
            number = column + row * len(CONTROL_TASKS)
            style.name_panel(axes[row, 2 * column], number, style.TASKS[task].label)
        axes[1, 2 * column].set_xlabel("episode")
    panels.mark_thresholds(axes[0, ::2], records)
    is_shortened = [
        _scale_returns(ax, runs, width) for ax, runs in zip(axes[0, ::2], found, strict=True)
    ]
    axes[0, 0].set_ylabel("return")
    axes[1, 0].set_ylabel("nodes")
    looks = {name: CROSS if name in EVOLVED else {} for name in VARIANTS}
    keys = [panels.line_key(style.CONDITIONS[name], **look) for name, look in looks.items()]
    style.add_legend(body, [*keys, panels.threshold_key()])
    style.add_note(
        figure,
        f"Lines: mean over {panels.averaged(records, width)};",
        "of NEAT and NDP, a candidate plays one. Crosses: the best of each generation, mean over",
        "runs; its nodes are the lines in (d-f).",
        f"Shaded: {BANDS['std']}, within what is possible. To the right: late return and final",
        "nodes.",
        "Grey, below two strokes: the scale is coarser." if any(is_shortened) else "",
    )
    return figure


def _scale_returns(ax: Axes, runs: Variants, width: int) -> bool:
    """Leave most of a panel to students that have a teacher; return whether others are lower.

    The change of scale is where the bands of all of them are above, but for a few episodes.
    """
    distilled = [found for name in DISTILLED if (found := runs[name])]
    if not distilled:
        return False
    task = distilled[0][0].plan.task
    lows = [np.quantile(_returns(found, width).low, FEW) for found in distilled]
    thresholds = [] if task.reward_threshold is None else [task.reward_threshold]
    return shorten_below(ax, float(min([*lows, *thresholds])))


def _draw_task(axes: Sequence[Axes], strips: Sequence[Axes], runs: Variants, width: int) -> None:
    """Draw both panels of a task, and their strips."""
    for panel, strip in zip(axes, strips, strict=True):
        strip.sharey(panel)
    for place, (variant, found) in enumerate(runs.items()):
        if found:
            look = style.CONDITIONS[variant]
            _draw_returns(axes[0], found, look, width)
            _draw_sizes(axes[1], found, look, width)
            for strip, (metric, find_bounds) in zip(strips, ENDS.items(), strict=True):
                values = [measure(run, metric) for run in found]
                _draw_end(strip, *mean_and_bar(values, find_bounds(found[0])), place, look)
    for panel, strip in zip(axes, strips, strict=True):
        if not panel.lines:
            style.say_empty(panel)
        strip.set(xlim=(-1, len(VARIANTS)), xticks=[], facecolor="#f4f4f4")
        strip.tick_params(left=False, labelleft=False)
        strip.spines[:].set_visible(False)
    style.limit_ticks(axes)


def _returns(runs: Sequence[Record], width: int) -> Curve:
    curve = Curve.of([panels.returns(run) for run in runs], width=width)
    return curve.within(panels.possible_returns(runs[0]))


def _draw_returns(ax: Axes, runs: Sequence[Record], look: style.Look, width: int) -> None:
    plot_curve(ax, _returns(runs, width), look)
    if runs[0].generations is not None:
        best = Curve.of([best_of_generations(run, "returns") for run in runs])
        ax.plot(_ends(runs[0], best), best.mean, color=look.colour, linestyle="", **CROSS)


def _draw_sizes(ax: Axes, runs: Sequence[Record], look: style.Look, width: int) -> None:
    if runs[0].generations is None:
        curve = Curve.of([panels.sizes(run) for run in runs], width=width)
    else:
        curve = Curve.of([best_of_generations(run, "n_nodes") for run in runs])
        curve = curve._replace(x=_ends(runs[0], curve))
    plot_curve(ax, curve.within(panels.possible_sizes(runs[0])), look)


def _ends(record: Record, best: Curve) -> Floats:
    """Return the episodes at which the generations of a curve end."""
    assert record.generations is not None
    return best.x * (record.episodes.n / record.generations.n)


def _draw_end(strip: Axes, mean: float, bar: Floats, place: int, look: style.Look) -> None:
    dot: Any = {"fmt": "o", "color": look.colour, "markersize": 3, "elinewidth": 1}
    strip.errorbar(place, mean, bar, **dot)
