"""Tables: each of the paper's, cell by cell, ours beside theirs.

Paper: Tables I to III and A.I to A.VI.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.batch import AnyCondition, Experiment
from smgrnn.pages.page import Cell, Column, DataTable, Row, Tone
from smgrnn.runs.plan import Plan
from smgrnn.text import MINUS, MISSING, number, plus_minus
from smgrnn_paper.experiments.paper import TASKS
from smgrnn_paper.report import statistics
from smgrnn_paper.report.paper import (
    METRICS,
    WORDS,
    PaperTable,
    Printed,
    parse_printed,
    scales,
)
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.statistics import UNKNOWN, Estimate, Interval, Likeness, Moments

STACKED = "A cell has our value, the paper’s and the difference."
NOTHING: Mapping[str, Printed] = {}
BESIDE = {
    "n_nodes": "late_nodes",
    "n_edges": "late_edges",
    "net_growth_nodes": "late_growth_nodes",
}
"""Metrics as the paper prints them, and the ones that claims rest on."""
SYMBOLS = {
    "window": "T",
    "interval_width": "λ",
    "fluctuation_threshold": "θ_var",
    "explore_probability": "p_rand",
}
"""The settings that the paper tunes, and its symbols for them."""
LIKENESS: dict[Likeness, Tone] = {"same": "good", "different": "bad", "undecided": "fair"}
"""The verdicts on a cell, and their colors."""


class Measured(NamedTuple):
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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values; infinite ones become None."""
        numbers = {"mean": self.mean, "std": self.std, "iqm": self.iqm.value}
        finite = {name: v if math.isfinite(v) else None for name, v in numbers.items()}
        return {"n": self.n, "infinite": self.n_infinite, **finite, **bounds(self.iqm.interval)}


@cache
def _iqm(values: tuple[float, ...]) -> Estimate:
    """Return the interquartile mean; infinite values, or equal ones, leave its interval unknown."""
    if not np.isfinite(values).all() or len(set(values)) == 1:
        return Estimate(float(statistics.iqm(np.array(values))), UNKNOWN)
    return statistics.estimate([values], statistics.iqm, np.random.default_rng(0))


def estimate_text(found: Estimate, decimals: int) -> str:
    """Return a statistic and, where it is known, its interval."""
    text, *ends = (number(value, decimals) for value in (found.value, *found.interval))
    return text if found.interval == UNKNOWN else f"{text} [{', '.join(ends)}]"


def bounds(interval: Interval) -> dict[str, float | None]:
    """Return the ends of an interval as plain values; those of an unknown one become None."""
    low, high = (None, None) if interval == UNKNOWN else interval
    return {"low": low, "high": high}


@dataclass(frozen=True)
class Entry(Cell):
    """A cell with statistics over runs, a probability or a setting, beside the paper's."""

    column: str = ""
    runs: str = ""
    """Key of the first of the runs that it is about."""

    @classmethod
    def of(
        cls,
        column: Column,
        ours: Measured | Estimate | str | None,
        printed: Printed | None = None,
        runs: str = "",
    ) -> "Entry":
        """Return a cell; `ours` is None if nothing has run."""
        decimals = METRICS[column.name].decimals if column.name in METRICS else 2
        if printed is not None and printed.mean is not None:
            decimals = len(printed.printed.split(" ")[0].partition(".")[2])
        text = MISSING if ours is None else str(ours)
        values: Any = ours
        about: dict[str, Any] = {"column": column.name, "runs": runs}
        if isinstance(ours, Measured):
            text, values = ours.text(decimals), ours.to_dict()
        elif isinstance(ours, Estimate):
            text, values = estimate_text(ours, 2), {"value": ours.value, **bounds(ours.interval)}
        if printed is None:
            return cls(text, values={"ours": values}, **about)
        difference, z, likeness, comparison = None, None, None, MISSING
        if isinstance(ours, str):
            is_same = ours == printed.printed or parse_printed(ours)[0] == printed.mean is not None
            about["tone"], comparison = ("good", "same") if is_same else ("bad", "differs")
        elif isinstance(ours, Measured) and printed.mean is not None:
            if not ours.n_infinite:
                difference = ours.mean - printed.mean
                comparison = number(difference, decimals, signed=True)
            if printed.std:
                likeness = _likeness(ours, printed)
                about["tone"] = LIKENESS[likeness]
                comparison += f" ({likeness})"
                z = None if difference is None else difference / printed.std
        theirs = {"mean": printed.mean, "std": printed.std, "printed": printed.printed}
        numbers = {"ours": values, "paper": theirs, "difference": difference, "z": z}
        numbers |= {"likeness": likeness} if likeness else {}
        return cls(text, (printed_text(printed.printed), comparison), values=numbers, **about)


