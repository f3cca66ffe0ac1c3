"""Style: one colour and one name for each condition and task, and panels that figures share.

Colours are Okabe and Ito's, or dark steps of viridis for tasks, which are ordered by difficulty:
both can be told apart by colour-blind readers, and in grey.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from smgrnn.arrays import Floats
from smgrnn.pages import figure as fig
from smgrnn.runs.record import Record
from smgrnn.text import quantity
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.results import span

Records = Mapping[str, Sequence[Record]]
"""The runs of each condition, by the condition's name in its experiment: task, "/", variant."""

CONDITIONS: dict[str, fig.Look] = {
    "smgrnn": fig.Look("growing (SMGrNN)", "#0072b2"),
    "static": fig.Look("static", "#d55e00"),
    "growth-only": fig.Look("growth only", "#d55e00"),
    "mlp-100": fig.Look("MLP (100 %)", "#e69f00"),
    "mlp-100-no-bias": fig.Look("MLP (100 %) without biases", "#f0e442"),
    "mlp-200": fig.Look("MLP (200 %)", "#8a5a00"),
    "neat": fig.Look("NEAT", "#009e73"),
    "ndp": fig.Look("NDP", "#cc79a7"),
    "n_hidden=0": fig.Look("0 hidden nodes at first", "#0072b2"),
    "n_hidden=5": fig.Look("5 at first", "#e69f00"),
    "n_hidden=10": fig.Look("10 at first", "#7a1f5c"),
}
"""The look of each condition, by the part of its name after the task."""
TASKS: dict[str, fig.Look] = {
    "xor": fig.Look("XOR", "#a89500"),
    "CartPole-v1": fig.Look("CartPole", "#35a07a"),
    "Acrobot-v1": fig.Look("Acrobot", "#31688e", "--"),
    "LunarLander-v3": fig.Look("LunarLander", "#440154", ":"),
}
"""The look of each task by id, from the easiest to the hardest."""
STD_BAND = "one standard deviation across runs to either side"


def task_name(task: str) -> str:
    """Return the name of a task, and what it hides, in few words.

    >>> task_name("CartPole-v1,hide=velocities"), task_name("recall")
    ('CartPole without velocities', 'recall')
    """
    base, _, hidden = task.partition(",hide=")
    name = TASKS[base].label if base in TASKS else fig.literal(base)
    return f"{name} without {fig.literal(hidden)}" if hidden else name


def runs_each(records: Records) -> str:
    """Return in words how many runs each condition has, leaving out those without any."""
    return span((len(runs) for runs in records.values() if runs), "run")


def averaged(records: Records, width: int) -> str:
    """Return in words the runs and episodes that lines are means over."""
    return f"{runs_each(records)} of a moving mean over {quantity(width, 'episode')}"


def n_episodes(records: Records) -> int:
    """Return the episodes of the longest run, 1 without any."""
    return max((run.episodes.n for runs in records.values() for run in runs), default=1)


def smoothing(records: Records, part: int = fig.SMOOTHED) -> int:
    """Return the episodes that a moving mean spans: one part in so many of the longest run."""
    return max(n_episodes(records) // part, 1)


def returns(record: Record) -> ArrayLike:
    """Return the return of each episode, NaN for a candidate that was too small to play."""
    return np.where(record.episodes.steps > 0, record.episodes.returns, np.nan)


def size_curve(runs: Sequence[Record], **smoothed: Any) -> fig.Curve:
    """Return the curve of the nodes at the end of each episode."""
    return fig.Curve.of([run.episodes.n_nodes for run in runs], **smoothed)


def possible(record: Record, metric: Literal["late_return", "n_nodes"]) -> tuple[float, float]:
    """Return the least and the largest value of a metric that its task allows."""
    task = record.plan.task
    sizes = task.n_inputs + task.n_outputs, np.inf
    return task.return_bounds if metric == "late_return" else sizes


def mean_and_bar(values: Sequence[float], bounds: tuple[float, float]) -> tuple[float, Floats]:
    """Return a mean, and how far a deviation reaches below and above it within bounds (2, 1).

    >>> mean, bar = mean_and_bar([440.0, 500.0, 500.0, 500.0], (1.0, 500.0))
    >>> mean, bar.round(1).tolist()
    (485.0, [[26.0], [15.0]])
    """
    mean, std = np.mean(values), np.std(values)
    low, high = np.clip([mean - std, mean + std], *bounds)
    return float(mean), np.maximum([[mean - low], [high - mean]], 0)


def task_grid(body: SubFigure, quantities: Sequence[str]) -> Any:
    """Return axes: a row for each quantity and a column for each control task."""
    axes = body.subplots(len(quantities), len(CONTROL_TASKS), sharex=True, squeeze=False)
    for number, ax in enumerate(axes.flat):
        fig.name_panel(ax, number, TASKS[CONTROL_TASKS[number % len(CONTROL_TASKS)]].label)
    for ax, label in zip(axes[:, 0], quantities, strict=True):
        ax.set_ylabel(label)
    for ax in axes[-1]:
        ax.set_xlabel("episode")
    return axes


def fill_row(
    axes: Sequence[Axes],
    records: Records,
    variants: Iterable[str],
    quantity_of: Callable[[Record], ArrayLike],
    **smoothed: Any,
) -> None:
    """Draw a quantity of every variant, a panel for each control task."""
    for ax, task in zip(axes, CONTROL_TASKS, strict=True):
        for variant in variants:
            if runs := records.get(f"{task}/{variant}", ()):
                curve = fig.Curve.of([quantity_of(run) for run in runs], **smoothed)
                curve.plot(ax, CONDITIONS[variant])
        if not ax.lines:
            fig.say_empty(ax)
    fig.limit_ticks(axes)


def mark_thresholds(axes: Sequence[Axes], records: Records) -> None:
    """Draw a dashed line where each control task counts as solved."""
    tasks = {run.plan.task for runs in records.values() for run in runs}
    for ax, id in zip(axes, CONTROL_TASKS, strict=True):
        for threshold in {it.reward_threshold for it in tasks if it.id == id} - {None}:
            ax.axhline(float(threshold or 0), **fig.THRESHOLD)


def keys(variants: Iterable[str], *, has_threshold: bool = False) -> list[Line2D]:
    """Return the entries of variants, and of their thresholds, for a legend."""
    found = [CONDITIONS[variant].key() for variant in variants]
    return found + [Line2D([], [], label="threshold", **fig.THRESHOLD)] * has_threshold
