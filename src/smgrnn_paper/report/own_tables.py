"""Tables that we add, on what the paper draws or leaves open without printing numbers.

Paper: Fig. 3 (baselines), Fig. 8 (final topologies), Appendix A-B (the grid).
"""

from typing import Any

import numpy as np

from smgrnn.batch import AnyCondition, Experiment
from smgrnn.experts import shipped_experts
from smgrnn.pages.page import Column, Table
from smgrnn.runs.course import FIGURES as SEQUENCE_FIGURES
from smgrnn.runs.plan import Plan
from smgrnn.text import number
from smgrnn_paper.experiments.paper.hyperparameter_grid import TASK as GRID_TASK
from smgrnn_paper.experiments.paper.protocol import TASKS, TEACHERS
from smgrnn_paper.experiments.teachers import SMOOTH, STUDENTS
from smgrnn_paper.report.paper import Paper, PrintedCell, metric_columns, read_data
from smgrnn_paper.report.results import Results, base_name, short_name
from smgrnn_paper.report.statistics import probability_of_improvement
from smgrnn_paper.report.tables import SYMBOLS, Entry, Measured, entries, report_table

BASELINES = ("smgrnn", "static", "mlp-100", "mlp-100-no-bias", "mlp-200", "neat", "ndp")
SHOWN = 10
"""Points of the grid that are shown, from the best."""
ALL_THREE = "all three"


def at_a_glance(results: Results, paper: Paper) -> Table:
    """Return the main numbers of the growing network, one line per task."""
    sources = {"late_return": "II", "n_nodes": "A.VI", "n_edges": "II"}
    columns = metric_columns(("late_return", "n_nodes", "late_nodes", "n_edges", "late_edges"))
    rows = []
    for task in TASKS:
        row = f"{task}/smgrnn"
        printed = {name: paper.tables[id].cell(row, name) for name, id in sources.items()}
        rows.append(((task,), entries(results.find(task, "smgrnn").table, columns, printed)))
    title = "The growing network at a glance"
    return report_table("glance", title, ("Task",), columns, rows)


def own_tables(experiment: Experiment, results: Results, paper: Paper) -> list[Table]:
    """Return the tables that we add to an experiment of the paper, or to ours on teachers."""
    found = {
        "growth-ablation": lambda: [early_episodes(results)],
        "baseline-comparison": lambda: [baselines(results), improvements(results)],
        "final-topologies": lambda: [final_topologies(results)],
        "hyperparameter-grid": lambda: [best_of_grid(results, paper)],
        "teachers": lambda: [by_teacher(experiment, results)],
    }
    name = base_name(experiment)
    return found[name]() if name in found else []


def early_episodes(results: Results) -> Table:
    """Return how soon the growing network is good, beside the one that does not grow."""
    columns = metric_columns(("early_lost", "convergence_episode", "sustained_episode"))
    more, rows = Column("more", "Lost more often than static"), []
    for task in TASKS:
        grown, static = (results.find(task, name) for name in ("smgrnn", "static"))
        lost = [runs.values("early_lost") for runs in (static, grown)]
        is_there = all(values.size for values in lost)
        chance = probability_of_improvement(*([it] for it in lost)) if is_there else None
        rows.append(((task, "smgrnn"), [*entries(grown, columns), Entry.of(more, chance)]))
        rows.append(((task, "static"), [*entries(static, columns), Entry.of(more, None)]))
    return report_table(
        "early",
        "The first hundred episodes",
        ("Task", "Condition"),
        (*columns, more),
        rows,
        note="A growing network explores at random from its first call on. The last column is the "
        "probability that a run of it loses more of the first 100 episodes than one that does not "
        "grow: 0.5 is no difference. The paper prints nothing on this.",
    )


def baselines(results: Results) -> Table:
    """Return the results and sizes of each kind of network on each task."""
    columns = metric_columns(("late_return", "held_out_mean", "n_parameters", "seconds"))
    pairs = [(task, name) for task in TASKS for name in BASELINES]
    return report_table(
        "baselines",
        "Growing, fixed and evolved networks",
        ("Task", "Condition"),
        columns,
        [(pair, entries(results.find(*pair).table, columns)) for pair in pairs],
        note="The late return of NEAT and NDP is over the best of each of the final quarter of the "
        "generations, each of which is one lucky episode; held-out returns compare like with like. "
        "The paper draws this comparison (Fig. 3) and prints no numbers.",
    )