def printed_text(printed: str) -> str:
    """Return a number of the paper's text with the same signs as ours.

    >>> print(printed_text("-94.0 ± 1.9"), printed_text("16707 ± 4846"), printed_text("1e-4"))
    −94.0 ± 1.9 16\N{NARROW NO-BREAK SPACE}707 ± 4846 1e−4
    """
    text = re.sub(r"\b(\d{2,3})(\d{3})\b(?!\.)", "\\1\u202f\\2", printed)
    return re.sub(r"-(?=\d)", MINUS, text)


def condition_text(name: str) -> str:
    """Return the name of a condition with the paper's symbols, and room to break it.

    >>> condition_text("CartPole-v1/window=50"), condition_text("window=50,interval_width=0.5")
    ('CartPole-v1/T=50', 'T=50, λ=0.5')
    """
    for setting, symbol in SYMBOLS.items():
        name = name.replace(f"{setting}=", f"{symbol}=")
    return name.replace(",", ", ")


def _likeness(ours: Measured, printed: Printed) -> Likeness:
    """Return whether a cell is the same as the paper's, by equivalence.

    Returns are the same within 5 % of the way from random to expert, all else (sizes, episodes,
    ratios) within 25 % of the printed number.  A run that never got there makes a mean infinite.
    """
    assert printed.mean is not None
    assert printed.std is not None
    if ours.n_infinite:
        return "different"
    is_return = printed.metric.endswith("return")
    margin = 0.05 * scales()[printed.task] if is_return else 0.25 * abs(printed.mean)
    theirs = Moments(printed.mean, printed.std, printed.runs)
    return statistics.compare_means(Moments(ours.mean, ours.std, ours.n), theirs, margin)


def _judged(tables: Iterable[DataTable]) -> list[Entry]:
    """Return the cells with a printed deviation; a number in several tables counts once."""
    cells = {
        (cell.runs, cell.column, cell.values["paper"]["printed"]): cell
        for table in tables
        for row in table.rows
        for cell in row.cells
        if isinstance(cell, Entry) and "likeness" in (cell.values or {})
    }
    return list(cells.values())


def count_distances(tables: Iterable[DataTable]) -> dict[str, int]:
    """Return how many cells are within one, within two and beyond two printed deviations.

    A cell on the bound is within it, whatever rounding does to its last bit.
    """
    zs = (it.values["z"] for it in _judged(tables))
    far = [math.inf if z is None else abs(z) - 1e-9 for z in zs]
    near, within = sum(z <= 1 for z in far), sum(z <= 2 for z in far)
    return {"near": near, "apart": within - near, "far": len(far) - within}


def count_likeness(tables: Iterable[DataTable]) -> dict[Likeness, int]:
    """Return how many cells are the same as the paper's, different or undecided."""
    counts = Counter(it.values["likeness"] for it in _judged(tables))
    return {likeness: counts[likeness] for likeness in LIKENESS}


def report_table(
    id: str,
    title: str,
    headings: Sequence[str],
    columns: tuple[Column, ...],
    rows: Iterable[tuple[Sequence[str], Sequence[Entry]]],
    **words: Any,
) -> DataTable:
    """Return a table of entries; a note says what is stacked in a cell."""
    found = tuple(Row(tuple(labels), tuple(cells)) for labels, cells in rows)
    note = words.get("note", "")
    if any(cell.below for row in found for cell in row.cells):
        note = f"{STACKED} {note}".rstrip()
    return DataTable(
        id=id,
        title=title,
        headings=tuple(headings),
        columns=columns,
        rows=found,
        **words | {"note": note},
    )


