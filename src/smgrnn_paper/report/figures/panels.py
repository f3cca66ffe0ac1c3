"""Panels: the parts that several figures share -- a grid over tasks, curves, thresholds, keys."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from smgrnn.runs.record import Record
from smgrnn.text import quantity
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures import style
from smgrnn_paper.report.figures.curves import Band, Bounds, Curve, plot_curve

THRESHOLD: Any = {"color": style.GREY, "linestyle": (0, (4, 3)), "linewidth": 0.9}
"""The look of a line where a task counts as solved."""
EDGE = 0.05
"""Room between a bound and the end of an axis, as a share of what is in between."""
Column = Callable[[Record], ArrayLike]
"""Takes a quantity from a run, one value per episode."""


def task_grid(body: SubFigure, quantities: Sequence[str]) -> Any:
    """Return axes: a row for each quantity and a column for each control task."""
    axes = body.subplots(len(quantities), len(CONTROL_TASKS), sharex=True, squeeze=False)
    for row, label in enumerate(quantities):
        axes[row, 0].set_ylabel(label)
        for column, task in enumerate(CONTROL_TASKS):
            number = row * len(CONTROL_TASKS) + column
            style.name_panel(axes[row, column], number, style.TASKS[task].label)
    for ax in axes[-1]:
        ax.set_xlabel("episode")
    return axes


def fill_row(
    axes: Sequence[Axes],
    records: style.Records,
    variants: Iterable[str],
    column: Column,
    *,
    width: int,
    band: Band | None,
) -> None:
    """Draw a quantity of every variant, a panel for each control task."""
    for ax, task in zip(axes, CONTROL_TASKS, strict=True):
        for variant in variants:
            runs = records.get(f"{task}/{variant}", ())
            if runs:
                curve = Curve.of([column(run) for run in runs], width=width, band=band)
                plot_curve(ax, curve, style.CONDITIONS[variant])
        if not ax.lines:
            style.say_empty(ax)
    style.limit_ticks(axes)


def returns(record: Record) -> ArrayLike:
    """Return the return of each episode, NaN for a candidate that was too small to play."""
    return np.where(record.episodes.steps > 0, record.episodes.returns, np.nan)


def sizes(record: Record) -> ArrayLike:
    """Return the nodes at the end of each episode."""
    return record.episodes.n_nodes


def possible_returns(record: Record) -> Bounds:
    """Return the least and the largest return that its task allows."""
    return record.plan.task.return_bounds


def possible_sizes(record: Record) -> Bounds:
    """Return the fewest nodes that a network for its task has; there is no most."""
    return record.plan.task.n_inputs + record.plan.task.n_outputs, np.inf


def keep_within(ax: Axes, bounds: Bounds) -> None:
    """Let an axis end soon after what is possible, so that no number beyond it stands there."""
    low, high = ax.get_ylim()
    least, most = bounds
    margin = EDGE * (min(high, most) - max(low, least))
    ax.set_ylim(max(low, least - margin), min(high, most + margin))


def mark_thresholds(axes: Sequence[Axes], records: style.Records) -> None:
    """Draw a dashed line where each control task counts as solved."""
    for ax, task in zip(axes, CONTROL_TASKS, strict=True):
        plans = (run.plan for runs in records.values() for run in runs)
        found = {plan.task.reward_threshold for plan in plans if plan.task.id == task}
        for threshold in found:
            if threshold is not None:
                ax.axhline(threshold, zorder=1, **THRESHOLD)


def line_key(look: style.Look, **changes: Any) -> Line2D:
    """Return the entry of a curve for a legend."""
    return Line2D([], [], color=look.colour, linestyle=look.line, label=look.label, **changes)


def line_keys(variants: Iterable[str]) -> list[Line2D]:
    """Return the entries of variants for a legend."""
    return [line_key(style.CONDITIONS[variant]) for variant in variants]


def threshold_key() -> Line2D:
    """Return the entry of the thresholds for a legend."""
    return Line2D([], [], label="threshold", **THRESHOLD)


def averaged(records: style.Records, width: int) -> str:
    """Return in words the runs and episodes that lines are means over."""
    return f"{style.runs_each(records)} of a moving mean over {quantity(width, 'episode')}"


def n_episodes(records: style.Records) -> int:
    """Return the episodes of the longest run, 1 if there is none."""
    return max((run.episodes.n for runs in records.values() for run in runs), default=1)
