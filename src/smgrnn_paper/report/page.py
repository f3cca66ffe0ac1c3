"""The page of a report: sections of paragraphs, counts, tables and figures."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from smgrnn.pages.page import (
    Block,
    Cell,
    DataTable,
    Illustration,
    Tone,
    blocks_html,
    html,
    plain_html,
)


class Tally(NamedTuple):
    """Counts that add up, as a bar of colors: the name, number and color of each."""

    title: str
    parts: tuple[tuple[str, int, Tone], ...]
    remark: str = ""

    def html(self) -> str:
        """Return it as HTML."""
        bar = counts = ""
        for name, n, tone in self.parts:
            bar += f'<i class="{tone}" style="flex: {n}"></i>' if n else ""
            counts += f'<span class="count {tone}"><b>{n}</b> {plain_html(name)}</span>'
        title, remark = map(plain_html, (self.title, self.remark))
        content = f'<h3>{title}</h3><p class="bar">{bar}</p>{counts}<small>{remark}</small>'
        return f'<div class="tally">{content}</div>'


class Points(NamedTuple):
    """A numbered list: a word, a text and some verdicts, each with what it is about."""

    title: str
    note: str
    items: tuple[tuple[str, str, tuple[tuple[Cell, str], ...]], ...]

    def html(self) -> str:
        """Return it as HTML."""
        items = ""
        for word, text, verdicts in self.items:
            items += f"<li><b>{plain_html(word)}</b> {plain_html(text)}"
            for cell, about in verdicts:
                chip = f'<span class="first tone {cell.tone}">{plain_html(cell.text)}</span>'
                items += f'<p class="verdict">{chip} {plain_html(about)}</p>'
            items += "</li>"
        title, note = map(plain_html, (self.title, self.note))
        return f'<h3>{title}</h3><p class="note">{note}</p><ol class="points">{items}</ol>'


class Fold(NamedTuple):
    """Blocks that a reader has to unfold."""

    title: str
    blocks: tuple[Block, ...]

    def html(self) -> str:
        """Return them as HTML."""
        summary = f"<summary>{plain_html(self.title)}</summary>"
        return f"<details>{summary}{blocks_html(self.blocks)}</details>"


class Notice(NamedTuple):
    """A warning."""

    text: str

    def html(self) -> str:
        """Return it as HTML."""
        return f'<p class="notice"><b>{plain_html(self.text)}</b></p>'


class Section(NamedTuple):
    """A part of a page that its contents list."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A whole page: blocks, then sections."""

    title: str
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...] = ()

    @property
    def illustrations(self) -> list[Illustration]:
        """All figures."""
        parts = (self.blocks, *(section.blocks for section in self.sections))
        return [block for part in parts for block in part if isinstance(block, Illustration)]

    def html(self) -> str:
        """Return it as HTML."""
        return html(self.title, self.blocks, self.sections)


def picture_file(figure: Illustration) -> str | None:
    """Return the name of a figure's file, if there is a picture."""
    stem = f"figure-{figure.id.lower().replace('.', '')}"
    return f"{stem}.{figure.picture.suffix}" if figure.picture else None


def table_numbers(table: DataTable) -> dict[str, Any]:
    """Return all numbers of a table as plain values."""
    rows = []
    for labels, cells in table.rows:
        values = [{"ours": it.text} if it.values is None else it.values for it in cells]
        named = dict(zip((column.name for column in table.columns), values, strict=True))
        labelled = dict(zip(table.headings, labels, strict=True))
        rows.append({"labels": labelled, "cells": named})
    return {"id": table.id, "title": table.title, "where": table.where, "rows": rows}
