"""Figures on questions beyond the paper: which edit, which credit, which rule."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from smgrnn.runs.record import Record
from smgrnn_paper.experiments.beyond import EQUAL_SIZE, ITERATIONS, RULES, WINDOWS
from smgrnn_paper.report.beyond_tables import gru_returns
from smgrnn_paper.report.figures import style
from smgrnn_paper.report.statistics import Estimate
from smgrnn_paper.report.tables import Measured
from smgrnn_paper.report.topology import measure

INTERVAL = "Points: interquartile mean of the late return; bars: its 95 % bootstrap interval."
WHOLE, HOLLOW = "full", "none"
DEPTHS = ("#0072b2", "#e69f00", "#7a1f5c")
"""Colours of one, two and three iterations."""


class Mark(NamedTuple):
    """The look of a series of points."""

    label: str
    colour: str
    fill: Any = WHOLE
    shift: float = 0.0
    """How far beside the places of the axis its points are."""

    @property
    def key(self) -> Line2D:
        """The entry of a legend."""
        return Line2D([], [], linestyle="", **self.style)

    @property
    def style(self) -> dict[str, Any]:
        """The settings of its points."""
        return {
            "color": self.colour,
            "marker": "o",
            "markersize": 4,
            "fillstyle": self.fill,
            "label": self.label,
        }


@style.styled
def draw_growth_operators(records: style.Records) -> Figure:
    """Draw a row for each task and a column for one and two iterations; a line for each rule."""
    marks = {
        "own": Mark("at its own size", style.CONDITIONS["smgrnn"].colour, WHOLE, -0.16),
        "equal": Mark(
            f"at most {EQUAL_SIZE} edges", style.CONDITIONS["static"].colour, HOLLOW, 0.16
        ),
    }
    tasks, names = _tasks(records), _operators(records)
    figure, body = style.new_figure(0.9 + (0.5 + 0.17 * len(names)) * len(tasks))
    axes = body.subplots(len(tasks), 2, sharex="row", sharey=True, squeeze=False)
    for row, task in enumerate(tasks):
        for column, ax in enumerate(axes[row]):
            for size, mark in marks.items():
                runs = [records.get(f"{task}/{each}-k{column + 1}-{size}", ()) for each in names]
                _draw_across(ax, runs, mark)
            if not ax.lines:
                style.say_empty(ax)
            text = f"{style.task_name(task)}, K = {column + 1}"
            style.name_panel(ax, 2 * row + column, text)
            ax.set_yticks(range(len(names)), names)
            ax.set_ylim(len(names) - 0.4, -0.6)
            ax.set_xlabel("late return")
    style.limit_ticks(axes.ravel())
    for ax in axes.ravel():
        ax.set_yticks(range(len(names)), names)
    style.add_legend(body, [mark.key for mark in marks.values()])
    style.add_note(figure, INTERVAL, f"{style.runs_each(records)} each.".capitalize())
    return figure


@style.styled
def draw_credit_assignment(records: style.Records) -> Figure:
    """Draw a panel for each task: late return by the calls that gradients flow back through."""
    tasks, places = _tasks(records), range(len(WINDOWS))
    figure, body = style.new_figure(3.1)
    axes = body.subplots(1, len(tasks), squeeze=False)[0]
    marks = [
        Mark(f"K = {k}", colour, WHOLE, 0.08 * (k - 2))
        for k, colour in zip(ITERATIONS, DEPTHS, strict=True)
    ]
    for number, (ax, task) in enumerate(zip(axes, tasks, strict=True)):
        for k, mark in zip(ITERATIONS, marks, strict=True):
            runs = [records.get(f"{task}/k{k}-n{n}", ()) for n in WINDOWS]
            _draw_along(ax, runs, mark)
        _draw_level(ax, [measure(run, "late_return") for run in records.get(f"{task}/mlp", ())])
        _draw_level(ax, gru_returns().get(task, ()), linestyle=":")
        ax.set_xticks(places, [str(n) for n in WINDOWS])
        ax.set_xlabel("earlier calls (n)")
        style.name_panel(ax, number, style.task_name(task).replace(" without", "\nwithout"))
    axes[0].set_ylabel("late return")
    levels = [_level_key("MLP", "--"), _level_key("GRU, 500 episodes", ":")]
    style.add_legend(body, [*(mark.key for mark in marks), *levels])
    style.add_note(figure, INTERVAL, f"{style.runs_each(records)} each.".capitalize())
    return figure


@style.styled
def draw_local_learning(records: style.Records) -> Figure:
    """Draw a panel for each task: late return by rule, growing and not, with K = 1 and 2."""
    tasks = _tasks(records)
    figure, body = style.new_figure(4.6)
    axes = body.subplots(2, -(-len(tasks) // 2), sharex=True, squeeze=False).ravel()
    growing, static = (style.CONDITIONS[name] for name in ("smgrnn", "static"))
    marks = {
        "k1-growing": Mark("growing, K = 1", growing.colour, HOLLOW, -0.24),
        "k2-growing": Mark("growing, K = 2", growing.colour, WHOLE, -0.08),
        "k1-static": Mark("static, K = 1", static.colour, HOLLOW, 0.08),
        "k2-static": Mark("static, K = 2", static.colour, WHOLE, 0.24),
    }
    for number, (ax, task) in enumerate(zip(axes, tasks, strict=False)):
        for name, mark in marks.items():
            runs = [records.get(f"{task}/{rule}-{name}", ()) for rule in RULES]
            _draw_along(ax, runs, mark, linestyle="")
        ax.set_xticks(range(len(RULES)), RULES)
        style.name_panel(ax, number, style.task_name(task))
    for ax in axes[len(tasks) :]:
        ax.set_axis_off()
    for ax in axes[:: -(-len(tasks) // 2)]:
        ax.set_ylabel("late return")
    style.add_legend(body, [mark.key for mark in marks.values()])
    style.add_note(
        figure,
        INTERVAL,
        f"{style.runs_each(records)} each.".capitalize(),
        "Under “outputs” the edges into hidden nodes are frozen.",
    )
    return figure


def _tasks(records: style.Records) -> list[str]:
    return list(dict.fromkeys(name.rpartition("/")[0] for name in records))


def _operators(records: style.Records) -> list[str]:
    """Return the rules that are compared, by the names of conditions without K and size."""
    names = (name.rpartition("/")[2].rsplit("-", 2)[0] for name in records)
    return list(dict.fromkeys(names))


def _estimates(runs: Iterable[Sequence[Record]]) -> list[Estimate | None]:
    """Return the interquartile mean of each group's late returns; None of a group without runs."""
    values = (np.array([measure(run, "late_return") for run in group]) for group in runs)
    measured = (Measured.of(each) for each in values)
    return [None if each is None else each.iqm for each in measured]


