"""Tables of our own, on comparisons, drawings and searches without printed numbers in the paper.

Paper: Fig. 3 (baselines), Fig. 8 (final topologies), Appendix A-B (the grid).
"""

from collections.abc import Sequence
from dataclasses import replace

from smgrnn.batch import AnyCondition, Experiment
from smgrnn.config import PlasticityConfig
from smgrnn.runs.plan import Plan
from smgrnn_paper.experiments import STUDIES
from smgrnn_paper.experiments.beyond import BEYOND
from smgrnn_paper.experiments.paper import GRID_TASK, TASKS
from smgrnn_paper.report.beyond_tables import beyond_tables
from smgrnn_paper.report.calibration import calibration_tables
from smgrnn_paper.report.frontier_tables import frontier_tables
from smgrnn_paper.report.paper import Cell, Column, Paper
from smgrnn_paper.report.results import Results, base_name
from smgrnn_paper.report.statistics import probability_of_improvement
from smgrnn_paper.report.tables import Entry, Line, ReportTable, measured_entries
from smgrnn_paper.report.teacher_tables import teacher_tables
from smgrnn_paper.report.wording import METRICS, SYMBOLS

BASELINES = ("smgrnn", "static", "mlp-100", "mlp-100-no-bias", "mlp-200", "neat", "ndp")
BASELINE_METRICS = ("late_return", "held_out_mean", "n_parameters", "seconds")
EARLY_METRICS = ("early_lost", "convergence_episode", "sustained_episode")
IMPROVEMENT_METRICS = ("late_return", "held_out_mean")
TOPOLOGY_METRICS = (
    *("n_nodes", "n_edges", "sparsity", "centralisation"),
    *("skip_edges", "feedback_edges", "relay_paths"),
)
GRID_METRICS = ("late_return", "n_nodes")
SHOWN = 10
"""Points of the grid that are shown, from the best."""


def own_tables(experiment: Experiment, results: Results, paper: Paper) -> list[ReportTable]:
    """Return our own tables about an experiment; most have none."""
    name = base_name(experiment)
    if name == "growth-ablation":
        return [early_episodes(results)]
    if name == "baseline-comparison":
        return [baselines(results), improvements(results)]
    if name == "final-topologies":
        return [final_topologies(results)]
    if name == "hyperparameter-grid":
        return [best_of_grid(results, paper)]
    if name == "teachers":
        return teacher_tables(experiment, results)
    if name == "frontier":
        return frontier_tables(experiment, results, paper)
    if experiment.id in BEYOND:
        return beyond_tables(experiment, results)
    if experiment.id in STUDIES:
        return calibration_tables(experiment, results, paper)
    return []


def at_a_glance(results: Results, paper: Paper) -> ReportTable:
    """Return the main numbers of the growing network, one line per task."""
    sources = {"late_return": "II", "n_nodes": "A.VI", "n_edges": "II"}
    columns = _columns(("late_return", "n_nodes", "late_nodes", "n_edges", "late_edges"))
    lines = []
    for task in TASKS:
        entries = measured_entries(results.find(task, "smgrnn").table, columns)
        cells = {
            name: paper.tables[id].cell(f"{task}/smgrnn", name) for name, id in sources.items()
        }
        beside = (replace(entry, printed=cells.get(entry.column.name)) for entry in entries)
        lines.append(Line((task,), tuple(beside)))
    return ReportTable(
        id="glance",
        title="The growing network at a glance",
        headings=("Task",),
        columns=columns,
        lines=tuple(lines),
    )


def early_episodes(results: Results) -> ReportTable:
    """Return how soon the growing network is good, beside the one that does not grow."""
    columns = (*_columns(EARLY_METRICS), Column("more", "Lost more often than static"))
    lines = []
    for task in TASKS:
        static = results.find(task, "static").values("early_lost")
        for name in ("smgrnn", "static"):
            runs = results.find(task, name)
            entries = measured_entries(runs, columns[:-1])
            lost = runs.values("early_lost")
            is_told = name != "static" and lost.size and static.size
            more = probability_of_improvement([static], [lost]) if is_told else None
            lines.append(Line((task, name), (*entries, Entry(columns[-1], more))))
    return ReportTable(
        id="early",
        title="The first hundred episodes",
        headings=("Task", "Condition"),
        columns=columns,
        lines=tuple(lines),
        note="A growing network explores at random from its first call on, also while the windows "
        "that judge its edges fill. The last column is the probability that a run of it loses more "
        "of the first 100 episodes than one that does not grow: 0.5 is no difference. The paper "
        "prints nothing on this.",
    )


