"""Registry: the function that draws each figure, and the runs it shows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from matplotlib.figure import Figure

from smgrnn.batch import AnyCondition, Experiment
from smgrnn_paper.experiments import EXPERIMENTS, STUDIES
from smgrnn_paper.report.figures.baseline_comparison import draw_baseline_comparison
from smgrnn_paper.report.figures.beyond import (
    draw_credit_assignment,
    draw_growth_operators,
    draw_local_learning,
)
from smgrnn_paper.report.figures.data_flow import draw_data_flow
from smgrnn_paper.report.figures.final_topologies import draw_final_topologies
from smgrnn_paper.report.figures.frontier import draw_frontier
from smgrnn_paper.report.figures.growth_ablation import draw_growth_ablation
from smgrnn_paper.report.figures.hyperparameter_sweeps import draw_hyperparameter_sweeps
from smgrnn_paper.report.figures.initial_topology import draw_initial_topology
from smgrnn_paper.report.figures.pruning_ablation import draw_more_weights, draw_pruning_ablation
from smgrnn_paper.report.figures.relay_insertion import draw_relay_insertion
from smgrnn_paper.report.figures.self_tuning import draw_self_tuning
from smgrnn_paper.report.figures.style import Records, add_title
from smgrnn_paper.report.figures.task_difficulty import draw_task_difficulty
from smgrnn_paper.report.figures.task_sequences import draw_task_sequences
from smgrnn_paper.report.paper import Catalogue, load_paper
from smgrnn_paper.report.results import Results, Runs


@dataclass(frozen=True)
class FigureSpec:
    """A figure: the function that draws it, and the conditions it shows.

    A figure that is not one of the paper's has a title and a caption of its own; experiments show
    it by naming "Fig. " and its id among their artefacts.
    """

    id: str
    """The paper's number for it, or a name."""
    draw_panels: Callable[[Records], Figure]
    """Draws the runs of each condition, by the names that conditions have in their experiment."""
    tasks: tuple[str, ...] = ()
    """The tasks that it shows; none is all of its experiment's."""
    title: str = ""
    """Its title, if the paper has none for it."""
    caption: str = ""
    """A sentence on what its panels show, if the paper has none."""

    @property
    def heading(self) -> str:
        """The title above it."""
        return self.title or f"Fig. {self.id}. {load_paper().figures[self.id].title}"

    def experiment(self, among: Iterable[Experiment] | None = None) -> Experiment | None:
        """Return the experiment whose runs it shows; None if it needs no runs."""
        name = f"Fig. {self.id}"
        known = (EXPERIMENTS | STUDIES).values() if among is None else among
        return next((each for each in known if name in each.artefacts), None)

    def conditions(self, among: Iterable[Experiment] | None = None) -> dict[str, AnyCondition]:
        """Return the conditions that it shows, by their names in the experiment."""
        experiment = self.experiment(among)
        every = {} if experiment is None else experiment.conditions
        return {
            name: each for name, each in every.items() if not self.tasks or each.task in self.tasks
        }


FIGURES = Catalogue(
    "figure",
    {
        spec.id: spec
        for spec in (
            FigureSpec("1", draw_data_flow),
            FigureSpec("2", draw_relay_insertion),
            FigureSpec("3", draw_baseline_comparison),
            FigureSpec("4", draw_growth_ablation),
            FigureSpec("5", draw_pruning_ablation),
            FigureSpec("6", draw_initial_topology),
            FigureSpec("7", draw_task_difficulty),
            FigureSpec("8", draw_final_topologies),
            FigureSpec("A.1", draw_hyperparameter_sweeps),
            FigureSpec("A.2", draw_more_weights, tasks=("Acrobot-v1", "LunarLander-v3")),
            FigureSpec(
                "frontier",
                draw_frontier,
                title="Return against parameters",
                caption="Held-out return of what runs hand over, by its parameters, on each task.",
            ),
            FigureSpec(
                "edits",
                draw_growth_operators,
                title="Which edit does the work",
                caption="Late return of growth and pruning rules, with one and two iterations.",
            ),
            FigureSpec(
                "credit",
                draw_credit_assignment,
                title="Credit through recurrence",
                caption="Late return by the earlier calls that gradients flow back through.",
            ),
            FigureSpec(
                "rules",
                draw_local_learning,
                title="Learning by local rules",
                caption="Late return by learning rule, growing and not.",
            ),
            FigureSpec(
                "task-sequences",
                draw_task_sequences,
                title="What a student keeps of tasks that it learned one after the other",
                caption="Return on each task, right after it was learned and after the last stage.",
            ),
            FigureSpec(
                "self-tuning",
                draw_self_tuning,
                title="Settings by hand, tuned on Acrobot, and following progress",
                caption="Held-out return of what runs hand over, by its parameters, on each task.",
            ),
        )
    },
)
"""Every figure: the paper's by their numbers, and ours by name."""


def draw(id: str, results: Results) -> Figure | None:
    """Return a figure of the runs that there are, or None if it needs some and there are none.

    The title says how many runs it shows, of how many.
    """
    spec, runs = FIGURES[id], _find(id, results)
    records = {name: found.records for name, found in runs.items()}
    n_there = sum(map(len, records.values()))
    if spec.experiment() is not None and not n_there:
        return None
    figure = spec.draw_panels(records)
    n_asked = sum(len(found.seeds) for found in runs.values())
    partly = f" ({n_there} of {n_asked} runs)" if n_there < n_asked else ""
    add_title(figure, f"{spec.heading}{partly}")
    return figure


def missing_runs(id: str, results: Results) -> list[str]:
    """Return the runs that a figure shows and that are missing: condition and seed of each."""
    missing = []
    for name, found in _find(id, results).items():
        seeds = {record.plan.seed for record in found.records}
        missing += [f"{name} seed {seed}" for seed in found.seeds if seed not in seeds]
    return missing


def _find(id: str, results: Results) -> dict[str, Runs]:
    spec, among = FIGURES[id], results.every.values()
    experiment = spec.experiment(among)
    if experiment is None:
        return {}
    runs = {name: results.runs(experiment, name) for name in spec.conditions(among)}
    return runs if spec.title else {name: each.table for name, each in runs.items()}
