"""Pages as HTML: tables with texts below each other, and text that stays text."""

from smgrnn.pages.page import Cell, Column, DataTable, Row, html
from smgrnn_paper.report.page import Fold, Notice, Page, Points, Section, Tally, table_numbers

NAME = "<img src=x> | \x1b[31m"


def test_text_is_escaped_in_every_place() -> None:
    table = DataTable.of(NAME, (NAME, NAME), [(NAME, NAME)], note=NAME)
    points = Points(NAME, NAME, ((NAME, NAME, ((Cell(NAME), NAME),)),))
    blocks = (NAME, Tally(NAME, ((NAME, 1, "good"),), NAME), points, Fold(NAME, (NAME,)), table)
    text = Page(NAME, (Notice(NAME), *blocks), (Section("a", NAME, (table,)),)).html()
    assert "<img src=x" not in text
    assert "\x1b" not in text


def test_an_interval_is_drawn_beside_its_text() -> None:
    cell = Cell("0.75", span=(0.5, 0.75, 1.0))
    column = (Column("a", "A"),)
    table = DataTable(id="t", title="", headings=(), columns=column, rows=(Row((), (cell,)),))
    assert 'style="--low: 50%; --at: 75%; --high: 100%"' in html("P", [table])


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
