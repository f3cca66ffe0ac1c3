"""A report on given runs: the settings that ran, their figures and their curves."""

from collections.abc import Mapping, Sequence

from smgrnn.errors import plain
from smgrnn.runs.record import Record
from smgrnn.text import MISSING, number
from smgrnn_paper.report.comparison import Compared, comparison_table, group_named, settings_table
from smgrnn_paper.report.contents import (
    Illustration,
    Report,
    Section,
    Setup,
    count_warnings,
    overview,
)
from smgrnn_paper.report.figures.frontier import draw_groups
from smgrnn_paper.report.figures.registry import FIGURES, FigureSpec
from smgrnn_paper.report.figures.run_curves import draw_run_curves
from smgrnn_paper.report.figures.style import add_title
from smgrnn_paper.report.frontier import group_runs
from smgrnn_paper.report.paper import Column, load_paper
from smgrnn_paper.report.pictures import take_picture
from smgrnn_paper.report.settings import Stated, own_settings, shared_settings
from smgrnn_paper.report.tables import Entry, Line, ReportTable
from smgrnn_paper.report.wording import METRICS

TITLE = "Runs"
INTRODUCTION = "Runs of smgrnn: the settings that each was trained with, and what came of it."
GUIDE = (
    "Settings are those that the engine got, as each run recorded them. The late return is the "
    "mean over the final quarter of the episodes; held-out returns are of the student that a run "
    "hands over, on episodes that it never trained on.",
)
COLUMNS = (
    *("late_return", "best_return", "convergence_episode", "held_out_mean"),
    *("n_nodes", "n_edges", "net_growth_nodes", "churn_ratio", "seconds"),
)
CURVES = FigureSpec(
    "runs",
    draw_run_curves,
    title="Return, size and agreement over training",
    caption="Return, with the task's threshold; nodes, inputs and outputs included; agreement with "
    "the teacher. A dot is where the job was done: where the mean of 100 returns first reaches the "
    "threshold.",
)


def build_run_report(records: Mapping[str, Record]) -> Report:
    """Return a report on runs, which are given by name."""
    records = {plain(name): record for name, record in records.items()}
    groups = group_named(records)
    shared = shared_settings(record.plan for record in records.values())
    section = Section(
        id="runs",
        title="Runs",
        question="",
        seeds=tuple(sorted({record.plan.seed for record in records.values()})),
        tables=(comparison_table(groups), *_settings_tables(groups), _table(records)),
        illustrations=(_curves(groups), *_frontier(records)),
        setups=tuple(
            Setup.of(name, [record], 1, record.plan, _own(record, shared))
            for name, record in records.items()
        ),
        shared=shared,
        warnings=count_warnings(records.values()),
    )
    found = overview(list(records.values()), (section,))
    return Report(found, None, (), (section,), TITLE, INTRODUCTION, GUIDE)


def _own(record: Record, shared: dict[str, Stated]) -> Stated:
    return own_settings([record.plan], shared) | {"seed": str(record.plan.seed)}


def _table(records: Mapping[str, Record]) -> ReportTable:
    columns = tuple(Column(name, METRICS[name].word.capitalize()) for name in COLUMNS)
    return ReportTable(
        id="figures",
        title="Figures of the runs",
        headings=("Run", "Task", "Student", "Seed"),
        columns=columns,
        lines=tuple(
            Line(
                (name, record.plan.task.id, record.plan.student, str(record.plan.seed)),
                tuple(Entry(column, _figure(record, column.name)) for column in columns),
            )
            for name, record in records.items()
            if record.episodes.n
        ),
    )


def _figure(record: Record, name: str) -> str:
    value = record.summary()[name]
    return MISSING if value is None else number(value, METRICS[name].decimals)


def _settings_tables(groups: Sequence[Compared]) -> list[ReportTable]:
    table = settings_table(groups)
    return [table] if table.lines else []


def _curves(groups: Sequence[Compared]) -> Illustration:
    drawn = CURVES.draw_panels({each.name: each.records for each in groups})
    add_title(drawn, CURVES.heading)
    return Illustration(CURVES.id, CURVES.title, CURVES.caption, take_picture(drawn))


def _frontier(records: Mapping[str, Record]) -> list[Illustration]:
    groups = group_runs(records.values())
    if not groups:
        return []
    drawn = draw_groups(groups, load_paper())
    spec = FIGURES["frontier"]
    add_title(drawn, spec.heading)
    return [Illustration(spec.id, spec.title, spec.caption, take_picture(drawn))]
