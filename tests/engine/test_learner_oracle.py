"""The compiled learner against gradient descent by finite differences on the oracle's network."""

from collections import Counter

import numpy as np
import pytest

from smgrnn.seeding import stream as random_stream
from support.flat import learning as learning_config
from support.flat import rules
from support.learners import learner, stream
from support.oracle import SlowLearner, to_slow

RATE = 0.3
RULES = rules(
    window=4,
    interval=3,
    prune_period=3,
    explore_probability=0.8,
    explore_ratio=0.3,
    max_relays=1,
    fluctuation_threshold=1e-3,
    initial_weight=0.3,
    weight_threshold=0.4,
    update_threshold=0.01,
)


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_learner_agrees_with_gradient_descent_by_finite_differences(
    seed: int, iterations: int
) -> None:
    learning = learning_config(optimizer="sgd", learning_rate=RATE, momentum=0.0)
    made = learner(seed, learning, iterations=iterations, density=0.5, plasticity=RULES)
    slow = SlowLearner(
        to_slow(made.graph), iterations, RATE, RULES, random_stream(seed, "plasticity")
    )
    examples, seen = stream(30, seed), Counter[str]()
    for x, label, _ in zip(*examples, strict=True):
        made.learn(x, int(label))
        changes = slow.learn(x.tolist(), int(label))
        seen.update(f"{change.operation} {change.cause}" for change in changes)
        assert made.graph.node_ids.tolist() == slow.graph.nodes()
        assert [edge[:3] for edge in made.graph.edges()] == [
            (slow.graph.edges[pair].id, *pair) for pair in slow.graph.pairs()
        ]
        weights = [slow.graph.edges[pair].weight for pair in slow.graph.pairs()]
        np.testing.assert_allclose(made.graph.weight, weights, rtol=0, atol=1e-7)
        outputs = [slow.states[node] for node in slow.graph.of_kind("output")]
        np.testing.assert_allclose(made.outputs, outputs, rtol=0, atol=1e-7)
    assert {"ADD_NODE RELAY", "ADD_EDGE EXPLORATION", "REMOVE_EDGE WEAK_EDGE"} <= seen.keys()
    assert slow.updates == made.n_updates == 30
    assert slow.calls == 10
