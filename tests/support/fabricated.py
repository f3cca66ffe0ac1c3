"""Records of runs that never ran: what a report is made of, in no time and with known numbers."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from smgrnn.config import NetworkConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.experiments import Condition, Experiment, RunRecord, Store
from smgrnn.graph.initial import initial_graph
from smgrnn.graph.log import EditLog
from smgrnn.runs.metrics import summarise
from smgrnn.tasks import find_task

Figures = Callable[[Condition, int], dict[str, Any]]


def fabricate(condition: Condition, seed: int, **figures: Any) -> RunRecord:
    """Return a record of a condition that looks like one; its summary has the given figures."""
    task, rng = find_task(condition.task), np.random.default_rng(int(condition.key(seed)[:8], 16))
    n_fixed, n_hidden = task.n_inputs + task.n_outputs, 2 + int(rng.integers(6))
    network = NetworkConfig(
        n_inputs=task.n_inputs, n_outputs=task.n_outputs, n_hidden=n_hidden, density=0.3
    )
    graph = initial_graph(network, rng)
    n, evolved = condition.episodes, condition.kind == "evolve"
    episodes = Episodes.start(n)
    episodes.returns[:] = np.sort(rng.normal(100.0, 30.0, n))
    episodes.steps[:] = 50
    episodes.n_nodes[:] = np.linspace(n_fixed, graph.n_nodes, n).round()
    episodes.n_edges[:] = np.linspace(n_fixed, graph.n_edges, n).round()
    summary = summarise(episodes, Edits.of(EditLog.start()), n_fixed, (n_fixed, n_fixed), 100.0)
    evaluation = {"held_out_mean": 90.0, "held_out_std": 5.0, "seconds": 1.0}
    return RunRecord(
        task=task.id,
        settings=condition.settings.to_dict() | {"seed": seed},
        summary=summary | evaluation | {"student": condition.variant, "seed": seed} | figures,
        started=(n_fixed, n_fixed),
        changes={},
        warnings=(),
        began=0.0,
        seconds=2.0,
        versions={"smgrnn": "1.0", "numpy": "1.0"},
        episodes=episodes,
        graph=graph,
        held_out=np.full(3, 90.0),
        generations=episodes if evolved else None,
    )


def fill_store(
    store: Store, experiments: Iterable[Experiment], figures: Figures = lambda _, __: {}
) -> None:
    """Keep a fabricated record of every run of some experiments."""
    for experiment in experiments:
        for _, condition, seed in experiment.runs():
            store.save(condition.key(seed), fabricate(condition, seed, **figures(condition, seed)))
