"""Tables that we add, on what the paper draws or leaves open without printing numbers.

Paper: Fig. 3 (baselines), Fig. 8 (final topologies), Appendix A-B (the grid).  Titles, columns and
notes are in `words.toml`.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from smgrnn.batch import AnyCondition, Experiment
from smgrnn.experts import shipped_experts
from smgrnn.pages.page import Column, DataTable
from smgrnn.runs.plan import Plan
from smgrnn.runs.stage_scores import FIGURES as SEQUENCE_FIGURES
from smgrnn.text import number
from smgrnn_paper.experiments.paper import GRID_TASK, SMOOTH, STUDENTS, TASKS, TEACHERS
from smgrnn_paper.report.paper import WORDS, Paper, Printed, metric_columns, read_data
from smgrnn_paper.report.results import Results, Runs, base_name, short_name
from smgrnn_paper.report.statistics import probability_of_improvement
from smgrnn_paper.report.tables import (
    SYMBOLS,
    Entry,
    Measured,
    effects_of_settings,
    entries,
    report_table,
)

BASELINES = ("smgrnn", "static", "mlp-100", "mlp-100-no-bias", "mlp-200", "neat", "ndp")
SHOWN = 10
"""Points of the grid that are shown, from the best."""
COLUMNS = {id: metric_columns(words["metrics"]) for id, words in WORDS["tables"].items()}
"""The metrics of each table."""


def _table(key: str, rows: Iterable[Any], *more: Column, **changes: Any) -> DataTable:
    words = {name: it for name, it in WORDS["tables"][key].items() if name != "metrics"} | changes
    return report_table(**{"id": key, "columns": (*COLUMNS[key], *more), "rows": rows, **words})


def _measured(id: str, runs: Iterable[tuple[tuple[str, ...], Runs]]) -> DataTable:
    return _table(id, [(labels, entries(found, COLUMNS[id])) for labels, found in runs])


def own_tables(experiment: Experiment, results: Results, paper: Paper) -> list[DataTable]:
    """Return the tables that we add to an experiment of the paper, or to ours on teachers."""
    tables: dict[str, tuple[Callable[[Results, Paper], DataTable], ...]] = {
        "growth-ablation": (early_episodes,),
        "baseline-comparison": (baselines, improvements),
        "final-topologies": (final_topologies,),
        "hyperparameter-grid": (best_of_grid, lambda results, _: effects_of_settings(results)),
        "teachers": (by_teacher,),
    }
    return [make(results, paper) for make in tables.get(base_name(experiment), ())]


def at_a_glance(results: Results, paper: Paper) -> DataTable:
    """Return the main numbers of the growing network, one row per task."""
    sources = {"late_return": "II", "n_nodes": "A.VI", "n_edges": "II"}
    rows = []
    for task in TASKS:
        row, runs = f"{task}/smgrnn", results.find(task, "smgrnn").table
        printed = {name: paper.tables[id].cell(row, name) for name, id in sources.items()}
        rows.append(((task,), entries(runs, COLUMNS["glance"], printed)))
    return _table("glance", rows)


def early_episodes(results: Results, _: Paper) -> DataTable:
    """Return how soon the growing network is good, beside the one that does not grow."""
    columns, more, rows = COLUMNS["early"], Column("more", "Lost more often than static"), []
    for task in TASKS:
        grown, static = (results.find(task, name) for name in ("smgrnn", "static"))
        lost = [runs.values("early_lost") for runs in (static, grown)]
        is_there = all(values.size for values in lost)
        chance = probability_of_improvement(*([it] for it in lost)) if is_there else None
        rows.append(((task, "smgrnn"), [*entries(grown, columns), Entry.of(more, chance)]))
        rows.append(((task, "static"), [*entries(static, columns), Entry.of(more, None)]))
    return _table("early", rows, more)


def baselines(results: Results, _: Paper) -> DataTable:
    """Return the results and sizes of each kind of network on each task."""
    pairs = product(TASKS, BASELINES)
    return _measured("baselines", [(pair, results.find(*pair).table) for pair in pairs])


def improvements(results: Results, _: Paper) -> DataTable:
    """Return how probable it is that the growing network exceeds each of the others."""

    def entry(other: str, column: Column) -> Entry:
        theirs, ours = (
            [results.find(task, name).values(column.name) for task in TASKS]
            for name in (other, "smgrnn")
        )
        has_all = all(values.size for values in (*theirs, *ours))
        return Entry.of(column, probability_of_improvement(theirs, ours) if has_all else None)

    columns = COLUMNS["improvements"]
    rows = [((other,), [entry(other, it) for it in columns]) for other in BASELINES[1:]]
    return _table("improvements", rows)


def final_topologies(results: Results, _: Paper) -> DataTable:
    """Return the measures of the final graphs on each task."""
    found = [((task, "smgrnn"), results.find(task, "smgrnn").table) for task in TASKS]
    return _measured("topologies", found)


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
            rows.append((labels, entries(found[name], COLUMNS["grid"], stated.get(name, {}))))
    note = f"{len(ranked)} of {len(experiment.conditions)} points have run."
    return _table("grid", rows, note=note)


def by_teacher(results: Results, _: Paper) -> DataTable:
    """Return the returns on each task, for each student by its teacher."""
    own = {name: float(it["held_out"]["mean"]) for name, it in shipped_experts().items()}
    rows = []
    for task, student in product(TASKS, STUDENTS):
        three, smooth = (results.find(task, f"{student}{end}") for end in ("", SMOOTH))
        mean = float(np.mean([own[name] for name in TEACHERS[task]]))
        found = [("all three", mean, three)]
        found += [(name, own[name], three.taught_by(name)) for name in TEACHERS[task]]
        found.append((f"{task}-smooth", own[f"{task}-smooth"], smooth))
        for name, its_own, runs in found:
            labels = task, student, name.removeprefix(f"{task}-"), number(its_own, 1)
            rows.append((labels, runs))
    return _measured("teachers", rows)


def every_condition(experiment: Experiment, results: Results) -> DataTable:
    """Return all conditions of a question beyond the paper, over all of their seeds."""
    name, columns = base_name(experiment), COLUMNS["all"]
    if name == "task-sequences":  # the last three are of the last stage
        columns = metric_columns((*SEQUENCE_FIGURES, "early_lost", "late_edges", "seconds"))
    rows = [
        ((it.task, short_name(it, each)), entries(results.runs(experiment, each), columns))
        for each, it in experiment.conditions.items()
    ]
    if name == "credit-assignment":
        for task, returns in gru_returns().items():
            late = Measured.of(np.array(returns))
            cells = [Entry.of(it, late if it.name == "late_return" else None) for it in columns]
            rows.append(((task, "gru"), cells))
    return _table("all", rows, id=f"{name}-all", columns=columns)


def gru_returns() -> dict[str, list[float]]:
    """Return the late returns of the GRU by task, one for each seed."""
    found: dict[str, list[float]] = read_data("gru.toml")["late_return"]
    return found
