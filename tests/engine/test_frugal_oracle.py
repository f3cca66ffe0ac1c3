"""The compiled learner with the rules of our own against the same rules in plain Python."""

from typing import Any

import numpy as np
import pytest

from smgrnn import Learner, NetworkConfig, PlasticityConfig
from smgrnn.seeding import stream as random_stream
from support.flat import learning as learning_config
from support.frugal import lessons, rules_of
from support.frugal_oracle import FrugalLearner
from support.oracle import to_slow

RATE = 0.05
SIZE = 18
WAYS: dict[str, dict[str, Any]] = {
    "to a size in a known time": {"size": SIZE},
    "to a size in an endless loop": {"size": SIZE},
    "by the error": {},
}


def pair_of_learners(
    seed: int, iterations: int, rules: PlasticityConfig, **changes: Any
) -> tuple[Learner, FrugalLearner]:
    """Return a compiled learner and the oracle's, at the same start."""
    learning = learning_config(
        optimizer="sgd", learning_rate=RATE, momentum=0.0, schedule="falling", averaging=0.01
    )
    network = {"n_inputs": 4, "n_outputs": 3, "n_hidden": 1, "density": 0.4, **changes}
    config = NetworkConfig(**network, iterations=iterations)
    made = Learner(config, learning, rules, seed=seed)
    slow = FrugalLearner(
        to_slow(made.graph),
        rules,
        random_stream(seed, "plasticity"),
        iterations,
        RATE,
        carries_state=config.carry_state,
        activation=config.activation,
        schedule="falling",
        averaging=0.01,
    )
    return made, slow


def assert_same(made: Learner, slow: FrugalLearner) -> None:
    """Check that both have the same nodes, edges, weights, mean weights and node states."""
    graph, pairs = made.graph, slow.graph.pairs()
    assert graph.node_ids.tolist() == slow.graph.nodes()
    edges = [slow.graph.edges[pair] for pair in pairs]
    ends = [(edge.id, *pair) for edge, pair in zip(edges, pairs, strict=True)]
    assert [edge[:3] for edge in graph.edges()] == ends
    weights = [edge.weight for edge in edges]
    np.testing.assert_allclose(graph.weight, weights, rtol=0, atol=1e-7)
    means = [slow.averages.get(edge.id, edge.weight) for edge in edges]
    np.testing.assert_allclose(made.averaged_graph.weight, means, rtol=0, atol=1e-7)


def learn_both(made: Learner, slow: FrugalLearner, n: int, seed: int, has_end: bool) -> None:
    """Let both learn the same lessons, and compare them after every call of the module."""
    for update, (observation, label, is_last) in enumerate(zip(*lessons(n, seed), strict=True)):
        if has_end:
            made.progress = slow.aim.progress = update / n
        made.learn(observation, int(label))
        was_called = slow.learn(observation.tolist(), int(label), bool(is_last))
        if is_last:
            made.end_episode()
        if was_called:
            assert_same(made, slow)
    assert_same(made, slow)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("carry_state", [True, False])
@pytest.mark.parametrize("iterations", [2, 3])
def test_growth_by_candidates_and_gradients_agrees(
    iterations: int, carry_state: bool, way: str
) -> None:
    made, slow = pair_of_learners(3, iterations, rules_of(**WAYS[way]), carry_state=carry_state)
    learn_both(made, slow, 3000, 3, has_end="known" in way)
    assert slow.calls == 24
    assert {"ADD_EDGE GRADIENT", "REMOVE_EDGE CONTRIBUTION"} <= slow.seen.keys()
    assert "endless" in way or "ADD_NODE CANDIDATE" in slow.seen


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("growth", "iterations", "size"),
    [("candidates", 2, None), ("candidates", 3, 13), ("gradient", 3, None), ("gradient", 2, 12)],
)
def test_each_way_to_grow_alone_agrees(
    growth: str, iterations: int, size: int | None, seed: int
) -> None:
    interval = 100 if growth == "candidates" else 20
    rules = rules_of(growth=growth, size=size, interval=interval)
    made, slow = pair_of_learners(seed, iterations, rules)
    learn_both(made, slow, 1800, seed, has_end=size is not None)
    assert ("ADD_NODE CANDIDATE" in slow.seen) == (growth == "candidates")
    assert ("ADD_EDGE GRADIENT" in slow.seen) == (growth == "gradient")
    assert size is None or made.graph.n_edges <= size
    assert size is None or "REMOVE_EDGE CONTRIBUTION" in slow.seen


@pytest.mark.parametrize(
    ("growth", "activation"),
    [("frugal", "tanh"), ("frugal", "sigmoid"), ("candidates", "tanh"), ("candidates", "sigmoid")],
)
def test_candidates_whose_sources_are_pruned_away_agree(growth: str, activation: str) -> None:
    """They hear nothing until they are drawn anew, which a sigmoid would take for one half."""
    rules = rules_of(growth=growth, size=20)
    made, slow = pair_of_learners(4, 3, rules, n_hidden=6, density=0.5, activation=activation)
    learn_both(made, slow, 1500, 4, has_end=False)
    assert slow.seen["LOST SOURCE"] > 1
    assert slow.seen["REMOVE_NODE ORPHAN"] > 1


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        *(({"growth": "candidates"}, {"activation": each}) for each in ("relu", "identity")),
        ({"max_edges": 12}, {}),
        ({"max_nodes": 9}, {}),
    ],
)
def test_other_activations_and_limits_agree(
    changes: dict[str, Any], settings: dict[str, str]
) -> None:
    made, slow = pair_of_learners(1 if settings else 0, 3, rules_of(**changes), **settings)
    learn_both(made, slow, 1500, 1 if settings else 0, has_end=False)
    assert made.graph.n_edges <= changes.get("max_edges", 10**6)
    assert made.graph.n_nodes <= changes.get("max_nodes", 10**6)
    assert slow.seen["ADD_NODE CANDIDATE" if settings else "ADD_EDGE GRADIENT"]


def test_calls_at_the_end_of_episodes_and_returns_that_reach_a_bar_agree() -> None:
    """Growth stops while the bar is reached; the end of a short episode is passed over."""
    rules = rules_of(interval="episode", least_updates=100, size=SIZE)
    made, slow = pair_of_learners(2, 2, rules)
    n, bar, met = 2400, 1.0, set()
    for update, (observation, label, is_last) in enumerate(zip(*lessons(n, 2), strict=True)):
        made.progress = slow.aim.progress = update / n
        made.learn(observation, int(label))
        if is_last:
            total = float(600 <= update < 800) * 30.0
            made.say_return(total, bar)
            slow.aim.note_return(total, bar)
            made.end_episode()
        if slow.learn(observation.tolist(), int(label), bool(is_last)):
            assert_same(made, slow)
            met.add((slow.aim.is_met, update < 0.4 * n))
    assert slow.calls == n // 120
    assert {(True, True), (False, True)} <= met
