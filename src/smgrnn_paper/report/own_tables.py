"""Tables that we add, on what the paper draws or leaves open without printing numbers.

Paper: Fig. 3 (baselines), Fig. 8 (final topologies), Appendix A-B (the grid).  Titles, columns and
notes are in `words.toml`.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from smgrnn.batch import AnyCondition, Experiment
from smgrnn.experts import shipped_experts
from smgrnn.pages.page import Cell, Column, DataTable, Row
from smgrnn.runs.plan import Plan
from smgrnn.text import MISSING, number
from smgrnn_paper.experiments.paper import GRID_TASK, OTHER_TEACHERS, STUDENTS, TASKS
from smgrnn_paper.report.paper import METRICS, WORDS, Paper, Printed, metric_columns
from smgrnn_paper.report.results import Results, Runs, base_name
from smgrnn_paper.report.tables import SYMBOLS, Measured, effects_of_settings, entries, report_table

BASELINES = ("smgrnn", "static", "mlp-100", "mlp-100-no-bias", "mlp-200", "neat", "ndp")
SHOWN = 5
"""Points of the grid that are shown, from the best."""


def metrics_of(id: str) -> tuple[Column, ...]:
    """Return the columns of one of our tables."""
    return metric_columns(WORDS["tables"][id]["metrics"])


def make_table(id: str, rows: Iterable[Any], **changes: Any) -> DataTable:
    """Return one of our tables, whose words are in `words.toml`."""
    words = {name: it for name, it in WORDS["tables"][id].items() if name != "metrics"} | changes
    return report_table(**{"id": id, "columns": metrics_of(id), "rows": rows, **words})


def own_tables(experiment: Experiment, results: Results, paper: Paper) -> list[DataTable]:
    """Return the tables that we add to an experiment of the paper, or to ours on teachers."""
    tables: dict[str, tuple[Callable[[Results, Paper], DataTable], ...]] = {
        "baseline-comparison": (baselines,),
        "final-topologies": (final_topologies,),
        "hyperparameter-grid": (best_of_grid, lambda results, _: effects_of_settings(results)),
        "teachers": (by_teacher,),
    }
    return [make(results, paper) for make in tables.get(base_name(experiment), ())]


def baselines(results: Results, _: Paper) -> DataTable:
    """Return the results and sizes of each kind of network on each task."""
    columns, rows = metrics_of("baselines"), list(product(TASKS, BASELINES))
    return make_table(
        "baselines", [(pair, entries(results.find(*pair).table, columns)) for pair in rows]
    )


def final_topologies(results: Results, _: Paper) -> DataTable:
    """Return the measures of the final graphs on each task."""
    columns = metrics_of("topologies")
    found = {task: results.find(task, "smgrnn").table for task in TASKS}
    return make_table("topologies", [((it,), entries(found[it], columns)) for it in TASKS])


def best_of_grid(results: Results, paper: Paper) -> DataTable:
    """Return the best points of the grid and those that the paper names.

    They are ranked as in the paper: by late return, then by how little it varies over seeds, then
    by size.
    """
    experiment = results.every["hyperparameter-grid"]
    found = {name: results.runs(experiment, name) for name in experiment.conditions}

    def merit(name: str) -> tuple[float, float, float]:
        returns, nodes = found[name].values("late_return"), found[name].values("n_nodes")
        return -float(returns.mean()), float(returns.var()), float(nodes.mean())

    def rules(condition: AnyCondition) -> Any:
        plan = condition.plan(0)
        return plan.plasticity if isinstance(plan, Plan) else None

    ranked = sorted((name for name, runs in found.items() if runs.records), key=merit)
    defaults = rules(results.find(GRID_TASK, "smgrnn").condition)
    stated: dict[str, dict[str, Printed]] = {}
    for it in paper.statements:
        stated.setdefault(it.condition, {})[it.metric] = it
    rows = []
    for rank, name in enumerate(ranked, 1):
        is_default = rules(experiment.conditions[name]) == defaults
        named = "paper's best" if name in stated else "shared defaults" if is_default else ""
        if rank <= SHOWN or named:
            point = dict(part.split("=") for part in name.split(","))
            labels = (str(rank), *(point[setting] for setting in SYMBOLS), named)
            rows.append((labels, entries(found[name], metrics_of("grid"), stated.get(name, {}))))
    note = f"{len(ranked)} of {len(experiment.conditions)} points have run."
    return make_table("grid", rows, note=note)


def by_teacher(results: Results, _: Paper) -> DataTable:
    """Return the late returns on each task: a row for each student, a column for each teacher."""
    own = {name: float(it["held_out"]["mean"]) for name, it in shipped_experts().items()}
    decimals, rows = METRICS["late_return"].decimals, []
    names = [name.removeprefix(f"{TASKS[0]}-") for name in _by_teacher(results, TASKS[0], "static")]
    for task in TASKS:
        cells = [Cell(number(own[f"{task}-{name}"], decimals)) for name in names]
        rows.append(Row((task, "the teacher"), tuple(cells)))
        for student in STUDENTS:
            cells = []
            for runs in _by_teacher(results, task, student).values():
                late = Measured.of(runs.values("late_return"))
                text = late.text(decimals) if late else MISSING
                cells.append(Cell(text, values={"ours": late and late.to_dict()}))
            rows.append(Row((task, student), tuple(cells)))
    words, columns = WORDS["tables"]["teachers"], tuple(Column(name, name) for name in names)
    return DataTable(id="teachers", columns=columns, rows=tuple(rows), **words)


def _by_teacher(results: Results, task: str, student: str) -> dict[str, Runs]:
    """Return the runs of a student on a task by the names of their teachers."""
    samples = [results.find(task, f"{student}{end}") for end in ("", *OTHER_TEACHERS)]
    return {name: runs.taught_by(name) for runs in samples for name in runs.condition.teachers}
