"""The paper's printed content as data: tables, figures, results in its text, settings.

The data are in `paper.toml`; a number is there once, as the paper's own text.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, NoReturn, TypeVar

from smgrnn.errors import UnknownNameError, suggest
from smgrnn.pages.page import Column

_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
_PRINTED = re.compile(rf"({_NUMBER})(?: ± ({_NUMBER}))?")

T = TypeVar("T")


class Catalogue(dict[str, T]):
    """Entries by name; an unknown name is an error that suggests a similar one.

    >>> Catalogue("table", {"I": 1, "II": 2})["III"]
    Traceback (most recent call last):
    smgrnn.errors.UnknownNameError: There is no table 'III'. Did you mean 'II'?
    """

    def __init__(self, kind: str, entries: Iterable[tuple[str, T]] | Mapping[str, T]) -> None:
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: str) -> NoReturn:
        hint = suggest(name, self) or f"There are: {', '.join(self)}."
        raise UnknownNameError(f"There is no {self.kind} {name!r}. {hint}")


def parse_printed(printed: str) -> tuple[float | None, float | None]:
    """Return the mean and the standard deviation that a text states, None where it does not.

    >>> parse_printed("497.7 ± 1.8"), parse_printed("24.2"), parse_printed("0 / 5 / 10")
    ((497.7, 1.8), (24.2, None), (None, None))
    """
    found = _PRINTED.fullmatch(printed)
    if found is None:
        return None, None
    mean, std = found.groups()
    return float(mean), None if std is None else float(std)


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


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    id: str
    title: str
    where: str
    rows: tuple[PaperRow, ...]
    columns: tuple[Column, ...]
    cells: tuple[Printed, ...]
    """Row by row."""

    def cell(self, row: str, column: str) -> Printed:
        """Return one entry.

        >>> load_paper().tables["II"].cell("CartPole-v1/growth-only", "n_edges").printed
        '6128 ± 1108'
        """
        rows = {entry.name: i for i, entry in enumerate(self.rows)}
        columns = {entry.name: i for i, entry in enumerate(self.columns)}
        line = Catalogue(f"row of Table {self.id} named", rows)[row]
        place = Catalogue(f"column of Table {self.id} named", columns)[column]
        return self.cells[line * len(columns) + place]


class Setting(NamedTuple):
    """A choice that the text states."""

    name: str
    value: float | str | list[float]
    where: str


class Panel(NamedTuple):
    """One of the drawings in a figure."""

    shows: str
    task: str | None = None
    """The task, or None where it is about several or none."""


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


@dataclass(frozen=True)
class Paper:
    """Everything the paper prints that a reproduction can be held against."""

    tables: Catalogue[PaperTable]
    figures: Catalogue[Figure]
    statements: tuple[Printed, ...]
    settings: Catalogue[Setting]


def load_paper() -> Paper:
    """Return the paper's numbers.

    >>> load_paper().tables["A.IV"].cell("LunarLander-v3/static", "late_return").std
    130.5
    """
    data = read_data("paper.toml")
    settings = [Setting(**entry) for entry in data["settings"]]
    return Paper(
        tables=Catalogue("table", ((id, _table(id, **it)) for id, it in data["tables"].items())),
        figures=Catalogue("figure", ((entry["id"], _figure(**entry)) for entry in data["figures"])),
        statements=tuple(Printed(**entry) for entry in data["statements"]),
        settings=Catalogue("setting", ((setting.name, setting) for setting in settings)),
    )


def _table(id: str, columns: list[str], headings: list[str], rows: Any, **words: str) -> PaperTable:
    lines, cells = [], []
    for entry in rows:
        task, condition = entry.get("task"), entry.get("condition")
        name = entry.get("name") or "/".join(part for part in (task, condition) if part)
        lines.append(PaperRow(name, task, condition))
        printed = zip(columns, entry["cells"], strict=True)
        cells += [Printed(name, column, text) for column, text in printed]
    meanings = (METRICS[name].meaning if name in METRICS else "" for name in columns)
    heads = tuple(map(Column, columns, headings, meanings))
    return PaperTable(id, **words, rows=tuple(lines), columns=heads, cells=tuple(cells))


def _figure(panels: list[dict[str, str]], conditions: Iterable[str] = (), **words: str) -> Figure:
    drawn = tuple(Panel(**panel) for panel in panels)
    return Figure(**words, panels=drawn, conditions=tuple(conditions))


def read_data(name: str) -> dict[str, Any]:
    """Return a data file of this package."""
    return tomllib.loads(files("smgrnn_paper.report").joinpath(name).read_text(encoding="utf-8"))


class Metric(NamedTuple):
    """The name of a metric, its meaning, and the decimals it is printed with."""

    word: str
    meaning: str
    decimals: int

    def column(self, name: str) -> Column:
        """Return the column of a table that shows it."""
        return Column(name, self.word.capitalize(), self.meaning)


WORDS = read_data("words.toml")
"""The report's own words: its first page, titles and captions of our figures, notes of tables."""
METRICS = {name: Metric(**entry) for name, entry in read_data("metrics.toml").items()}
"""Every metric that a table or a claim uses."""


def metric_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns of some metrics."""
    return tuple(METRICS[name].column(name) for name in names)
