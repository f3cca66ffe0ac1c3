"""Tables: each of the paper's, cell by cell, ours beside theirs.

Paper: Tables I to III and A.I to A.VI.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.batch import AnyCondition, Experiment
from smgrnn.runs.plan import Plan
from smgrnn.text import MISSING, number, plus_minus
from smgrnn_paper.experiments.paper import TASKS
from smgrnn_paper.report import statistics, wording
from smgrnn_paper.report.paper import Cell, Column, PaperTable, Row, parse_printed
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.statistics import UNKNOWN, Estimate, Interval

Distance = Literal["", "near", "apart", "far"]
"""Distance of ours from the paper's: within one of its standard deviations, within two, beyond."""


@dataclass(frozen=True)
class Measured:
    """A metric over the runs of a condition."""

    n: int
    """Number of runs."""
    n_infinite: int
    """Runs whose value is infinite, which stands for never; mean and deviation leave them out."""
    mean: float
    std: float
    iqm: Estimate
    """The interquartile mean over all runs, and its bootstrap interval, where runs differ."""

    @classmethod
    def of(cls, values: Floats) -> "Measured | None":
        """Return the statistics of some runs, or None if there are none."""
        if values.size == 0:
            return None
        there = values[np.isfinite(values)]
        mean, std = statistics.mean_std(there) if there.size else (math.inf, math.inf)
        return cls(values.size, values.size - there.size, mean, std, _iqm(tuple(values.tolist())))

    def text(self, decimals: int) -> str:
        """Return mean and deviation as the paper prints them, and how many runs they leave out."""
        if self.n_infinite == self.n:
            return "∞"
        left_out = f" ({self.n - self.n_infinite} of {self.n})" if self.n_infinite else ""
        return plus_minus(self.mean, self.std, decimals) + left_out

    def iqm_text(self, decimals: int) -> str:
        """Return the interquartile mean and its interval, or that there is but one number."""
        is_constant = self.n > 1 and not self.n_infinite and self.std == 0
        return estimate_text(self.iqm, decimals) + (" (all equal)" if is_constant else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values; infinite ones become None."""
        numbers = {"mean": self.mean, "std": self.std, "iqm": self.iqm.value}
        finite = {name: v if math.isfinite(v) else None for name, v in numbers.items()}
        return {"n": self.n, "infinite": self.n_infinite, **finite, **bounds(self.iqm.interval)}


@dataclass(frozen=True)
class Entry:
    """One cell: our value, and the paper's if it printed one."""

    column: Column
    ours: Measured | Estimate | str | None
    """Statistics over runs, a probability, or a setting; None if nothing has run."""
    printed: Cell | None = None
    runs: str = ""
    """Key of the first of the runs that it is about."""

    @property
    def decimals(self) -> int:
        """Number of decimals to print: as in the paper, where the paper prints it."""
        if self.printed is not None and self.printed.mean is not None:
            return wording.printed_decimals(self.printed.printed)
        return wording.METRICS[self.column.name].decimals

    @property
    def text(self) -> str:
        """Our value as it is shown."""
        if isinstance(self.ours, Measured):
            return self.ours.text(self.decimals)
        if isinstance(self.ours, Estimate):
            return estimate_text(self.ours, 2)
        return MISSING if self.ours is None else self.ours

    @property
    def paper(self) -> str:
        """The paper's value as it is shown."""
        return "" if self.printed is None else wording.printed_text(self.printed.printed)

    @property
    def iqm(self) -> str:
        """The interquartile mean with its interval as it is shown."""
        if not isinstance(self.ours, Measured):
            return MISSING
        return self.ours.iqm_text(self.decimals)

    @property
    def difference(self) -> float | None:
        """Our mean less the paper's; None if a run is left out of ours."""
        ours, printed = self.ours, self.printed
        if not isinstance(ours, Measured) or ours.n_infinite or printed is None:
            return None
        return None if printed.mean is None else ours.mean - printed.mean

    @property
    def z(self) -> float | None:
        """The difference in standard deviations of the paper, where it prints one above 0."""
        if self.difference is None or self.printed is None or not self.printed.std:
            return None
        return self.difference / self.printed.std

    @property
    def distance(self) -> Distance:
        """Distance of ours from the paper's; equal settings are "near", others "far"."""
        if isinstance(self.ours, str) and self.printed is not None:
            return "near" if _is_same(self.ours, self.printed) else "far"
        if self.z is None:
            return ""
        return "near" if abs(self.z) <= 1 else "apart" if abs(self.z) <= 2 else "far"

    @property
    def comparison(self) -> str:
        """The difference and z as they are shown; for settings, whether they are the same."""
        if isinstance(self.ours, str) and self.printed is not None:
            return "same" if self.distance == "near" else "differs"
        if self.difference is None:
            return MISSING
        z = "" if self.z is None else f" (z {number(self.z, 1, signed=True)})"
        return number(self.difference, self.decimals, signed=True) + z

    @property
    def sort_by(self) -> float | str:
        """The value by which a column is sorted; missing ones come last."""
        if isinstance(self.ours, Measured):
            return self.ours.mean
        if isinstance(self.ours, Estimate):
            return self.ours.value
        return math.inf if self.ours is None else self.ours

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        ours: Any = self.ours
        if isinstance(ours, Measured):
            ours = ours.to_dict()
        elif isinstance(ours, Estimate):
            ours = {"value": ours.value, **bounds(ours.interval)}
        found = {"ours": ours}
        if self.printed is not None:
            cell = self.printed
            found["paper"] = {"mean": cell.mean, "std": cell.std, "printed": cell.printed}
            found |= {"difference": self.difference, "z": self.z}
        return found


def count_distances(entries: Iterable[Entry]) -> dict[str, int]:
    """Return how many cells with a printed deviation are near, apart and far.

    A number that the paper prints in several tables counts once.  Two numbers for one condition, as
    Tables A.I and A.II have for Adam at 0.01, are two: the paper ran it twice.
    """
    cells = {
        (entry.runs, entry.printed.column, entry.printed.printed): entry.distance
        for entry in entries
        if entry.z is not None and entry.printed is not None
    }
    counts = Counter(cells.values())
    return {distance: counts[distance] for distance in ("near", "apart", "far")}


@dataclass(frozen=True)
class Line:
    """One row of a table."""

    labels: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def has_paper(self) -> bool:
        """Whether the paper printed any of it."""
        return any(entry.printed is not None for entry in self.entries)


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """A table of the report."""

    id: str
    """The paper's number for it, or a name of our own."""
    title: str
    where: str = ""
    """Its place in the paper; empty if it is not one of the paper's."""
    headings: tuple[str, ...]
    """Headings of the labels."""
    columns: tuple[Column, ...]
    """Columns of the entries."""
    lines: tuple[Line, ...]
    note: str = ""

    @property
    def name(self) -> str:
        """Its name; tables of the paper go by their number."""
        return f"Table {self.id}" if self.where else self.title

    @property
    def entries(self) -> list[Entry]:
        """All cells, row by row."""
        return [entry for line in self.lines for entry in line.entries]

    @property
    def has_paper(self) -> bool:
        """Whether the paper printed any of it."""
        return any(line.has_paper for line in self.lines)

    @property
    def has_statistics(self) -> bool:
        """Whether some of its cells have more statistics than they show."""
        return any(isinstance(entry.ours, Measured) for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        rows = [
            {
                "labels": dict(zip(self.headings, line.labels, strict=True)),
                "cells": {entry.column.name: entry.to_dict() for entry in line.entries},
            }
            for line in self.lines
        ]
        return {"id": self.id, "title": self.title, "where": self.where, "rows": rows}


def compare(table: PaperTable, experiment: Experiment, results: Results) -> ReportTable:
    """Return a table of the paper with our values beside it, from the experiment that fills it."""
    measures = all(column.name in wording.METRICS for column in table.columns)
    columns = table.columns
    if measures:
        columns += tuple(_beside(column.name) for column in columns if column.name in BESIDE)
        lines = tuple(_measured_line(table, row, columns, results) for row in table.rows)
    else:
        lines = tuple(_settings_line(table, row, experiment, results) for row in table.rows)
    headings = ("Task", "Condition") if measures else ("Task" if table.rows[0].task else "Setting",)
    return ReportTable(
        id=table.id,
        title=table.title,
        where=table.where,
        headings=headings,
        columns=columns,
        lines=lines,
        note=_note(columns, lines),
    )


def measured_entries(runs: Runs, columns: Iterable[Column]) -> tuple[Entry, ...]:
    """Return our cells of a condition over the given runs, without numbers of the paper."""
    key = runs.condition.key(runs.seeds[0]) if runs.seeds else ""
    return tuple(
        Entry(column, Measured.of(runs.values(column.name)), runs=key) for column in columns
    )


BESIDE = {
    "convergence_episode": "sustained_episode",
    "n_nodes": "late_nodes",
    "n_edges": "late_edges",
    "net_growth_nodes": "late_growth_nodes",
}
"""Metrics as the paper prints them, and the one that claims rest on, which is shown beside it."""


def _beside(name: str) -> Column:
    return Column(BESIDE[name], wording.METRICS[BESIDE[name]].word.capitalize())


def _measured_line(
    table: PaperTable, row: Row, columns: Iterable[Column], results: Results
) -> Line:
    task, condition = str(row.task), str(row.condition)
    runs = results.find(task, condition).table
    entries = (
        replace(entry, printed=table.cell(row.name, entry.column.name))
        if entry.column in table.columns
        else entry
        for entry in measured_entries(runs, columns)
    )
    return Line((task, condition), tuple(entries))


def _settings_line(table: PaperTable, row: Row, experiment: Experiment, results: Results) -> Line:
    """Return settings as they ran: in conditions on the row's task, or in the main experiments."""
    if row.task is None:
        conditions = [results.find(task, "smgrnn").condition for task in TASKS]
    else:
        conditions = [each for each in experiment.conditions.values() if each.task == row.task]
    entries = []
    for column in table.columns:
        name = row.name if column.name == "value" else column.name
        # Each value once, in the order of the conditions.
        values = dict.fromkeys(_setting(condition, name) for condition in conditions)
        entries.append(Entry(column, " / ".join(values), table.cell(row.name, column.name)))
    return Line((row.name,), tuple(entries))


def _setting(condition: AnyCondition, name: str) -> str:
    """Return a setting as it ran."""
    plan = condition.plan(0)
    assert isinstance(plan, Plan)
    if name == "growth":
        return "Disabled" if plan.plasticity.growth == "none" else "Enabled"
    if name == "episodes":
        return f"{plan.n_episodes:g}"
    part: Any = plan.network if hasattr(plan.network, name) else plan.plasticity
    return f"{getattr(part, name):g}"


def estimate_text(found: Estimate, decimals: int) -> str:
    """Return a statistic and, where it is known, its interval."""
    text, span = number(found.value, decimals), wording.between(*found.interval, decimals)
    return text if found.interval == UNKNOWN else f"{text} {span}"


def bounds(interval: Interval) -> dict[str, float | None]:
    """Return the ends of an interval as plain values; those of an unknown one become None."""
    low, high = (None, None) if interval == UNKNOWN else interval
    return {"low": low, "high": high}


def _is_same(ours: str, printed: Cell) -> bool:
    """Return whether a setting is the paper's, however either is written."""
    return ours == printed.printed or parse_printed(ours)[0] == printed.mean is not None


def _note(columns: Iterable[Column], lines: Iterable[Line]) -> str:
    """Return the remarks that a reader needs on the numbers of a table."""
    notes = []
    names = {column.name for column in columns}
    if "n_nodes" in names:
        notes.append("Nodes are all nodes, inputs and outputs included, as in the paper's numbers.")
    if names & {"late_nodes", "late_edges", "late_growth_nodes"}:
        notes.append(
            "Late sizes are means over the last whole pruning periods, final ones depend on where "
            "in a period a run ends."
        )
    if "sustained_episode" in names:
        notes.append(
            "Convergence is of a single episode, as the caption of Table II says; sustained "
            "convergence is of the mean over 100."
        )
    measured = [entry.ours for line in lines for entry in line.entries]
    if any(isinstance(ours, Measured) and ours.n_infinite for ours in measured):
        notes.append(
            "A count such as (8 of 10) says how many runs ever reached the threshold. Mean and "
            "deviation are over those, the interquartile mean is over all, with ∞ for never, and "
            "no difference is taken."
        )
    return " ".join(notes)


@cache
def _iqm(values: tuple[float, ...]) -> Estimate:
    """Return the interquartile mean; infinite values, or equal ones, leave its interval unknown.

    The same numbers have the same interval, whatever else is in the report.
    """
    if not np.isfinite(values).all() or len(set(values)) == 1:
        return Estimate(float(statistics.iqm(np.array(values))), UNKNOWN)
    return statistics.estimate([values], statistics.iqm, np.random.default_rng(0))
