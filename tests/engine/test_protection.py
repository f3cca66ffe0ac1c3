"""Protection: edges that matter are held back and never removed, whatever the rules."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
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


def reaching(graph: Graph) -> set[int]:
    """Return the inputs from which some path leads to an output."""
    found = set(range(graph.n_inputs, graph.n_inputs + graph.n_outputs))
    for _ in range(graph.n_nodes):
        ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
        found |= {source for source, target in ends if target in found}
    return found & set(range(graph.n_inputs))


@pytest.mark.parametrize("pruning", PRUNING)
def test_a_kept_input_stays_connected_though_it_says_nothing(pruning: str) -> None:
    network = network_config(n_inputs=3, n_outputs=2, n_hidden=2, density=0.6, iterations=2)
    sizes: Any = {"size": 2} if pruning == "contribution" else {}
    if pruning == "weak":
        sizes = {"weight_threshold": 9.0, "update_threshold": 1.0}
    left = []
    for kept in ((), (0,)):
        often = {"interval": 50, "window": 20, "prune_period": 1, "keep_inputs": kept}
        learner = learner_of(
            network, STALLED, rules(growth="none", pruning=pruning, **often, **sizes), seed=1
        )
        learner.learn_stream(ROWS * [0.0, 1.0, 1.0], np.zeros(len(ROWS), dtype=int))
        left.append(0 in reaching(learner.graph))
    assert left == [False, True]


def test_inputs_to_keep_go_by_name_or_number(tmp_path: Path) -> None:
    by_name: Any = {"keep_inputs": ["velocity", "0"], "episodes": 5, "max_parameters": 4}
    run = smgrnn.distill("CartPole-v1", **by_name)
    assert run.plan.plasticity.keep_inputs == (1, 0)
    assert run.plan.key_content()["plasticity"]["keep_inputs"] == [1, 0]
    assert reaching(run.graph) >= {0, 1}
    assert (
        run.plan.key()
        == smgrnn.distill("CartPole-v1", **by_name | {"keep_inputs": (1, 0)}).plan.key()
    )
    assert (
        "keep_inputs"
        not in smgrnn.distill("CartPole-v1", episodes=1).plan.key_content()["plasticity"]
    )
    twin = Learner(3, 2, plasticity=PlasticityConfig(keep_inputs=(2,)))
    twin.save(tmp_path / "kept.safetensors")
    assert Learner.load(tmp_path / "kept.safetensors").plasticity.keep_inputs == (2,)
    for wrong, sentence in {
        "velocty": "There is no input 'velocty' to keep. Did you mean 'velocity'?",
        4: "There is no input 4 to keep. There are",
    }.items():
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            smgrnn.distill("CartPole-v1", keep_inputs=[wrong])
    with pytest.raises(ConfigError, match="max-parameters 1 cannot keep 2 inputs"):
        smgrnn.distill("CartPole-v1", keep_inputs=[0, 1], max_parameters=1)
    with pytest.raises(ConfigError, match="no effect on a fixed graph"):
        smgrnn.distill("CartPole-v1", keep_inputs=[0], student="static")


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
