"""Figures on questions beyond the paper: which edit, which credit, which rule, several tasks."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from smgrnn.pages import figure as fig
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.stage_scores import normalised
from smgrnn_paper.experiments.beyond import EQUAL_SIZE, ITERATIONS, RULES, WINDOWS
from smgrnn_paper.report.figures.style import CONDITIONS, Records, runs_each, task_name
from smgrnn_paper.report.paper import read_data
from smgrnn_paper.report.tables import Measured
from smgrnn_paper.report.topology import measure

INTERVAL = "Points: interquartile mean of the late return; bars: its 95 % bootstrap interval."
GROWING, STATIC = CONDITIONS["smgrnn"].colour, CONDITIONS["static"].colour
DEPTHS = ("#0072b2", "#e69f00", "#7a1f5c")
"""Colours of one, two and three iterations."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Of the tasks of a sequence, in the order in which they are first learned."""


class Mark(NamedTuple):
    """The look of a series of points."""

    label: str
    colour: str
    fill: Any = "full"
    shift: float = 0.0
    """How far beside the places of the axis its points are."""

    @property
    def style(self) -> dict[str, Any]:
        """The settings of its points."""
        look = {"color": self.colour, "fillstyle": self.fill, "label": self.label}
        return {"marker": "o", "markersize": 4, **look}

    def draw(
        self, ax: Axes, groups: Sequence[Sequence[Record]], line: str = "", axis: str = "y"
    ) -> None:
        """Draw the interquartile mean of each group's late returns along an axis."""
        measured = (Measured.of(np.array(_late(runs))) for runs in groups)
        found = {place + self.shift: it.iqm for place, it in enumerate(measured) if it}
        if found:
            values = [it.value for it in found.values()]
            low, high = np.transpose([it.interval for it in found.values()])
            sides = np.array([values - low, high - values])
            bars = np.where(np.isfinite(sides), np.maximum(sides, 0.0), 0.0)  # 0: all are equal
            look: Any = {"linestyle": line, "elinewidth": 1, "linewidth": 0.8, **self.style}
            look |= {axis: values, f"{axis}err": bars}
            ax.errorbar(**{"x": list(found), "y": list(found), **look})


def gru_returns() -> dict[str, list[float]]:
    """Return the late returns of the GRU by task, one for each seed."""
    found: dict[str, list[float]] = read_data("gru.toml")["late_return"]
    return found


def _late(runs: Sequence[Record]) -> list[float]:
    return [measure(run, "late_return") for run in runs]


def _tasks(records: Records) -> list[str]:
    return list(dict.fromkeys(name.rpartition("/")[0] for name in records))


def _explain(
    figure: Figure, body: SubFigure, marks: Iterable[Mark], records: Records, *more: Line2D
) -> None:
    """Add the legend, and the note that these figures share."""
    keys = [Line2D([], [], linestyle="", **mark.style) for mark in marks]
    fig.add_legend(body, [*keys, *more])
    fig.add_note(figure, INTERVAL, f"{runs_each(records)} each.".capitalize())


@fig.styled
def draw_growth_operators(records: Records) -> Figure:
    """Draw a row for each task and a column for one and two iterations; a line for each rule."""
    marks = {
        "own": Mark("at its own size", GROWING, "full", -0.16),
        "equal": Mark(f"at most {EQUAL_SIZE} edges", STATIC, "none", 0.16),
    }
    tasks = _tasks(records)
    names = list(dict.fromkeys(it.rpartition("/")[2].rsplit("-", 2)[0] for it in records))
    figure, body = fig.new_figure(0.9 + (0.5 + 0.17 * len(names)) * len(tasks))
    axes = body.subplots(len(tasks), 2, sharex="row", sharey=True, squeeze=False)
    for row, task in enumerate(tasks):
        for column, ax in enumerate(axes[row]):
            for size, mark in marks.items():
                runs = [records.get(f"{task}/{it}-k{column + 1}-{size}", ()) for it in names]
                mark.draw(ax, runs, axis="x")
            if not ax.lines:
                fig.say_empty(ax)
            fig.name_panel(ax, 2 * row + column, f"{task_name(task)}, K = {column + 1}")
            ax.set_xlabel("late return")
    fig.limit_ticks(axes.ravel())
    for ax in axes.ravel():
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.4, -0.6)
    _explain(figure, body, marks.values(), records)
    return figure


