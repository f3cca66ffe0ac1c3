"""Pages: paragraphs, tables and pictures as data, and as one HTML file that opens from disk.

The frame with its style and script is `page.html`; pictures are embedded.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Literal, NamedTuple

from smgrnn.errors import plain
from smgrnn.text import MINUS, MISSING

PIXELS = 130
"""Most pixels per inch of a figure."""
NUMBER = re.compile(rf"$|{MISSING}$|[-+{MINUS}≤<>]?[\d∞]")
"""Text of a cell that is aligned to the right."""
Tone = Literal["", "good", "fair", "bad", "even", "none"]
"""Color of a verdict or of a difference."""


class Column(NamedTuple):
    """A column of cells: its name in JSON, its heading, and an explanation of the heading."""

    name: str
    heading: str
    meaning: str = ""


@dataclass(frozen=True)
class Cell:
    """A text, and more texts below it; the last one has the tone."""

    text: str
    below: tuple[str, ...] = ()
    tone: Tone = ""
    values: Any = None
    """The numbers behind it, for JSON; by default the text."""
    span: tuple[float, float, float] | None = None
    """A probability with the ends of its interval (low, value, high), drawn below the text."""


class Row(NamedTuple):
    """Labels, then cells."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """A table that a reader of the HTML can sort."""

    id: str
    title: str
    """Its title; empty within a fold, which has one."""
    headings: tuple[str, ...]
    """Headings of the labels."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    where: str = ""
    """The section of the paper, for its tables and figures."""

    @classmethod
    def of(
        cls,
        title: str,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        n_labels: int = 1,
        **more: Any,
    ) -> "DataTable":
        """Return a table of texts; the first `n_labels` of each row are labels."""
        return cls(
            title=title,
            headings=tuple(headings[:n_labels]),
            columns=tuple(Column(name, name) for name in headings[n_labels:]),
            rows=tuple(Row(tuple(r[:n_labels]), tuple(map(Cell, r[n_labels:]))) for r in rows),
            **{"id": title, **more},
        )

    @property
    def name(self) -> str:
        """Its title, or its number in the paper."""
        return f"Table {self.id}" if self.where else self.title

    @property
    def heading(self) -> str:
        """The heading above it."""
        return f"{self.name}. {self.title}" if self.where else self.title

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        rows = []
        for labels, cells in self.rows:
            values = [{"ours": it.text} if it.values is None else it.values for it in cells]
            named = dict(zip((column.name for column in self.columns), values, strict=True))
            labelled = dict(zip(self.headings, labels, strict=True))
            rows.append({"labels": labelled, "cells": named})
        return {"id": self.id, "title": self.title, "where": self.where, "rows": rows}


class Picture(NamedTuple):
    """A figure as the bytes of an svg or png file, and its width in inches."""

    suffix: str
    data: bytes
    width: float


@dataclass(frozen=True)
class Illustration:
    """A figure with its caption; without a picture, runs to draw are missing."""

    id: str
    """The paper's number for it, or a name."""
    title: str
    caption: str
    picture: Picture | None
    where: str = ""
    """The section of the paper, for its tables and figures."""

    @property
    def name(self) -> str:
        """Its title, or its number in the paper."""
        return f"Fig. {self.id}" if self.where else self.title

    @property
    def file(self) -> str | None:
        """The name of its file, if there is a picture."""
        stem = f"figure-{self.id.lower().replace('.', '')}"
        return f"{stem}.{self.picture.suffix}" if self.picture else None


class Tally(NamedTuple):
    """Counts that add up, as a bar of colors: the name, number and color of each."""

    title: str
    parts: tuple[tuple[str, int, Tone], ...]
    remark: str = ""


class Points(NamedTuple):
    """A numbered list: a word, a text and some verdicts, each with what it is about."""

    title: str
    note: str
    items: tuple[tuple[str, str, tuple[tuple[Cell, str], ...]], ...]


class Fold(NamedTuple):
    """Blocks that a reader has to unfold."""

    title: str
    blocks: "tuple[Block, ...]"


Block = str | Tally | Points | Fold | DataTable | Illustration


class Section(NamedTuple):
    """A part of a page that its contents list."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A whole page: blocks, then sections, below a warning if there is one."""

    title: str
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...] = ()
    warning: str = ""

    @property
    def illustrations(self) -> list[Illustration]:
        """All figures."""
        parts = (self.blocks, *(section.blocks for section in self.sections))
        return [block for part in parts for block in part if isinstance(block, Illustration)]


def html(page: Page) -> str:
    """Return a page as HTML."""
    links = []
    body = f'<p class="notice"><b>{_text(page.warning)}</b></p>' if page.warning else ""
    for part in (Section("top", page.title, page.blocks), *page.sections):
        inner = "".join(
            f'<li><a href="#{_anchor(block.name)}">{_text(block.name)}</a></li>'
            for block in part.blocks
            if isinstance(block, Illustration | DataTable)
        )
        id, title = escape(part.id), _text(part.title)
        links.append(f'<li><a href="#{id}">{title}</a><ol>{inner}</ol></li>')
        blocks = "".join(map(_html_block, part.blocks))
        if part.id == "top":
            body += f'<h1 id="top">{title}</h1>{blocks}'
        else:
            body += f'<section id="{id}"><h2>{title}</h2>{blocks}</section>'
    frame = files("smgrnn.pages").joinpath("page.html").read_text(encoding="utf-8")
    return Template(frame).substitute(title=_text(page.title), contents="".join(links), body=body)


