"""`smgrnn frontier`: return against parameters, for any runs side by side."""

from collections.abc import Iterable
from pathlib import Path

from smgrnn.batch import Store
from smgrnn.commands.compare import describe_table
from smgrnn.commands.flags import STORE
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError, suggest
from smgrnn.pages.page import Cell, Column, Row, Table
from smgrnn.runs.folder import load_runs
from smgrnn.runs.record import Record
from smgrnn_paper.report.figures.frontier import draw_groups
from smgrnn_paper.report.frontier import group_runs
from smgrnn_paper.report.frontier_tables import frontier_numbers, frontier_table
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.pictures import check_picture, save_picture
from smgrnn_paper.report.results import describe_shortness, find_results
from smgrnn_paper.report.tables import ReportTable

EXPERIMENT = "frontier"
"""The experiment that is shown if no runs are given."""
LEFT_OUT = ("std", "nearest_mlp")
"""Columns of the report's table for which a terminal has no room."""


def frontier_command(
    paths: Iterable[Path],
    store_folder: Path,
    out: Path | None,
    task: str | None,
    output: Output,
) -> None:
    """Compare runs, or the experiment in a store: print a table or JSON, and draw a picture."""
    if out is not None:
        check_picture(out)
    records, shortness = _find(list(paths), store_folder)
    groups = group_runs(records)
    if task is not None:
        known = {each.task: None for each in groups}
        if task not in known:
            raise ConfigError(f"There is no run of {task}. {suggest(task, known)}".strip())
        groups = [each for each in groups if each.task == task]
    paper = load_paper()
    if out is not None:
        save_picture(draw_groups(groups, paper), out)
    output.result(
        f"{shortness}{describe_table(_plain(frontier_table(groups, paper)), LEFT_OUT)}"
        + ("" if out is None else f"\nThe picture is in {out}."),
        {**frontier_numbers(groups, paper), "picture": None if out is None else str(out)},
    )


def _plain(table: ReportTable) -> Table:
    return Table(
        id=table.id,
        title=table.title,
        headings=table.headings,
        columns=tuple(Column(it.name, it.heading) for it in table.columns),
        rows=tuple(Row(it.labels, tuple(Cell(e.text) for e in it.entries)) for it in table.lines),
        note=table.note,
    )


def _find(paths: list[Path], store_folder: Path) -> tuple[list[Record], str]:
    """Return the finished runs at these paths or, if there are none, of the experiment.

    With the experiment's comes a line on how much shorter they are than it asks for.
    """
    shortness = ""
    if paths:
        if store_folder != STORE:
            raise ConfigError("--store is for the experiment: leave it out where runs are named.")
        records = list(load_runs(paths).values())
        refusal = "None of these runs is finished: only then is a student judged and handed over."
    else:
        results = find_results(Store(store_folder), [EXPERIMENT])
        records = results.all_records()
        if said := describe_shortness(results.chosen):
            shortness = f"{said}\n"
        refusal = (
            f"{store_folder} has no finished run of the experiment {EXPERIMENT}; name runs, or run "
            f"`smgrnn reproduce {EXPERIMENT}` first."
        )
    finished = [record for record in records if record.held_out.size]
    if not finished:
        raise ConfigError(refusal)
    return finished, shortness