def improvements(results: Results) -> Table:
    """Return how probable it is that the growing network exceeds each of the others."""
    columns = metric_columns(("late_return", "held_out_mean"))
    rows = []
    for other in BASELINES[1:]:
        cells = []
        for column in columns:
            theirs, ours = (
                [results.find(task, name).values(column.name) for task in TASKS]
                for name in (other, "smgrnn")
            )
            has_all = all(values.size for values in (*theirs, *ours))
            found = probability_of_improvement(theirs, ours) if has_all else None
            cells.append(Entry.of(column, found))
        rows.append(((other,), cells))
    return report_table(
        "improvements",
        "Probability that the growing network is better",
        ("Than",),
        columns,
        rows,
        note="That a run of the growing network exceeds one of the other on the same task, the "
        "mean over the three tasks with Wilson’s 95 % interval: 0.5 is no difference. It is over "
        "all seeds, as claims are.",
    )


def final_topologies(results: Results) -> Table:
    """Return the measures of the final graphs on each task."""
    sizes = ("n_nodes", "n_edges", "sparsity", "centralisation")
    columns = metric_columns((*sizes, "skip_edges", "feedback_edges", "relay_paths"))
    return report_table(
        "topologies",
        "Structure of the final networks",
        ("Task", "Condition"),
        columns,
        [((it, "smgrnn"), entries(results.find(it, "smgrnn").table, columns)) for it in TASKS],
        note="The paper shows one network per task; these are the measures of all of them.",
    )


def best_of_grid(results: Results, paper: Paper) -> Table:
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
    named = {
        n: "shared defaults" for n, it in experiment.conditions.items() if rules(it) == defaults
    }
    stated = {(it.condition, it.metric): it.printed for it in paper.statements}
    named |= {name: "paper's best" for name, _ in stated if name in experiment.conditions}
    columns, rows = metric_columns(("late_return", "n_nodes")), []
    for rank, name in enumerate(ranked):
        if rank < SHOWN or name in named:
            point = dict(part.split("=") for part in name.split(","))
            labels = (str(rank + 1), *(point[setting] for setting in SYMBOLS), named.get(name, ""))
            printed = {
                metric: PrintedCell(name, metric, text)
                for (point_name, metric), text in stated.items()
                if point_name == name
            }
            rows.append((labels, entries(found[name], columns, printed)))
    return report_table(
        "grid",
        "Best settings of the grid",
        ("Rank", *SYMBOLS.values(), "Named"),
        columns,
        rows,
        note=f"{len(ranked)} of {len(experiment.conditions)} points have run.",
    )


def by_teacher(experiment: Experiment, results: Results) -> Table:
    """Return the returns on each task, for each student by its teacher."""
    columns, rows = metric_columns(("late_return", "held_out_mean")), []
    shipped = shipped_experts()
    for task in TASKS:
        own = {name: float(shipped[name]["held_out"]["mean"]) for name in TEACHERS[task]}
        for student in STUDENTS:
            three = results.runs(experiment, f"{task}/{student}")
            smooth = results.runs(experiment, f"{task}/{student}{SMOOTH}")
            best = float(shipped[f"{task}-smooth"]["held_out"]["mean"])
            found = [(ALL_THREE, float(np.mean(list(own.values()))), three)]
            found += [
                ("-".join(it.split("-")[2:]), own[it], three.taught_by(it)) for it in TEACHERS[task]
            ]
            for teacher, mean, runs in (*found, ("smooth", best, smooth)):
                labels = (task, student, teacher, number(mean, 1))
                rows.append((labels, entries(runs, columns)))
    return report_table(
        "teachers",
        "Returns by teacher",
        ("Task", "Student", "Teacher", "Its own return"),
        columns,
        rows,
        note="Over all seeds, which take the three teachers in turn. No student had a say in "
        "these; the smooth experts were chosen by what MLP students made of them. A teacher's own "
        "return is over 100 held-out episodes.",
    )


def every_condition(experiment: Experiment, results: Results) -> Table:
    """Return all conditions of a question beyond the paper, over all of their seeds."""
    name = base_name(experiment)
    metrics: tuple[str, ...] = ("late_return", "held_out_mean", "late_edges", "seconds")
    if name == "task-sequences":  # the last three are of the last stage
        metrics = (*SEQUENCE_FIGURES, "early_lost", "late_edges", "seconds")
    columns = metric_columns(metrics)
    rows = [
        ((it.task, short_name(it, each)), entries(results.runs(experiment, each), columns))
        for each, it in experiment.conditions.items()
    ]
    if name == "credit-assignment":
        for task, returns in gru_returns().items():
            late = Measured.of(np.array(returns))
            cells = [Entry.of(it, late if it.name == "late_return" else None) for it in columns]
            rows.append(((task, "gru"), cells))
    return report_table(f"{name}-all", "Every condition", ("Task", "Condition"), columns, rows)


def gru_returns() -> dict[str, list[float]]:
    """Return the late returns of the GRU by task, one for each seed."""
    found: dict[str, list[float]] = read_data("gru.toml")["late_return"]
    return found
