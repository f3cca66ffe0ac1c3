"""Statistics that rules ask for: what they are, and that nobody else pays for them."""

from typing import Any

import pytest

from smgrnn import Graph
from smgrnn.config import NetworkConfig
from smgrnn.graph import GraphEdit
from smgrnn.rules import GROWTH, PRUNING
from support.flat import learner_of, network_config, table
from support.learners import stream


def config(**changes: Any) -> NetworkConfig:
    return network_config(**{"n_inputs": 3, "n_outputs": 2, "iterations": 2, **changes})


class Ask:
    """A rule of one's own that asks for statistics and notes what it was given."""

    def __init__(self, *statistics: str) -> None:
        self.statistics, self.seen = statistics, []  # type: ignore[var-annotated]

    def decide(self, evidence: Any, rng: Any) -> GraphEdit:
        self.seen.append(evidence)
        return GraphEdit.empty()


KEPT: list[tuple[Any, Any, int, int, int]] = [
    ("gradient", "weak", 5, 4, 0),
    ("candidates", "none", 5, 0, 32),
    ("frugal", "contribution", 5, 4, 32),
    ("relay", "contribution", 5, 0, 0),
    (Ask("nodes"), None, 5, 0, 0),
    (Ask("absent_edges"), None, 0, 4, 0),
    (Ask(), None, 0, 0, 0),
]
KEPT += [
    (growth, "weak", 0, 0, 0)
    for growth in (*GROWTH, "none")
    if growth not in ("gradient", "candidates", "frugal")
]
KEPT += [("relay", pruning, 0, 0, 0) for pruning in (*PRUNING, "none") if pruning != "contribution"]


@pytest.mark.parametrize(("growth", "pruning", "n_nodes", "n_pairs", "n_candidates"), KEPT)
def test_a_learner_keeps_what_its_rules_read(
    growth: Any, pruning: Any, n_nodes: int, n_pairs: int, n_candidates: int
) -> None:
    graph = Graph.from_edges(3, 2, edges=[(0, 3, 1.0), (1, 4, 1.0)])
    plasticity = table(growth=growth, pruning=pruning)
    made = learner_of(config(), plasticity=plasticity, graph=graph)
    history, statistics, candidates = made._state.watched
    assert history.window == 100
    assert statistics.nodes.shape == (4, n_nodes)
    assert statistics.absent.shape == (2, n_pairs)
    assert candidates.weights.shape[1] == n_candidates
    made.learn_stream(*stream(50))
    keeps = bool(n_nodes or n_pairs or n_candidates)
    assert statistics.n_updates == (50 if keeps else 0)  # not even counted
    assert bool(made._state.workspace.errors.size) == keeps


def test_statistics_are_of_the_updates_since_the_last_call() -> None:
    rule = Ask("nodes", "absent_edges")
    plasticity = table(growth=rule, interval=10, prune_period=100)
    made = learner_of(config(), plasticity=plasticity)
    made.learn_stream(*stream(35))
    assert [(each.call, each.n_updates) for each in rule.seen] == [(1, 10), (2, 10), (3, 10)]
    assert made._state.watched.statistics.n_updates == 5
    for each in rule.seen:
        assert each.absent.shape[1] == each.absent_gradient.size == 6 - made.graph.n_edges
        assert not each.graph.weight.flags.writeable
