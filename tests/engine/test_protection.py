"""Protection: edges that matter are held back and never removed, whatever the rules."""

from typing import Any

import numpy as np
import pytest

from smgrnn import Learner
from smgrnn.config import PlasticityConfig
from smgrnn.engine.protection import protection
from smgrnn.errors import ConfigError
from smgrnn.graph import Graph, Operation
from smgrnn.rules import GROWTH, PRUNING
from support.flat import learner_of, network_config, rules
from support.flat import learning as learning_config

STALLED = learning_config(learning_rate=1e-9)
ROWS = np.random.default_rng(0).normal(size=(600, 3))


def often(**changes: Any) -> PlasticityConfig:
    usual: dict[str, Any] = {"interval": 50, "window": 20, "prune_period": 2}
    if changes.get("pruning") != "contribution":
        usual["prune_fraction"] = 1.0
    return rules(**usual | changes)


def pruned(graph: Graph, share: float) -> Learner:
    network = network_config(n_inputs=3, n_outputs=1, iterations=2)
    only = often(growth="none", prune_period=1)
    learner = learner_of(network, STALLED, only, graph=graph, seed=0)
    learner.protect(share)
    learner.learn_stream(ROWS, np.zeros(len(ROWS), dtype=int))
    return learner


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_weak_stalled_edge_is_pruned_unless_it_is_protected(share: float) -> None:
    """The hidden node 4 hears input 0 by an edge as weak as that from input 1 to the output."""
    edges = [(0, 4, 0.01), (4, 3, 1.0), (1, 3, 0.01), (2, 3, 0.9)]
    graph = pruned(Graph.from_edges(3, 1, 1, edges), share).graph
    left = {(edge.source, edge.target) for edge in graph.edges()}
    assert left == ({(2, 3)} if share == 0.0 else {(0, 4), (4, 3), (2, 3)})


def test_an_edge_that_leads_nowhere_does_not_matter() -> None:
    """Node 4 hears input 0 well, but what it says is weak beside the edge from input 1."""
    graph = Graph.from_edges(3, 1, 1, [(0, 4, 2.0), (4, 3, 0.01), (1, 3, 1.0)])
    held = protection(graph, 0.8)[0]
    found = {(e.source, e.target): value for e, value in zip(graph.edges(), held, strict=True)}
    assert found == {(0, 4): 0.0, (4, 3): 0.0, (1, 3): 0.8}
    learner = pruned(graph, 0.8)
    assert learner.graph.n_hidden == 0
    removed = [each for _, edit in learner.log.edits() for each in edit.changes()]
    assert sorted(each.weight for each in removed) == pytest.approx([0.0, 0.01, 2.0])


def restless(growth: str, pruning: str, share: float, size: int | None = None) -> Learner:
    """Return a learner whose labels change all the time, and whose first input fell silent."""
    network = network_config(n_inputs=3, n_outputs=2, n_hidden=4, density=0.6, iterations=2)
    weak = {"weight_threshold": 0.8, "update_threshold": 1.0} if pruning == "weak" else {}
    many = often(growth=growth, pruning=pruning, size=size, max_edges=200, **weak)
    learner = learner_of(network, learning_config(learning_rate=0.02), many, seed=1)
    learner.protect(share)
    labels = np.random.default_rng(1).integers(0, 2, len(ROWS))
    learner.learn_stream(ROWS * [0.0, 1.0, 1.0], labels)
    return learner


KINDS = [(name, "weak") for name in GROWTH] + [("relay", name) for name in PRUNING]


@pytest.mark.parametrize(("growth", "pruning"), KINDS)
def test_no_rule_removes_a_protected_edge(growth: str, pruning: str) -> None:
    size = 6 if pruning == "contribution" else None
    first = restless(growth, pruning, 0.0, size)
    start = learner_of(first.config, first.learning, first.plasticity, seed=1).graph
    kept = set(start.edge_ids[protection(start, 0.5)[0] > 0.0])
    learner = restless(growth, pruning, 0.5, size)
    assert kept <= set(learner.graph.edge_ids)
    changes = [change for _, edit in learner.log.edits() for change in edit.changes()]
    if pruning in ("weak", "random", "contribution"):
        assert not kept <= set(first.graph.edge_ids)  # the rules would have taken some
        assert any(change.operation == Operation.REMOVE_EDGE for change in changes)
    with pytest.raises(ConfigError, match=r"protected fraction must be a float in \[0, 1\]"):
        learner.protect(1.1)
