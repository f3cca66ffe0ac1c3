"""Pages as HTML: tables with texts below each other, and text that stays text."""

from smgrnn.pages.page import Cell, Column, DataTable, Row, html
from smgrnn_paper.report.page import Facts, Notice, Page, Section, table_numbers

NAME = "<img src=x> | \x1b[31m"


def test_text_is_escaped_in_every_place() -> None:
    table = DataTable.of(NAME, (NAME, NAME), [(NAME, NAME)], note=NAME)
    blocks = (NAME, Notice(NAME), Facts(((NAME, NAME, NAME),)), table)
    text = Page(NAME, blocks, (Section("a", NAME, blocks),)).html()
    assert "<img src=x" not in text
    assert "\x1b" not in text


def test_cells_have_texts_below_each_other_and_the_last_has_the_tone() -> None:
    cell = Cell("1.0", ("2.0", "−1.0"), "bad", {"ours": 1.0})
    table = DataTable(
        id="t",
        title="T",
        headings=("Task",),
        columns=(Column("a", "A", "what it means"),),
        rows=(Row(("x",), (cell,)),),
    )
    [row] = table_numbers(table)["rows"]
    assert row == {"labels": {"Task": "x"}, "cells": {"a": {"ours": 1.0}}}
    text = html("P", [table])
    shown = '<span class="first">1.0</span><span class="below">2.0</span>'
    assert f'{shown}<span class="below tone bad">−1.0</span>' in text
    assert 'title="what it means"' in text