def _bars(found: list[tuple[int, Estimate]]) -> Any:
    """Return the lengths of the bars to either side of estimates; 0 where all runs are equal."""
    sides = np.array([(e.value - e.interval.low, e.interval.high - e.value) for _, e in found]).T
    return np.where(np.isfinite(sides), np.maximum(sides, 0.0), 0.0)


def _draw_across(ax: Axes, runs: Iterable[Sequence[Record]], mark: Mark) -> None:
    """Draw estimates with bars along x, one below the other."""
    found = [(place, each) for place, each in enumerate(_estimates(runs)) if each is not None]
    if found:
        values, places = [each.value for _, each in found], [p + mark.shift for p, _ in found]
        ax.errorbar(values, places, xerr=_bars(found), linestyle="", elinewidth=1, **mark.style)


def _draw_along(
    ax: Axes, runs: Iterable[Sequence[Record]], mark: Mark, linestyle: str = "-"
) -> None:
    """Draw estimates with bars along y, one beside the other, and a line through them."""
    found = [(place, each) for place, each in enumerate(_estimates(runs)) if each is not None]
    if found:
        values, places = [each.value for _, each in found], [p + mark.shift for p, _ in found]
        ax.errorbar(
            *(places, values),
            yerr=_bars(found),
            linestyle=linestyle,
            linewidth=0.8,
            elinewidth=1,
            **mark.style,
        )


def _draw_level(ax: Axes, values: Sequence[float], linestyle: str = "--") -> None:
    """Draw the interquartile mean of some returns as a horizontal line."""
    measured = Measured.of(np.array(values, dtype=np.float64))
    if measured is not None:
        ax.axhline(measured.iqm.value, color=style.GREY, linestyle=linestyle, linewidth=0.9)


def _level_key(label: str, linestyle: Literal["--", ":"]) -> Line2D:
    return Line2D([], [], color=style.GREY, linestyle=linestyle, linewidth=0.9, label=label)