@fig.styled
def draw_credit_assignment(records: Records) -> Figure:
    """Draw a panel for each task: late return by the calls that gradients flow back through."""
    tasks = _tasks(records)
    figure, body = fig.new_figure(3.1)
    axes = body.subplots(1, len(tasks), squeeze=False)[0]
    marks = [
        Mark(f"K = {k}", colour, "full", 0.08 * (k - 2))
        for k, colour in zip(ITERATIONS, DEPTHS, strict=True)
    ]
    level: Any = {"color": fig.GREY, "linewidth": 0.9}
    for number, (ax, task) in enumerate(zip(axes, tasks, strict=True)):
        for k, mark in zip(ITERATIONS, marks, strict=True):
            mark.draw(ax, [records.get(f"{task}/k{k}-n{n}", ()) for n in WINDOWS], line="-")
        mlp, gru = _late(records.get(f"{task}/mlp", ())), gru_returns().get(task, ())
        for values, line in ((mlp, "--"), (gru, ":")):
            if found := Measured.of(np.array(values, dtype=np.float64)):
                ax.axhline(found.iqm.value, linestyle=line, **level)
        ax.set_xticks(range(len(WINDOWS)), [str(n) for n in WINDOWS])
        ax.set_xlabel("earlier calls (n)")
        fig.name_panel(ax, number, task_name(task).replace(" without", "\nwithout"))
    axes[0].set_ylabel("late return")
    dashed = Line2D([], [], linestyle="--", label="MLP", **level)
    dotted = Line2D([], [], linestyle=":", label="GRU, 500 episodes", **level)
    _explain(figure, body, marks, records, dashed, dotted)
    return figure


@fig.styled
def draw_local_learning(records: Records) -> Figure:
    """Draw a panel for each task: late return by rule, growing and not, with K = 1 and 2."""
    tasks = _tasks(records)
    n_columns = -(-len(tasks) // 2)
    figure, body = fig.new_figure(4.6)
    axes = body.subplots(2, n_columns, sharex=True, squeeze=False).ravel()
    marks = {
        "k1-growing": Mark("growing, K = 1", GROWING, "none", -0.24),
        "k2-growing": Mark("growing, K = 2", GROWING, "full", -0.08),
        "k1-static": Mark("static, K = 1", STATIC, "none", 0.08),
        "k2-static": Mark("static, K = 2", STATIC, "full", 0.24),
    }
    for number, (ax, task) in enumerate(zip(axes, tasks, strict=False)):
        for name, mark in marks.items():
            mark.draw(ax, [records.get(f"{task}/{rule}-{name}", ()) for rule in RULES])
        ax.set_xticks(range(len(RULES)), RULES)
        fig.name_panel(ax, number, task_name(task))
    for ax in axes[len(tasks) :]:
        ax.set_axis_off()
    for ax in axes[::n_columns]:
        ax.set_ylabel("late return")
    _explain(figure, body, marks.values(), records)
    return figure


@fig.styled
def draw_task_sequences(records: Records) -> Figure:
    """Draw the return on each task of a sequence, right after it was learned and in the end."""
    families: dict[str, dict[str, Sequence[Record]]] = {}
    for name, runs in records.items():
        tasks, _, student = name.rpartition("/")
        if " > " in tasks:
            base = tasks.partition(" > ")[0].partition(",")[0]  # of variants only the settings
            short = tasks.replace(f"{base},", "").replace(base, task_name(base))
            cue = ", cue" if student.endswith("-cue") else ""
            families.setdefault(f"{short}{cue}", {})[student.removesuffix("-cue")] = runs
    n_rows = -(-len(families) // 2)
    figure, body = fig.new_figure(0.9 + 2.2 * n_rows)
    axes = body.subplots(n_rows, 2, squeeze=False, sharey=True).ravel()
    for place, (ax, (title, students)) in enumerate(zip(axes, families.items(), strict=False)):
        fig.name_panel(ax, place, fig.literal(title))
        _draw_sequence(ax, students)
        if not ax.lines:
            fig.say_empty(ax)
    for ax in axes[len(families) :]:
        ax.set_visible(False)
    dot: Any = {"marker": "o", "linestyle": ""}
    names = ("first task", "second", "third")
    keys = [Line2D([], [], color=COLOURS[i], label=name, **dot) for i, name in enumerate(names)]
    learned = Line2D([], [], color=fig.GREY, mfc="white", label="right after it was learned", **dot)
    fig.add_legend(body, [*keys, learned])
    fig.add_note(
        figure,
        f"Means over {runs_each(records)}; bars span the quartiles in the end.",
        "0 is a random policy, 1 the teacher of the task.",
    )
    return figure


def _draw_sequence(ax: Axes, students: dict[str, Sequence[Record]]) -> None:
    for column, runs in enumerate(students.values()):
        if not runs:
            continue
        scores = np.array([normalised(run.stage_scores) for run in runs])
        plan = runs[0].plan
        assert isinstance(plan, Plan)
        stages = [stage.task.id for stage in plan.stages]
        for task, name in enumerate(plan.task_sequence):
            learned, kept = scores[:, stages.index(name) + 1, task], scores[:, -1, task]
            x, colour = column + 0.16 * (task - 0.5), COLOURS[task % len(COLOURS)]
            ax.plot([x, x], np.quantile(kept, (0.25, 0.75)), color=colour, linewidth=1)
            ax.plot(x, learned.mean(), "o", color=colour, markerfacecolor="white", markersize=5)
            ax.plot(x, kept.mean(), "o", color=colour, markersize=4)
    ax.set_xticks(range(len(students)), [fig.literal(name) for name in students], rotation=20)
    ax.set_ylabel("return")
