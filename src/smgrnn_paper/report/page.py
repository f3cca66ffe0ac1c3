"""The page of a report: sections of paragraphs, tiles, tables and figures."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from smgrnn.pages.page import Block, DataTable, Illustration, html, plain_html


class Facts(NamedTuple):
    """Numbers in large print: the name, value and remark of each."""

    items: tuple[tuple[str, str, str], ...]

    def html(self) -> str:
        """Return them as HTML."""
        tiles = ""
        for name, value, remark in (map(plain_html, item) for item in self.items):
            number = f'{value}<span class="of">{remark}</span>'
            tiles += f'<div class="tile"><dt>{name}</dt><dd>{number}</dd></div>'
        return f'<dl class="tiles">{tiles}</dl>'


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
