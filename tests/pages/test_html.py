"""Pages as HTML: tables with texts below each other, and text that stays text."""

from typing import Any

from smgrnn.pages.page import Cell, Column, DataTable, Facts, Page, Row, Section, html

NAME = "<img src=x> | \x1b[31m"


def test_text_is_escaped_in_every_place() -> None:
    table = DataTable.of(NAME, (NAME, NAME), [(NAME, NAME)], note=NAME)
    sections = (Section("a", NAME, (table,)),)
    text = html(Page(NAME, (NAME, Facts(((NAME, NAME, NAME),)), table), sections, NAME))
    assert "<img src=x" not in text
    assert "\x1b" not in text


def test_cells_have_texts_below_each_other_and_a_single_column_is_spread() -> None:
    cell = Cell("1.0", ("2.0", "−1.0"), "bad", {"ours": 1.0})
    words: Any = {
        "id": "t",
        "title": "T",
        "headings": ("Task",),
        "keys": ("ours", "paper", "difference"),
    }
    column = Column("a", "A", "what it means")
    one = DataTable(columns=(column,), rows=(Row(("x",), (cell,)),), **words)
    assert [it.text for it in one.spread().rows[0].cells] == ["1.0", "2.0", "−1.0"]
    assert one.to_dict()["rows"] == [{"labels": {"Task": "x"}, "cells": {"a": {"ours": 1.0}}}]
    two = DataTable(
        columns=(column, Column("b", "B")),
        rows=(Row(("x",), (cell, Cell("3"))),),
        **words,
    )
    text = html(Page("P", (two,)))
    assert '<span class="below tone bad" data-key="difference">−1.0</span>' in text
    assert 'title="what it means"' in text
    assert "<span>paper</span>" in text
