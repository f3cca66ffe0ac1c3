"""Records of runs that never ran: what a report is made of, in no time and with known numbers."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.batch import AnyCondition, Experiment, Store
from smgrnn.episodes.table import Episodes, Snapshots
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.runs.metrics import final_quarter
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import Times
from smgrnn.runs.stage_scores import FIRST_STAGE, NO_SCORES
from smgrnn.tasks import Task
from smgrnn_paper.evolution.plan import EvolutionPlan
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.report.results import Results
from support.flat import network_config

Figures = Callable[[AnyCondition, int], dict[str, Any]]


def fabricate(condition: AnyCondition, seed: int, **figures: Any) -> Record:
    """Return a record of a condition that looks like one; its summary has the given figures."""
    plan = condition.plan(seed)
    rng = np.random.default_rng(int(plan.key()[:8], 16))
    task, n = (
        plan.task,
        max(
            condition.episodes,
            figures.get("convergence_episode") or figures.get("sustained_episode") or 0,
        ),
    )
    student = _student(plan, rng)
    n_fixed, graph = task.n_inputs + task.n_outputs, student.graph
    n_nodes, n_edges = figures.get("n_nodes", graph.n_nodes), figures.get("n_edges", graph.n_edges)
    episodes = Episodes.start(n)
    episodes.returns[:] = _returns(n, task.reward_threshold or 0.0, rng, figures)
    episodes.steps[:] = 50
    episodes.n_nodes[:] = np.linspace(n_fixed, n_nodes, n).round()
    episodes.n_edges[:] = np.linspace(n_fixed, n_edges, n).round()
    started = n_nodes - figures.get("net_growth_nodes", n_nodes - n_fixed), n_fixed
    net = abs(n_nodes - started[0]) + abs(n_edges - started[1])
    return Record(
        plan=plan,
        episodes=episodes,
        edits=_edits(round((figures.get("churn_ratio") or 2.0) * max(net, 1))),
        snapshots=Snapshots.start(),
        students={"final": student},
        started=started,
        held_out=np.full(3, figures.get("held_out_mean", 90.0)),
        stage_scores=_course(plan, rng),
        versions={"smgrnn": "1.0", "numpy": "1.0"},
        times=Times(began=0.0, training=1.0, total=2.0),
    )


def _course(plan: AnyPlan, rng: np.random.Generator) -> Floats:
    """Return scores between those of a random policy and of a teacher, if it is a sequence."""
    if not isinstance(plan, Plan) or plan.origin is None:
        return NO_SCORES
    stage_scores = rng.uniform(20, 500, (FIRST_STAGE + len(plan.stages), len(plan.task_sequence)))
    stage_scores[:2] = [[20.0], [500.0]]
    return stage_scores


def _student(plan: AnyPlan, rng: np.random.Generator) -> Policy:
    """Return a network of a few hidden nodes and a density of 0.3."""
    task, n_hidden = plan.task, 2 + int(rng.integers(6))
    config = network_config(n_inputs=task.n_inputs, n_outputs=task.n_outputs)
    config = plan.network if isinstance(plan, Plan) else config
    config = replace(config, n_hidden=n_hidden, density=0.3)
    return Policy(initial_graph(config, rng), config, task, student=plan.student)


def _returns(n: int, threshold: float, rng: np.random.Generator, figures: dict[str, Any]) -> Floats:
    """Return rising returns, or such as have the late, best or first sufficient one given."""
    returns = np.sort(rng.normal(100.0, 30.0, n))
    if "late_return" in figures:
        returns[:] = figures["late_return"]
    if "best_return" in figures:
        returns[final_quarter(n)] = np.minimum(returns[final_quarter(n)], figures["best_return"])
        returns[0] = figures["best_return"]
    if "sustained_episode" in figures:
        returns[:] = threshold - 1
        if last := figures["sustained_episode"]:
            returns[last - 100 : last] = threshold
    if "convergence_episode" in figures:
        returns[:] = threshold - 1
        if figures["convergence_episode"] is not None:
            returns[figures["convergence_episode"] - 1] = threshold
    return returns


def _edits(n: int) -> Edits:
    numbers = np.zeros(n, dtype=np.int64)
    return Edits(numbers, numbers, np.zeros((n, 5), dtype=np.int64), np.zeros(n))


def with_graph(record: Record, graph: Graph) -> Record:
    """Return a record whose final graph is another, of any number of inputs and outputs."""
    config = network_config(n_inputs=graph.n_inputs, n_outputs=graph.n_outputs)
    task = Task("any", graph.n_inputs, graph.n_outputs, is_discrete=True)
    return replace(record, students={"final": Policy(graph, config, task)})


def bred(record: Record, episodes: Episodes, n_generations: int) -> Record:
    """Return an evolution with other candidates, in so many generations."""
    assert isinstance(record.plan, EvolutionPlan)
    population = episodes.n // n_generations
    plan = replace(record.plan, rollouts=episodes.n, population=population)
    return replace(record, plan=plan, episodes=episodes)


def fill_store(
    store: Store, experiments: Iterable[Experiment], figures: Figures = lambda _, __: {}
) -> None:
    for experiment in experiments:
        for _, condition, seed in experiment.runs():
            store.save(fabricate(condition, seed, **figures(condition, seed)))


def filled(
    folder: Path,
    *names: str,
    seeds: int,
    episodes: int,
    figures: Figures = lambda _, __: {},
) -> Results:
    """Return results of a store with a fabricated record of every run of some experiments."""
    store = Store(folder)
    fill_store(store, choose_experiments(names, seeds=seeds, episodes=episodes), figures)
    return Results(store, names, seeds=seeds, episodes=episodes)
