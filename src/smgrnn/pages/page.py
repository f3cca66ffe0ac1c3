"""Pages: paragraphs, tables and pictures as data, and as one HTML file that opens from disk.

The frame with its style and script is `page.html`; pictures are inside too.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Literal, NamedTuple

from smgrnn.errors import plain
from smgrnn.text import MINUS, MISSING

PIXELS = 130
"""Most pixels that an inch of a figure takes."""
Tone = Literal["", "good", "fair", "bad", "even", "none"]
"""Colour of a verdict or of a difference."""


class Column(NamedTuple):
    """A column of cells."""

    name: str
    """Its name in JSON."""
    heading: str
    meaning: str = ""
    """An explanation of the heading."""


@dataclass(frozen=True)
class Cell:
    """A text, and further ones below it."""

    text: str
    below: tuple[str, ...] = ()
    tone: Tone = ""
    """Colour of the last text."""
    values: Any = None
    """The numbers behind it, for JSON; by default the text."""


class Row(NamedTuple):
    """Labels, then cells."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """A table that a reader of the HTML can sort."""

    id: str
    title: str
    headings: tuple[str, ...]
    """Headings of the labels."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    where: str = ""
    """Its place in a paper; empty if it is in none."""
    keys: tuple[str, ...] = ()
    """Names of the texts of a cell, from above, where there are several."""
    details: "DataTable | None" = None
    """A longer table, folded below it."""
    is_folded: bool = False
    is_filtered: bool = False
    """Whether a reader can select rows by the text of their first cell."""

    @classmethod
    def of(
        cls,
        title: str,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        n_labels: int = 1,
        **more: Any,
    ) -> "DataTable":
        """Return a table of texts, the first `n_labels` of each row being labels."""
        return cls(
            title=title,
            headings=tuple(headings[:n_labels]),
            columns=tuple(Column(name, name) for name in headings[n_labels:]),
            rows=tuple(Row(tuple(r[:n_labels]), tuple(map(Cell, r[n_labels:]))) for r in rows),
            **{"id": title, **more},
        )

    @property
    def name(self) -> str:
        """Its name; tables of a paper go by their number."""
        return f"Table {self.id}" if self.where else self.title

    @property
    def heading(self) -> str:
        """The title above it."""
        return f"{self.name}. {self.title}" if self.where else self.title

    @property
    def cells(self) -> list[Cell]:
        """All cells, row by row."""
        return [cell for row in self.rows for cell in row.cells]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        names = [column.name for column in self.columns]
        rows = [
            {
                "labels": dict(zip(self.headings, row.labels, strict=True)),
                "cells": {
                    name: {"ours": cell.text} if cell.values is None else cell.values
                    for name, cell in zip(names, row.cells, strict=True)
                },
            }
            for row in self.rows
        ]
        return {"id": self.id, "title": self.title, "where": self.where, "rows": rows}

    def spread(self) -> "DataTable":
        """Return the table as it is shown: of a single column, the texts of a cell side by side."""
        if not self.keys or len(self.columns) != 1:
            return self
        columns = tuple(Column(key, key.capitalize()) for key in self.keys)
        rows = []
        for row in self.rows:
            cell = row.cells[0]
            texts = [cell.text, *cell.below] + [""] * (len(columns) - 1 - len(cell.below))
            last = Cell(texts[-1], tone=cell.tone)
            rows.append(Row(row.labels, (*map(Cell, texts[:-1]), last)))
        return replace(self, columns=columns, rows=tuple(rows), keys=())


class Picture(NamedTuple):
    """A figure as the bytes of a file."""

    suffix: str
    """The format of the file: svg or png."""
    data: bytes
    width: float
    """Width in inches."""