def baselines(results: Results) -> ReportTable:
    """Return a table of the results and sizes of each kind of network on each task."""
    columns = _columns(BASELINE_METRICS)
    return ReportTable(
        id="baselines",
        title="Growing, fixed and evolved networks",
        headings=("Task", "Condition"),
        columns=columns,
        lines=tuple(_line(results, task, name, columns) for task in TASKS for name in BASELINES),
        note="The late return of NEAT and NDP is over the best of each of the final quarter of the "
        "generations, each of which is one lucky episode; held-out returns compare like with like. "
        "The paper draws this comparison (Fig. 3) and prints no numbers.",
    )


def improvements(results: Results) -> ReportTable:
    """Return how probable it is that the growing network exceeds each of the others."""
    columns = _columns(IMPROVEMENT_METRICS)
    return ReportTable(
        id="improvements",
        title="Probability that the growing network is better",
        headings=("Than",),
        columns=columns,
        lines=tuple(
            Line((name,), tuple(_improvement(results, name, column) for column in columns))
            for name in BASELINES
            if name != "smgrnn"
        ),
        note="That a run of the growing network exceeds one of the other on the same task, the "
        "mean over the three tasks with Wilson’s 95 % interval: 0.5 is no difference. It is over "
        "all seeds, as claims are.",
    )


def final_topologies(results: Results) -> ReportTable:
    """Return a table that describes the final graphs on each task."""
    columns = _columns(TOPOLOGY_METRICS)
    return ReportTable(
        id="topologies",
        title="Structure of the final networks",
        headings=("Task", "Condition"),
        columns=columns,
        lines=tuple(_line(results, task, "smgrnn", columns) for task in TASKS),
        note="The paper shows one network per task; these are the measures of all of them.",
    )


def best_of_grid(results: Results, paper: Paper) -> ReportTable:
    """Return the best points of the grid and those that the paper names.

    They are ranked as in the paper: by late return, then by how little it varies over seeds, then
    by size.
    """
    experiment = results.every["hyperparameter-grid"]
    ranked, named = rank_grid(experiment, results), _named_points(experiment, results, paper)
    shown = [name for rank, name in enumerate(ranked) if rank < SHOWN or name in named]
    columns = _columns(GRID_METRICS)
    lines = []
    for name in shown:
        values = dict(part.split("=") for part in name.split(","))
        point = (values[setting] for setting in SYMBOLS)
        labels = (str(ranked.index(name) + 1), *point, named.get(name, ""))
        entries = measured_entries(results.runs(experiment, name), columns)
        lines.append(Line(labels, tuple(_beside_text(entry, name, paper) for entry in entries)))
    return ReportTable(
        id="grid",
        title="Best settings of the grid",
        headings=("Rank", *SYMBOLS.values(), "Named"),
        columns=columns,
        lines=tuple(lines),
        note=f"{len(ranked)} of {len(experiment.conditions)} points have run.",
    )


def rank_grid(experiment: Experiment, results: Results) -> list[str]:
    """Return the points of the grid that have run, the best first."""
    found = {name: results.runs(experiment, name) for name in experiment.conditions}

    def merit(name: str) -> tuple[float, float, float]:
        returns, nodes = found[name].values("late_return"), found[name].values("n_nodes")
        return -float(returns.mean()), float(returns.var()), float(nodes.mean())

    return sorted((name for name, runs in found.items() if runs.records), key=merit)


def _named_points(experiment: Experiment, results: Results, paper: Paper) -> dict[str, str]:
    """Return the names of special points of the grid: our shared defaults and the paper's best."""
    defaults = _rules(results.find(GRID_TASK, "smgrnn").condition)
    named = {
        name: "shared defaults"
        for name, condition in experiment.conditions.items()
        if _rules(condition) == defaults
    }
    stated = {each.condition: "paper's best" for each in paper.statements}
    return named | {name: stated[name] for name in experiment.conditions if name in stated}


def _rules(condition: AnyCondition) -> PlasticityConfig | None:
    plan = condition.plan(0)
    return plan.plasticity if isinstance(plan, Plan) else None


def _beside_text(entry: Entry, condition: str, paper: Paper) -> Entry:
    """Return a cell with the number that the paper's running text states for it, if it does."""
    for stated in paper.statements:
        if (stated.condition, stated.metric) == (condition, entry.column.name):
            return replace(entry, printed=Cell(condition, stated.metric, stated.printed))
    return entry


def _improvement(results: Results, other: str, column: Column) -> Entry:
    """Return the probability of improvement over a baseline, if both have run on every task."""
    theirs, ours = (
        [results.find(task, name).values(column.name) for task in TASKS]
        for name in (other, "smgrnn")
    )
    if not all(values.size for values in (*theirs, *ours)):
        return Entry(column, None)
    return Entry(column, probability_of_improvement(theirs, ours))


def _line(results: Results, task: str, condition: str, columns: Sequence[Column]) -> Line:
    return Line((task, condition), measured_entries(results.find(task, condition).table, columns))


def _columns(metrics: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(name, METRICS[name].word.capitalize()) for name in metrics)
