"""Skills kept in a sequence of tasks, a panel for each; not one of the paper's figures."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from smgrnn.arrays import Floats
from smgrnn.runs.course import normalised
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn_paper.report.figures import style

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Of the tasks, in the order in which they are first learned."""


@style.styled
def draw_task_sequences(records: style.Records) -> Figure:
    """Draw the return on each task of a sequence, right after it was learned and in the end."""
    families: dict[str, dict[str, list[Record]]] = {}
    for name, runs in records.items():
        tasks, _, student = name.rpartition("/")
        if " > " in tasks:
            cue = ", cue" if student.endswith("-cue") else ""
            family = families.setdefault(f"{_short(tasks)}{cue}", {})
            family[student.removesuffix("-cue")] = list(runs)
    n_rows = -(-len(families) // 2)
    figure, body = style.new_figure(0.9 + 2.2 * n_rows)
    axes = body.subplots(n_rows, 2, squeeze=False, sharey=True).ravel()
    for place, (ax, (title, students)) in enumerate(zip(axes, families.items(), strict=False)):
        style.name_panel(ax, place, style.literal(title))
        _fill(ax, students)
    for ax in axes[len(families) :]:
        ax.set_visible(False)
    style.add_legend(body, _keys())
    style.add_note(
        figure,
        f"Means over {style.runs_each(records)}; bars span the quartiles in the end.",
        "0 is a random policy, 1 the teacher of the task.",
    )
    return figure


def _short(tasks: str) -> str:
    """Return the tasks of a sequence, of variants only the settings.

    >>> _short("CartPole-v1 > CartPole-v1,gravity=20")
    'CartPole > gravity=20'
    """
    base = tasks.partition(" > ")[0].partition(",")[0]
    return tasks.replace(f"{base},", "").replace(base, style.task_name(base))


def _fill(ax: Axes, students: dict[str, list[Record]]) -> None:
    if not any(students.values()):
        style.say_empty(ax)
        return
    for column, runs in enumerate(students.values()):
        for task, (learned, kept) in enumerate(zip(*_ends(runs), strict=True) if runs else ()):
            x, colour = column + 0.16 * (task - 0.5), COLOURS[task % len(COLOURS)]
            low, high = np.quantile(kept, (0.25, 0.75))
            ax.plot([x, x], [low, high], color=colour, linewidth=1)
            ax.plot(x, learned.mean(), "o", color=colour, markerfacecolor="white", markersize=5)
            ax.plot(x, kept.mean(), "o", color=colour, markersize=4)
    ax.set_xticks(range(len(students)), [style.literal(name) for name in students], rotation=20)
    ax.set_ylabel("return")


def _ends(runs: list[Record]) -> tuple[list[Floats], list[Floats]]:
    """Return the scores on each task right after it was first learned, and in the end (n_runs,)."""
    scores = np.array([normalised(record.course) for record in runs])
    plan = runs[0].plan
    assert isinstance(plan, Plan)
    stages = [stage.task.id for stage in plan.stages]
    first = [stages.index(task) + 1 for task in plan.episodes.course]
    learned = [scores[:, stage, task] for task, stage in enumerate(first)]
    return learned, [scores[:, -1, task] for task in range(len(first))]


def _keys() -> list[Line2D]:
    names = ("first task", "second", "third")
    tasks = [
        Line2D([], [], color=colour, marker="o", linestyle="", label=name)
        for name, colour in zip(names, COLOURS, strict=False)
    ]
    hollow: Any = {"marker": "o", "linestyle": "", "markerfacecolor": "white"}
    return [*tasks, Line2D([], [], color=style.GREY, label="right after it was learned", **hollow)]