@dataclass(frozen=True)
class Illustration:
    """A figure with its caption."""

    id: str
    """The paper's number for it, or a name."""
    title: str
    caption: str
    picture: Picture | None
    """The drawing; None if there are no runs to draw."""
    where: str = ""
    """Its place in a paper; empty if it is in none."""
    is_folded = False

    @property
    def name(self) -> str:
        """Its name; figures of a paper go by their number."""
        return f"Fig. {self.id}" if self.where else self.title

    @property
    def stem(self) -> str:
        """The name of its file, without the format."""
        return f"figure-{self.id.lower().replace('.', '')}"

    @property
    def file(self) -> str | None:
        """The name of its file; None if there is none."""
        return f"{self.stem}.{self.picture.suffix}" if self.picture else None


class Notice(NamedTuple):
    """A paragraph that stands out, and a list that is shown on demand."""

    text: str
    items: tuple[str, ...] = ()


class Facts(NamedTuple):
    """Numbers that are shown large: the name, value and remark of each."""

    items: tuple[tuple[str, str, str], ...]


Block = str | Notice | Facts | DataTable | Illustration


@dataclass(frozen=True)
class Section:
    """A part of a page, with a place in its contents."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A whole page."""

    title: str
    blocks: tuple[Block, ...]
    """The blocks before the sections."""
    sections: tuple[Section, ...] = ()
    warning: str = ""
    """A sentence above the title."""

    @property
    def illustrations(self) -> list[Illustration]:
        """All figures."""
        found = [*self.blocks, *(block for part in self.sections for block in part.blocks)]
        return [block for block in found if isinstance(block, Illustration)]


def html(page: Page) -> str:
    """Return a page as HTML."""
    links, body = [], []
    for part in (Section("top", page.title, page.blocks), *page.sections):
        inner = (
            f"<li>{_link(_anchor(block.name), block.name)}</li>"
            for block in part.blocks
            if isinstance(block, Illustration)
            or (isinstance(block, DataTable) and not block.is_folded)
        )
        links.append(f"<li>{_link(part.id, part.title)}<ol>{''.join(inner)}</ol></li>")
        blocks, title = "".join(map(_html_block, part.blocks)), _text(part.title)
        if part.id == "top":
            body.append(f'<h1 id="top">{title}</h1>{blocks}')
        else:
            body.append(f'<section id="{escape(part.id)}"><h2>{title}</h2>{blocks}</section>')
    warning = f'<p class="notice"><b>{_text(page.warning)}</b></p>' if page.warning else ""
    frame = files("smgrnn.pages").joinpath("page.html").read_text(encoding="utf-8")
    return Template(frame).substitute(
        title=_text(page.title),
        contents="".join(links),
        body=warning + "".join(body),
    )


def _html_block(block: Block) -> str:
    if isinstance(block, str):
        return f"<p>{_text(block)}</p>"
    if isinstance(block, Notice):
        items = "".join(f"<li>{_text(item)}</li>" for item in block.items)
        listed = f"<details><summary>Which</summary><ul>{items}</ul></details>" if items else ""
        return f'<div class="notice"><p>{_text(block.text)}</p>{listed}</div>'
    if isinstance(block, Facts):
        tiles = (
            f'<div class="tile"><dt>{_text(name)}</dt><dd>{_text(value)}'
            f'<span class="of">{_text(remark)}</span></dd></div>'
            for name, value, remark in block.items
        )
        return f'<dl class="tiles">{"".join(tiles)}</dl>'
    if isinstance(block, Illustration):
        return _html_figure(block)
    return _html_table(block)


def _html_figure(figure: Illustration) -> str:
    name, place = _text(figure.name), f" ({_text(figure.where)})" if figure.where else ""
    if figure.picture is None:
        words = f"{name} ({_text(figure.title)}) needs runs that are missing."
        return f'<p class="notice" id="{_anchor(figure.name)}">{words}</p>'
    suffix, data, width = figure.picture
    kind, code = "svg+xml" if suffix == "svg" else suffix, b64encode(data).decode()
    image = f'<img src="data:image/{kind};base64,{code}" alt="{_text(figure.title)}">'
    return (
        f'<figure id="{_anchor(figure.name)}">'
        f'<div class="scroll" style="--width: {round(PIXELS * width)}px">{image}</div>'
        f"<figcaption><b>{name}</b>{place}. {_text(figure.caption)}</figcaption></figure>"
    )


