"""Pages: paragraphs, tables and pictures as one HTML file that opens from disk.

The frame with its style and script is `page.html`; pictures are embedded.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Literal, NamedTuple, Protocol

from smgrnn.errors import plain
from smgrnn.text import MINUS, MISSING

PIXELS = 130  # most pixels per inch of a figure
NUMBER = re.compile(rf"$|{MISSING}$|[-+{MINUS}≤<>]?[\d∞]")
"""Text of a cell that is aligned to the right."""
Tone = Literal["", "good", "fair", "bad", "even", "none"]  # color of a verdict or of a difference


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
    values: Any = None  # the numbers behind it, for JSON; by default the text
    span: tuple[float, float, float] | None = None  # low, value, high of a probability, drawn below


class Row(NamedTuple):
    """Labels, then cells."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """A table that a reader of the HTML can sort."""

    id: str
    title: str  # empty within a fold, which has one
    headings: tuple[str, ...]  # of the labels
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    where: str = ""  # the section of the paper, for its tables

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

    def html(self) -> str:
        """Return the table as HTML; columns of numbers are aligned to the right."""
        heads = [f'<th scope="col">{plain_html(heading)}</th>' for heading in self.headings]
        kinds = []
        for index, column in enumerate(self.columns):
            is_numeric = all(NUMBER.match(row.cells[index].text) for row in self.rows)
            kinds.append("n" if is_numeric and self.rows else "")
            title = f' title="{plain_html(column.meaning)}"' if column.meaning else ""
            name = _breakable(column.heading)
            heads.append(f'<th scope="col" class="{kinds[-1]}"{title}>{name}</th>')
        rows = ""
        for row in self.rows:
            rows += "<tr>"
            for heading, label in zip(self.headings, row.labels, strict=True):
                name = plain_html(heading)
                rows += f'<th scope="row" data-label="{name}">{_breakable(label)}</th>'
            for column, kind, cell in zip(self.columns, kinds, row.cells, strict=True):
                *others, last = ["first"] + ["below"] * len(cell.below)
                classes = (*others, f"{last} tone {cell.tone}" if cell.tone else last)
                rows += f'<td class="{kind}" data-label="{plain_html(column.heading)}">'
                for each, text in zip(classes, (cell.text, *cell.below), strict=True):
                    rows += f'<span class="{each}">{_breakable(text)}</span>'
                if cell.span is not None:
                    low, value, high = (f"{100 * end:.0f}%" for end in cell.span)
                    place = f"--low: {low}; --at: {value}; --high: {high}"
                    rows += f'<span class="range" style="{place}"></span>'
                rows += "</td>"
            rows += "</tr>"
        kind = " labelled" * (len(self.headings) > 2)
        content = (
            f'<div class="scroll"><table class="sortable{kind}">'
            f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
        if self.note:
            content += f'<p class="note">{plain_html(self.note)}</p>'
        if not self.title:
            return content
        where = self.where and f'<span class="soft small"> ({plain_html(self.where)})</span>'
        title = f"<h3>{plain_html(self.heading)}{where}</h3>"
        return f'<div class="sheet" id="{_anchor(self.name)}">{title}{content}</div>'


class Picture(NamedTuple):
    """A figure as the bytes of an svg or png file, and its width in inches."""

    suffix: str
    data: bytes
    width: float


@dataclass(frozen=True)
class Illustration:
    """A figure with its caption; without a picture, runs to draw are missing."""

    id: str  # the paper's number for it, or a name
    title: str
    caption: str
    picture: Picture | None
    where: str = ""  # the section of the paper, for its figures

    @property
    def name(self) -> str:
        """Its title, or its number in the paper."""
        return f"Fig. {self.id}" if self.where else self.title

    def html(self) -> str:
        """Return the figure as HTML."""
        name, anchor, title = plain_html(self.name), _anchor(self.name), plain_html(self.title)
        if self.picture is None:
            missing = f"{name} ({title}) needs runs that are missing."
            return f'<p class="notice" id="{anchor}">{missing}</p>'
        suffix, data, width = self.picture
        kind = suffix.replace("svg", "svg+xml")
        source = f"data:image/{kind};base64,{b64encode(data).decode()}"
        where = self.where and f" ({plain_html(self.where)})"
        return (
            f'<figure id="{anchor}"><div class="scroll" style="--width: {round(PIXELS * width)}px">'
            f'<img src="{source}" alt="{title}"></div>'
            f"<figcaption><b>{name}</b>{where}. {plain_html(self.caption)}</figcaption></figure>"
        )


class Element(Protocol):
    """A part of a page."""

    def html(self) -> str:
        """Return it as HTML."""


Block = str | Element  # a part of a page, or the text of a paragraph


def html(
    title: str, blocks: Sequence[Block], sections: Iterable[tuple[str, str, Sequence[Block]]] = ()
) -> str:
    """Return a page as HTML: blocks, then sections, each with an id, a title and blocks."""
    links = body = ""
    for id, heading, parts in (("top", title, blocks), *sections):
        inner = "".join(
            f'<li><a href="#{_anchor(it.name)}">{plain_html(it.name)}</a></li>'
            for it in parts
            if isinstance(it, Illustration | DataTable)
        )
        name = plain_html(heading)
        links += f'<li><a href="#{escape(id)}">{name}</a><ol>{inner}</ol></li>'
        content = blocks_html(parts)
        if id == "top":
            body += f'<h1 id="top">{name}</h1>{content}'
        else:
            body += f'<section id="{escape(id)}"><h2>{name}</h2>{content}</section>'
    frame = files("smgrnn.pages").joinpath("page.html").read_text(encoding="utf-8")
    return Template(frame).substitute(title=plain_html(title), contents=links, body=body)


def blocks_html(parts: Iterable[Block]) -> str:
    """Return parts of a page as HTML."""
    return "".join(f"<p>{plain_html(it)}</p>" if isinstance(it, str) else it.html() for it in parts)


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def plain_html(text: str) -> str:
    """Return text without control characters, escaped."""
    return escape(plain(text))


def _breakable(text: str) -> str:
    """Return a text that may be broken within a path or a task's settings.

    >>> _breakable("runs/a_run"), _breakable("gravity=20"), _breakable("network.n_inputs")
    ('runs/<wbr>a_<wbr>run', 'gravity=<wbr>20', 'network.n_inputs')
    """
    marks = "[/_,=]" if "/" in text else "[,=]"
    return re.sub(rf"({marks})(?=\S)", r"\1<wbr>", plain_html(text))
