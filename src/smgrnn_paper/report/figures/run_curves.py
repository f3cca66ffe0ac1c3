"""Curves of given runs over training, a line for each run or the mean of those that are alike."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from smgrnn.runs.pictures import find_done
from smgrnn.runs.record import Record
from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import SMOOTHED_SHARE, Curve, plot_curve, smoothing_width

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#8a5a00", "#7a1f5c")
LINES = ("-", "--", ":")
SHOWN = 8
"""Most names that the legend has room for."""
LETTERS, MOST_LETTERS = 84, 40
"""Letters that fit in a row of the legend, and the most of one name, which are its last."""


def agreement(record: Record) -> ArrayLike:
    """Return the agreement with the teacher in each episode, NaN where there is none."""
    if not record.plan.task.has_agreement or record.is_evolved:
        return np.full(record.episodes.n, np.nan)
    return record.episodes.agreed / np.maximum(record.episodes.steps, 1)


QUANTITIES = {"return": panels.returns, "nodes": panels.sizes, "agreement": agreement}
"""The quantities drawn, a row each, from above."""


@style.styled
def draw_run_curves(records: style.Records) -> Figure:
    """Draw return, nodes and agreement, a column for each task and a line for each name."""
    tasks = list(dict.fromkeys(runs[0].plan.task.id for runs in records.values()))
    figure, body = style.new_figure(6.4)
    axes = body.subplots(len(QUANTITIES), len(tasks), sharex="col", squeeze=False)
    looks = {name: _look(place, name) for place, name in enumerate(records)}
    for column, task in enumerate(tasks):
        own = {name: runs for name, runs in records.items() if runs[0].plan.task.id == task}
        _draw_task(list(axes[:, column]), own, looks)
        style.name_panel(axes[0, column], column, style.literal(task))
        axes[-1, column].set_xlabel("episode")
    for ax, quantity in zip(axes[:, 0], QUANTITIES, strict=True):
        ax.set_ylabel(quantity)
    style.limit_ticks(axes.ravel())
    if len(looks) <= SHOWN:
        keys = [panels.line_key(look) for look in looks.values()]
        n_letters = sum(len(str(key.get_label())) + 6 for key in keys)
        style.add_legend(body, keys, 1 + n_letters // LETTERS)
    style.add_note(
        figure,
        f"Moving means over one part in {SMOOTHED_SHARE} of a run's episodes; of several runs,",
        "mean and standard deviation. Of an evolution, a candidate plays one. Dashed: threshold;",
        "dot: the mean of 100 returns first reaches it.",
    )
    return figure


def _look(place: int, name: str) -> style.Look:
    line = LINES[place // len(COLOURS) % len(LINES)]
    label = name if len(name) <= MOST_LETTERS else f"…{name[-MOST_LETTERS:]}"
    return style.Look(style.literal(label), COLOURS[place % len(COLOURS)], line)  # type: ignore[arg-type]


def _draw_task(axes: Sequence[Axes], records: style.Records, looks: dict[str, style.Look]) -> None:
    for ax, take in zip(axes, QUANTITIES.values(), strict=True):
        for name, runs in records.items():
            begun = [run for run in runs if run.episodes.n]
            rows = [row for run in begun if np.isfinite(row := np.asarray(take(run))).any()]
            if rows:
                width = smoothing_width(max(run.episodes.n for run in begun))
                plot_curve(ax, Curve.of(rows, width=width), looks[name])
        if not ax.lines:
            style.say_empty(ax)
    above, below, _ = axes
    below.set_ylim(0, None)
    for name, runs in records.items():
        _mark_done(above, runs, looks[name].colour)


def _mark_done(ax: Axes, runs: Sequence[Record], colour: str) -> None:
    """Draw the threshold of the task, and a dot where each run first kept it."""
    threshold = runs[0].plan.task.reward_threshold
    if threshold is None:
        return
    ax.axhline(threshold, zorder=1, **panels.THRESHOLD)
    found = [done for run in runs if (done := find_done(run)) is not None]
    if found:  # or nothing would be drawn nowhere, for which no layout has room
        ax.plot(found, [threshold] * len(found), "o", color=colour, markersize=4, clip_on=False)