def _html_table(table: DataTable) -> str:
    """Return a table, folded if it is to be, with its note and its details."""
    shown = table.spread()
    cells = zip(*(row.cells for row in shown.rows), strict=True)
    kinds = ["n" if all(map(_is_number, column)) else "" for column in cells]
    heads = [f'<th scope="col">{_text(heading)}</th>' for heading in shown.headings]
    heads += ['<th class="key"></th>'] if shown.keys else []
    for column, kind in zip(shown.columns, kinds or [""] * len(shown.columns), strict=True):
        title = f' title="{_text(column.meaning)}"' if column.meaning else ""
        heads.append(f'<th scope="col" class="{kind}"{title}>{_breakable(column.heading)}</th>')
    rows = "".join(_html_row(shown, row, kinds) for row in shown.rows)
    kind = " filtered" * table.is_filtered + " labelled" * (len(table.headings) > 2)
    content = (
        f'<div class="scroll"><table class="sortable{kind}">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    if table.note:
        content += f'<p class="note">{_text(table.note)}</p>'
    if table.details is not None:
        content += _html_table(replace(table.details, is_folded=True))
    if table.is_folded:
        return f'<details class="fold"><summary>{_text(table.title)}</summary>{content}</details>'
    place = f'<span class="soft small"> ({_text(table.where)})</span>' if table.where else ""
    title = f"<h3>{_text(table.heading)}{place}</h3>"
    return f'<div class="sheet" id="{_anchor(table.name)}">{title}{content}</div>'


def _html_row(table: DataTable, row: Row, kinds: Sequence[str]) -> str:
    found = [
        f'<th scope="row" data-label="{_text(heading)}">{_breakable(label)}</th>'
        for heading, label in zip(table.headings, row.labels, strict=True)
    ]
    if table.keys:
        n_keys = 1 + max(len(cell.below) for cell in row.cells)
        keys = "".join(f"<span>{_text(key)}</span>" for key in table.keys[:n_keys] if n_keys > 1)
        found.append(f'<td class="key">{keys}</td>')
    for column, kind, cell in zip(table.columns, kinds, row.cells, strict=True):
        tones = [""] * len(cell.below) + [f" tone {cell.tone}" * bool(cell.tone)]
        texts = f'<span class="first{tones[0]}">{_breakable(cell.text)}</span>' + "".join(
            f'<span class="below{tone}" data-key="{_text(key)}">{_text(text)}</span>'
            for key, text, tone in zip(table.keys[1:], cell.below, tones[1:], strict=False)
        )
        found.append(f'<td class="{kind}" data-label="{_text(column.heading)}">{texts}</td>')
    return f"<tr>{''.join(found)}</tr>"


def _link(target: str, text: str) -> str:
    return f'<a href="#{escape(target)}">{_text(text)}</a>'


def _anchor(name: str) -> str:
    """Return a name as it may stand in an address.

    >>> _anchor("Table A.IV")
    'table-a-iv'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _is_number(cell: Cell) -> bool:
    return cell.text in ("", MISSING) or re.match(rf"[-+{MINUS}≤<>]?[\d∞]", cell.text) is not None


def _text(text: str) -> str:
    return escape(plain(text))


def _breakable(text: str) -> str:
    """Return a text that may be broken within a path or a task's settings.

    >>> _breakable("runs/a_run"), _breakable("gravity=20"), _breakable("network.n_inputs")
    ('runs/<wbr>a_<wbr>run', 'gravity=<wbr>20', 'network.n_inputs')
    """
    marks = "[/_,=]" if "/" in text else "[,=]"
    return re.sub(rf"({marks})(?=\S)", r"\1<wbr>", _text(text))
