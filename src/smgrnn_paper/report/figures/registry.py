"""Registry: the function that draws each figure, and the runs it shows."""

from collections.abc import Callable, Iterable
from textwrap import fill
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from smgrnn.batch import AnyCondition, Experiment
from smgrnn_paper.experiments import EXPERIMENTS, STUDIES
from smgrnn_paper.report.figures import beyond, frontier, graphs, training, weights
from smgrnn_paper.report.figures.style import Records
from smgrnn_paper.report.paper import WORDS, load_paper
from smgrnn_paper.report.results import Results


class FigureSpec(NamedTuple):
    """A figure; one that is not the paper's has a title and a caption of its own.

    Experiments show it by naming "Fig. " and its id among their artefacts.
    """

    id: str
    """The paper's number for it, or a name."""
    draw_panels: Callable[[Records], Figure]
    """Draws the runs of each condition, by the names that conditions have in their experiment."""
    tasks: tuple[str, ...] = ()
    """The tasks that it shows; none is all of its experiment's."""
    title: str = ""
    caption: str = ""

    def experiment(self, among: Iterable[Experiment] | None = None) -> Experiment | None:
        """Return the experiment whose runs it shows; None if it needs no runs."""
        known = (EXPERIMENTS | STUDIES).values() if among is None else among
        return next((each for each in known if f"Fig. {self.id}" in each.artefacts), None)

    def conditions(self, among: Iterable[Experiment] | None = None) -> dict[str, AnyCondition]:
        """Return the conditions that it shows, by their names in the experiment."""
        experiment = self.experiment(among)
        every = {} if experiment is None else experiment.conditions
        return {n: each for n, each in every.items() if not self.tasks or each.task in self.tasks}


FIGURES = {
    each.id: each._replace(**WORDS["figures"].get(each.id, {}))
    for each in (
        FigureSpec("1", graphs.draw_data_flow),
        FigureSpec("2", graphs.draw_relay_insertion),
        FigureSpec("3", training.draw_baselines),
        FigureSpec("4", training.draw_growth_ablation),
        FigureSpec("5", weights.draw_pruning_ablation),
        FigureSpec("6", training.draw_initial_topology),
        FigureSpec("7", training.draw_task_difficulty),
        FigureSpec("8", graphs.draw_final_topologies),
        FigureSpec("A.1", training.draw_hyperparameter_sweeps),
        FigureSpec("A.2", weights.draw_more_weights, ("Acrobot-v1", "LunarLander-v3")),
        FigureSpec("frontier", frontier.draw_frontier),
        FigureSpec("edits", beyond.draw_growth_operators),
        FigureSpec("credit", beyond.draw_credit_assignment),
        FigureSpec("rules", beyond.draw_local_learning),
        FigureSpec("task-sequences", beyond.draw_task_sequences),
        FigureSpec("self-tuning", frontier.draw_self_tuning),
    )
}
"""Every figure: the paper's by their numbers, and ours by name."""


def draw(id: str, results: Results) -> Figure | None:
    """Return a figure of the runs that there are, or None if it needs some and there are none.

    The title says how many runs it shows, of how many.
    """
    spec, among = FIGURES[id], results.every.values()
    experiment, runs = spec.experiment(among), {}
    if experiment is not None:
        runs = {name: results.runs(experiment, name) for name in spec.conditions(among)}
        if not spec.title:
            runs = {name: found.table for name, found in runs.items()}
    n_there = sum(len(found.records) for found in runs.values())
    if spec.experiment() is not None and not n_there:
        return None
    figure = spec.draw_panels({name: found.records for name, found in runs.items()})
    n_asked = sum(len(found.seeds) for found in runs.values())
    title = spec.title or f"Fig. {id}. {load_paper().figures[id].title}"
    partly = f" ({n_there} of {n_asked} runs)" if n_there < n_asked else ""
    look: Any = {"x": 0.01, "ha": "left", "fontsize": 10.5, "fontweight": "bold"}
    figure.suptitle(fill(f"{title}{partly}", 84), **look)
    return figure
