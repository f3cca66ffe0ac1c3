"""Registry: the function that draws each figure from the runs of its experiment."""

from collections.abc import Callable
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure

from smgrnn_paper.report.figures import beyond, frontier, graphs, training, weights
from smgrnn_paper.report.figures.style import Records
from smgrnn_paper.report.paper import WORDS, load_paper
from smgrnn_paper.report.results import Results

FIGURES: dict[str, Callable[[Records], Figure]] = {
    "3": training.draw_baselines,
    "4": training.draw_growth_ablation,
    "5": weights.draw_pruning_ablation,
    "6": training.draw_initial_topology,
    "7": training.draw_task_difficulty,
    "8": graphs.draw_final_topologies,
    "A.1": training.draw_hyperparameter_sweeps,
    "A.2": weights.draw_more_weights,
    "frontier": frontier.draw_frontier,
    "nonlinear": frontier.draw_frontier,
    "edits": beyond.draw_growth_operators,
    "credit": beyond.draw_credit_assignment,
    "rules": beyond.draw_local_learning,
    "task-sequences": beyond.draw_task_sequences,
    "self-tuning": frontier.draw_self_tuning,
}
"""Every figure: the paper's by their numbers, and ours by name.

An experiment shows it by naming "Fig. " and its id among its artefacts.
"""


def draw(id: str, results: Results) -> Figure | None:
    """Return a figure of the runs that there are, or None if there are none.

    The title says how many runs there are, of how many.
    """
    shown = (each for each in results.every.values() if f"Fig. {id}" in each.artefacts)
    if (experiment := next(shown, None)) is None:
        return None
    ours = WORDS["figures"].get(id)
    runs = {name: results.runs(experiment, name) for name in experiment.conditions}
    if ours is None:  # as many seeds as the paper has
        runs = {name: found.table for name, found in runs.items()}
    n_there = sum(len(found.records) for found in runs.values())
    n_asked = sum(len(found.seeds) for found in runs.values())
    if not n_there:
        return None
    figure = FIGURES[id]({name: found.records for name, found in runs.items()})
    title = ours["title"] if ours else f"Fig. {id}. {load_paper().figures[id].title}"
    partly = f" ({n_there} of {n_asked} runs)" if n_there < n_asked else ""
    look: Any = {"x": 0.01, "ha": "left", "fontsize": 10.5, "fontweight": "bold"}
    figure.suptitle(fill(f"{title}{partly}", 84), **look)
    return figure