def entries(
    runs: Runs, columns: Iterable[Column], printed: Mapping[str, Printed] = NOTHING
) -> list[Entry]:
    """Return the cells of a condition, beside what the paper printed in some of the columns."""
    key = runs.condition.key(runs.seeds[0]) if runs.seeds else ""
    return [
        Entry.of(it, Measured.of(runs.values(it.name)), printed.get(it.name), key) for it in columns
    ]


def compare(table: PaperTable, experiment: Experiment, results: Results) -> DataTable:
    """Return a table of the paper with our values beside it, from the experiment that fills it."""
    columns, notes = table.columns, ""
    rows: list[tuple[tuple[str, ...], list[Entry]]] = []
    if all(column.name in METRICS for column in columns):
        headings: tuple[str, ...] = ("Task", "Condition")
        for row in table.rows:
            printed = {it.name: table.cell(row.name, it.name) for it in table.columns}
            labels = str(row.task), str(row.condition)
            rows.append((labels, entries(results.find(*labels).table, columns, printed)))
        never = any((it.values["ours"] or {}).get("infinite") for _, cells in rows for it in cells)
        shown = [*(column.name for column in columns), *(["never"] if never else [])]
        notes = " ".join(text for name, text in WORDS["notes"].items() if name in shown)
    else:
        headings = ("Task" if table.rows[0].task else "Setting",)
        main = [results.find(task, "smgrnn").condition for task in TASKS]
        for row in table.rows:
            own = [it for it in experiment.conditions.values() if it.task == row.task]
            cells = []
            for it in columns:
                name = row.name if it.name == "value" else it.name
                values = dict.fromkeys(_setting(each, name) for each in own or main)
                cells.append(Entry.of(it, " / ".join(values), table.cell(row.name, it.name)))
            rows.append(((row.name,), cells))
    words = {"where": table.where, "note": notes}
    return report_table(table.id, table.title, headings, columns, rows, **words)


def _setting(condition: AnyCondition, name: str) -> str:
    """Return a setting as it ran."""
    plan = condition.plan(0)
    assert isinstance(plan, Plan)
    if name == "growth":
        return "Disabled" if plan.plasticity.growth is None else "Enabled"
    if name == "episodes":
        return f"{plan.n_episodes:g}"
    rules = plan.plasticity
    parts: tuple[Any, ...] = (plan.network, rules, rules.growth, rules.pruning)
    return f"{next(getattr(part, name) for part in parts if hasattr(part, name)):g}"


def effects_of_settings(results: Results) -> DataTable:
    """Return for each setting of the grid how often it changes anything, over pairs of points.

    The points of a pair differ in that setting alone, and are compared seed by seed.
    """
    grid, found = results.every["hyperparameter-grid"], {}
    for name in grid.conditions:
        runs = results.runs(grid, name)
        values = (runs.values(it) for it in ("late_return", "n_nodes", "n_edges"))
        if runs.records:
            returns, *sizes = (tuple(it.tolist()) for it in values)
            found[tuple(name.split(","))] = returns, tuple(sizes)
    columns = tuple(Column(it, it) for it in ("Levels", "Pairs", "Return differs", "Size differs"))
    rows = []
    for place, symbol in enumerate(SYMBOLS.values()):
        pairs = [
            (found[one], found[other])
            for one, other in combinations(found, 2)
            if [i for i in range(len(one)) if one[i] != other[i]] == [place]
        ]
        differ = [sum(one[k] != other[k] for one, other in pairs) for k in (0, 1)]
        numbers = (len({point[place] for point in found}), len(pairs), *differ)
        rows.append(((symbol,), list(map(Entry.of, columns, map(str, numbers)))))
    note = f"{len(set(found.values()))} different results at {len(found)} points of the grid."
    title = "Where a setting changes anything"
    return report_table("effects", title, ("Setting",), columns, rows, note=note)
