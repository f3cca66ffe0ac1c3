"""The paper's printed content as data: tables, figures, results in its text, settings.

The data are in `paper.toml`; a number is there once, as the paper's own text.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from smgrnn.pages.page import Column

_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
_PRINTED = re.compile(rf"({_NUMBER})(?: ± ({_NUMBER}))?")


def parse_printed(printed: str) -> tuple[float | None, float | None]:
    """Return the mean and the standard deviation that a text states, None where it does not.

    >>> parse_printed("497.7 ± 1.8"), parse_printed("24.2"), parse_printed("0 / 5 / 10")
    ((497.7, 1.8), (24.2, None), (None, None))
    """
    found = _PRINTED.fullmatch(printed)
    mean, std = found.groups() if found else (None, None)
    return None if mean is None else float(mean), None if std is None else float(std)


@dataclass(frozen=True)
class Printed:
    """A number of a table, or of the running text, as the paper prints it."""

    condition: str
    """The row of a table, or the condition that the text is about."""
    metric: str
    """The column of a table, or the metric."""
    printed: str
    """The text in the paper."""
    task: str = ""
    where: str = ""
    runs: int = 0
    """Number of runs that it is about; 0 where that is no matter."""

    @property
    def mean(self) -> float | None:
        """The number, or None where words or several numbers are printed."""
        return parse_printed(self.printed)[0]

    @property
    def std(self) -> float | None:
        """The number behind ±; it divides by the number of runs, see `statistics.mean_std`."""
        return parse_printed(self.printed)[1]


class PaperRow(NamedTuple):
    """The subject of a line in a table."""

    name: str
    """Task and condition joined by "/", or another name for the line."""
    task: str | None
    condition: str | None


class PaperTable(NamedTuple):
    """A table of the paper."""

    id: str
    title: str
    where: str
    rows: tuple[PaperRow, ...]
    columns: tuple[Column, ...]
    cells: dict[tuple[str, str], Printed]
    """By row and column, row by row."""
    runs: int = 0
    """Number of runs behind each cell; 0 in tables of settings."""

    def cell(self, row: str, column: str) -> Printed:
        """Return one entry.

        >>> load_paper().tables["II"].cell("CartPole-v1/growth-only", "n_edges").printed
        '6128 ± 1108'
        """
        return self.cells[row, column]


class Setting(NamedTuple):
    """A choice that the text states."""

    name: str
    value: float | str | list[float]
    where: str


class Panel(NamedTuple):
    """One of the drawings in a figure; the task is None where it is about several or none."""

    shows: str
    task: str | None = None


class Figure(NamedTuple):
    """A figure of the paper."""

    id: str
    title: str
    where: str
    band: str
    """The statistic that is drawn, and the band around it."""
    panels: tuple[Panel, ...]
    conditions: tuple[str, ...] = ()
    """Conditions that are compared; empty if there are none or the paper does not name them."""


class Paper(NamedTuple):
    """Everything the paper prints that a reproduction can be held against."""

    tables: dict[str, PaperTable]
    figures: dict[str, Figure]
    statements: tuple[Printed, ...]
    settings: dict[str, Setting]


def load_paper() -> Paper:
    """Return the paper's numbers.

    >>> load_paper().tables["A.IV"].cell("LunarLander-v3/static", "late_return").std
    130.5
    """
    data = read_data("paper.toml")
    figures = {
        it["id"]: Figure(**it | {"panels": tuple(Panel(**panel) for panel in it["panels"])})
        for it in data["figures"]
    }
    return Paper(
        tables={id: _table(id, **it) for id, it in data["tables"].items()},
        figures=figures,
        statements=tuple(Printed(**entry) for entry in data["statements"]),
        settings={entry["name"]: Setting(**entry) for entry in data["settings"]},
    )


def _table(
    id: str, columns: list[str], headings: list[str], rows: Any, runs: int = 0, **words: str
) -> PaperTable:
    lines, cells = [], {}
    for entry in rows:
        task, condition = entry.get("task"), entry.get("condition")
        name = entry.get("name") or "/".join(part for part in (task, condition) if part)
        lines.append(PaperRow(name, task, condition))
        for column, text in zip(columns, entry["cells"], strict=True):
            cells[name, column] = Printed(name, column, text, task or "", runs=runs)
    meanings = (METRICS[name].meaning if name in METRICS else "" for name in columns)
    heads = tuple(map(Column, columns, headings, meanings))
    return PaperTable(id, **words, rows=tuple(lines), columns=heads, cells=cells, runs=runs)


def read_data(name: str) -> dict[str, Any]:
    """Return a data file of this package."""
    return tomllib.loads(files("smgrnn_paper.report").joinpath(name).read_text(encoding="utf-8"))


@cache
def scales() -> dict[str, float]:
    """Return how far a policy that acts at random is from the expert, by task."""
    ends = read_data("claims.toml")["scales"] | read_data("beyond.toml")["scales"]
    return {task: end["expert"] - end["random"] for task, end in ends.items()}


class Metric(NamedTuple):
    """The name of a metric, its meaning, and the decimals it is printed with."""

    word: str
    meaning: str
    decimals: int


WORDS = read_data("words.toml")
"""The report's own words: its first page, titles and captions of our figures, notes of tables."""
METRICS = {name: Metric(**entry) for name, entry in read_data("metrics.toml").items()}
"""Every metric that a table or a claim uses."""


def metric_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns of some metrics."""
    return tuple(Column(it, METRICS[it].word.capitalize(), METRICS[it].meaning) for it in names)
