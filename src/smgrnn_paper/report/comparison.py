"""Comparison: any runs side by side; those that differ in nothing but their seed are one group."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from smgrnn.runs.metrics import held_out_likeness
from smgrnn.runs.record import Record
from smgrnn.text import MISSING, duration, number
from smgrnn_paper.report.paper import Column
from smgrnn_paper.report.settings import Stated, alike, stated_settings
from smgrnn_paper.report.statistics import Estimate, mean_estimate
from smgrnn_paper.report.tables import Entry, Line, ReportTable, bounds, estimate_text

COLUMNS = (
    Column("runs", "Runs"),
    Column("held_out_mean", "Held-out return"),
    Column("late_return", "Late return"),
    Column("n_parameters", "Parameters"),
    Column("agreement", "Agreement"),
    Column("seconds", "Time"),
)
NOTE = (
    "Runs that differ in nothing but their seed are one line. Held-out return: the mean of what is "
    "handed over [Student’s 95 % interval, over runs; of a single run, over its episodes]. Late "
    "return: the mean over the final quarter of the episodes{}. Parameters: the median of what is "
    "handed over. Agreement: with the teacher, late in training. Time: of the training of one run."
)
EVOLVED = "; of an evolution, over the best of each of the final quarter of its generations"
"""Addition to the note where an evolution is among the runs."""
TOLD = ("task", "student")
"""Settings that have a place of their own beside those that differ."""


@dataclass(frozen=True)
class Compared:
    """Runs that differ in nothing but their seed."""

    name: str
    records: tuple[Record, ...]

    @property
    def task(self) -> str:
        """The id of their task."""
        return self.records[0].plan.task.id

    @property
    def student(self) -> str:
        """The kind of student that they train."""
        return self.records[0].plan.student

    @property
    def settings(self) -> Stated:
        """The settings that they were trained with."""
        return stated_settings(self.records[0].plan)

    @property
    def held_out(self) -> Estimate | None:
        """The mean held-out return with its interval; None if no run is finished."""
        returns = [record.held_out for record in self.records if record.held_out.size]
        if not returns:
            return None
        sample = returns[0] if len(returns) == 1 else [float(each.mean()) for each in returns]
        return mean_estimate(sample)

    @property
    def n_parameters(self) -> float:
        """The median of the parameters of what is handed over."""
        return float(np.median([record.handed_over.n_parameters for record in self.records]))

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over the runs that have it."""
        values = [each.summary()[metric] for each in self.records if each.episodes.n]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None


def group_named(records: Mapping[str, Record]) -> list[Compared]:
    """Return runs, which are given by name, in groups, by task and in the order of their names."""
    groups = [Compared(_common_name(list(runs)), tuple(runs.values())) for runs in alike(records)]
    tasks = [each.task for each in groups]
    return sorted(groups, key=lambda each: tasks.index(each.task))


def _common_name(names: Sequence[str]) -> str:
    """Return the name of a group: what the names of its runs begin with.

    >>> _common_name(["runs/a-0", "runs/a-1"]), _common_name(["runs/b"]), _common_name(["x", "y"])
    ('runs/a', 'runs/b', 'x, y')
    """
    if len(names) == 1:
        return names[0]
    letters = takewhile(lambda each: len(set(each)) == 1, zip(*names, strict=False))
    common = "".join(each[0] for each in letters).rstrip("0123456789").rstrip("-_./ ")
    return common or ", ".join(names)


def differing_settings(groups: Sequence[Compared]) -> dict[str, dict[str, str]]:
    """Return the settings in which groups differ: the value of each by the group's name.

    Those that not every group has come last.
    """
    stated = {each.name: each.settings for each in groups}
    names = dict.fromkeys(name for each in stated.values() for name in each)
    found = {
        name: {group: each.get(name, MISSING) for group, each in stated.items()} for name in names
    }
    differing = {
        name: values
        for name, values in found.items()
        if name not in TOLD and len(set(values.values())) > 1
    }
    return dict(sorted(differing.items(), key=lambda item: MISSING in item[1].values()))


def comparison_table(groups: Sequence[Compared]) -> ReportTable:
    """Return a line for each group."""
    has_evolved = any(group.records[0].is_evolved for group in groups)
    return ReportTable(
        id="comparison",
        title="Runs side by side",
        headings=("Task", "Run", "Student"),
        columns=COLUMNS,
        lines=tuple(_line(each) for each in groups),
        note=NOTE.format(EVOLVED if has_evolved else ""),
    )


def _line(group: Compared) -> Line:
    late, agreement, seconds = map(group.mean, ("late_return", "agreement", "seconds"))
    decimals = 1 if group.records[0].plan.task.recording is None else 4
    texts = (
        str(len(group.records)),
        MISSING if group.held_out is None else _return_text(group.held_out, decimals),
        MISSING if late is None else number(late, decimals),
        f"{group.n_parameters:g}",
        MISSING if agreement is None else f"{100 * agreement:.1f} %",
        MISSING if seconds is None else f"{seconds:.1f} s" if seconds < 60 else duration(seconds),
    )
    labels = (group.task, group.name, group.student)
    return Line(labels, tuple(map(Entry, COLUMNS, texts)))


def _return_text(found: Estimate, decimals: int) -> str:
    low, high = found.interval
    is_point = math.isclose(low, high)  # all were the same
    return number(found.value, decimals) if is_point else estimate_text(found, decimals)


def settings_table(groups: Sequence[Compared]) -> ReportTable:
    """Return a line for each setting in which groups differ, and a column for each group."""
    columns = tuple(Column(each.name, each.name) for each in groups)
    return ReportTable(
        id="settings",
        title="Settings that differ",
        headings=("Setting",),
        columns=columns,
        lines=tuple(
            Line((name,), tuple(Entry(column, values[column.name]) for column in columns))
            for name, values in differing_settings(groups).items()
        ),
    )


def comparison_numbers(groups: Sequence[Compared]) -> dict[str, Any]:
    """Return every number as plain values."""
    return {
        "groups": [_numbers(each) for each in groups],
        "settings": differing_settings(groups),
    }


def _numbers(group: Compared) -> dict[str, Any]:
    held_out = group.held_out
    each = [float(it.held_out.mean()) if it.held_out.size else None for it in group.records]
    means = {name: group.mean(name) for name in ("late_return", "agreement", "seconds")}
    return {
        "name": group.name,
        "task": group.task,
        "student": group.student,
        "seeds": [record.plan.seed for record in group.records],
        "episodes": [record.episodes.n for record in group.records],
        "parameters": group.n_parameters,
        "held_out": None
        if held_out is None
        else {"mean": held_out.value, **bounds(held_out.interval), "each": each},
        "likeness": [held_out_likeness(it.plan.task, it.held_out) for it in group.records],
        **means,
    }