def _html_block(block: Block) -> str:
    if isinstance(block, str):
        return f"<p>{_text(block)}</p>"
    if isinstance(block, DataTable):
        return _html_table(block)
    if isinstance(block, Fold):
        inner = "".join(map(_html_block, block.blocks))
        return f"<details><summary>{_text(block.title)}</summary>{inner}</details>"
    if isinstance(block, Tally):
        bar = "".join(
            f'<i class="{tone}" style="flex: {n}"></i>' for _, n, tone in block.parts if n
        )
        counts = "".join(
            f'<span class="count {tone}"><b>{n}</b> {_text(name)}</span>'
            for name, n, tone in block.parts
        )
        title, remark = _text(block.title), f"<small>{_text(block.remark)}</small>"
        return f'<div class="tally"><h3>{title}</h3><p class="bar">{bar}</p>{counts}{remark}</div>'
    if isinstance(block, Points):
        items = ""
        for word, text, verdicts in block.items:
            items += f"<li><b>{_text(word)}</b> {_text(text)}"
            for cell, about in verdicts:
                chip = f'<span class="first tone {cell.tone}">{_text(cell.text)}</span>'
                items += f'<p class="verdict">{chip} {_text(about)}</p>'
            items += "</li>"
        note = f'<p class="note">{_text(block.note)}</p>' if block.note else ""
        return f'<h3>{_text(block.title)}</h3>{note}<ol class="points">{items}</ol>'
    name, anchor, title = _text(block.name), _anchor(block.name), _text(block.title)
    if block.picture is None:
        return f'<p class="notice" id="{anchor}">{name} ({title}) needs runs that are missing.</p>'
    suffix, data, width = block.picture
    source = f"data:image/{suffix.replace('svg', 'svg+xml')};base64,{b64encode(data).decode()}"
    where = f" ({_text(block.where)})" if block.where else ""
    return (
        f'<figure id="{anchor}"><div class="scroll" style="--width: {round(PIXELS * width)}px">'
        f'<img src="{source}" alt="{title}"></div>'
        f"<figcaption><b>{name}</b>{where}. {_text(block.caption)}</figcaption></figure>"
    )


def _html_table(table: DataTable) -> str:
    texts = [[row.cells[index].text for row in table.rows] for index in range(len(table.columns))]
    kinds = ["n" if column and all(map(NUMBER.match, column)) else "" for column in texts]
    heads = [f'<th scope="col">{_text(heading)}</th>' for heading in table.headings]
    for column, kind in zip(table.columns, kinds, strict=True):
        title = f' title="{_text(column.meaning)}"' if column.meaning else ""
        heads.append(f'<th scope="col" class="{kind}"{title}>{_breakable(column.heading)}</th>')
    rows = ""
    for row in table.rows:
        cells = [
            f'<th scope="row" data-label="{_text(heading)}">{_breakable(label)}</th>'
            for heading, label in zip(table.headings, row.labels, strict=True)
        ]
        for column, kind, cell in zip(table.columns, kinds, row.cells, strict=True):
            *others, last = ["first"] + ["below"] * len(cell.below)
            classes = (*others, f"{last} tone {cell.tone}" if cell.tone else last)
            lines = zip(classes, (cell.text, *cell.below), strict=True)
            spans = "".join(f'<span class="{it}">{_breakable(text)}</span>' for it, text in lines)
            if cell.span is not None:
                low, value, high = (f"{100 * end:.0f}%" for end in cell.span)
                place = f"--low: {low}; --at: {value}; --high: {high}"
                spans += f'<span class="range" style="{place}"></span>'
            cells.append(f'<td class="{kind}" data-label="{_text(column.heading)}">{spans}</td>')
        rows += f"<tr>{''.join(cells)}</tr>"
    kind = " labelled" * (len(table.headings) > 2)
    content = (
        f'<div class="scroll"><table class="sortable{kind}">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    if table.note:
        content += f'<p class="note">{_text(table.note)}</p>'
    where = f'<span class="soft small"> ({_text(table.where)})</span>' if table.where else ""
    if not table.title:
        return content
    title = f"<h3>{_text(table.heading)}{where}</h3>"
    return f'<div class="sheet" id="{_anchor(table.name)}">{title}{content}</div>'


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _text(text: str) -> str:
    return escape(plain(text))


def _breakable(text: str) -> str:
    """Return a text that may be broken within a path or a task's settings.

    >>> _breakable("runs/a_run"), _breakable("gravity=20"), _breakable("network.n_inputs")
    ('runs/<wbr>a_<wbr>run', 'gravity=<wbr>20', 'network.n_inputs')
    """
    marks = "[/_,=]" if "/" in text else "[,=]"
    return re.sub(rf"({marks})(?=\S)", r"\1<wbr>", _text(text))
