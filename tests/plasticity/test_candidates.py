"""Candidates: nodes beside the graph, how they are judged, drawn and joined."""

from typing import Any

import numpy as np
import pytest
from smgrnn.plasticity import Memory, Moment
from smgrnn.plasticity.candidates import (
    COUNT,
    PRODUCTS,
    SQUARE,
    best_candidate,
    carry,
    n_needed,
    scores,
    start,
    step,
)
from smgrnn.plasticity.numbers import RuleNumbers

from smgrnn import Learner, NetworkConfig, SMGrNN
from smgrnn.arrays import Floats
from smgrnn.engine.state import CALLS
from smgrnn.graph import Graph
from smgrnn.graph.activation import ACTIVATIONS
from support.flat import learning as learning_config
from support.frugal import lessons, rules_of

NUMBERS = RuleNumbers.of(rules_of(n_candidates=3))
GRAPH = Graph.from_edges(2, 2, 2, [(0, 4, 1.0), (4, 2, 1.0), (1, 5, 1.0), (5, 3, 1.0)])
N_SOURCES = 2


def three(weights: Any = 1.0, *, count: float = 500.0, square: Any = 500.0) -> Memory:
    """Return three candidates that listen to input 1 and to hidden node 5."""
    memory = start(GRAPH, NUMBERS, np.random.default_rng(0))
    memory.ids[:N_SOURCES] = [[1], [5]]
    memory.values[:N_SOURCES] = weights
    memory.values[N_SOURCES + COUNT] = count
    memory.values[N_SOURCES + SQUARE] = square
    memory.values[N_SOURCES + PRODUCTS :] = [[1.0, -5.0, 2.0], [1.0, 0.0, 2.0]]
    return memory


def test_a_candidate_listens_and_is_compared_with_the_errors_at_the_outputs() -> None:
    """By hand for K = 2: it hears the first states, and meets the errors of the second."""
    memory = three([[0.5] * 3, [2.0] * 3], count=0.0, square=0.0)
    memory.values[N_SOURCES + PRODUCTS :] = 0.0
    trace = np.array([[0.1, 0.2, 0, 0, 0, 0.3], [0.1, 0.2, 9, 9, 9, 9], [9.0] * 6])
    errors = np.array([[9.0] * 6, [9, 9, 0.5, -2.0, 9, 9]])
    step(memory, Moment(trace, errors, ACTIVATIONS.index("identity")), NUMBERS)
    state = 0.5 * 0.2 + 2.0 * 0.3
    values = memory.values[N_SOURCES:]
    np.testing.assert_allclose(values[SQUARE], state**2)
    np.testing.assert_allclose(values[COUNT], 1.0)
    np.testing.assert_allclose(values[PRODUCTS:], np.outer([0.5, -2.0], [state] * 3))


def test_a_score_is_the_mean_product_for_a_mean_square_of_one() -> None:
    found = scores(three(square=[2000.0, 500.0, 125.0]))
    np.testing.assert_allclose(found, [[0.001, -0.01, 0.008], [0.001, 0.0, 0.008]])


def test_the_best_candidate_is_best_at_two_outputs_together() -> None:
    found: Floats = np.array([[0.0, 5.0, 3.0], [0.5, 0.0, -4.0], [0.1, 0.2, 1.0]])
    best, outputs = best_candidate(found)
    assert (best, outputs.tolist()) == (2, [1, 0])
    best, outputs = best_candidate(found[:1])
    assert (best, outputs.tolist()) == (1, [0])
    assert best_candidate(np.zeros((2, 3)))[0] == -1


def test_a_candidate_is_judged_after_500_updates() -> None:
    assert not scores(three(count=499.0)).any()
    assert scores(three(count=500.0)).any()


def test_a_candidate_whose_source_is_pruned_away_hears_nothing() -> None:
    memory = three()
    gone = np.array([0, 1, 2, 3, 4])  # node 5 is not there any more
    kept = carry(memory, GRAPH, gone, np.arange(2), NUMBERS, np.random.default_rng(0))
    assert not kept.values[:N_SOURCES].any()
    assert all(n_needed(kept, candidate, 0) == 0 for candidate in range(3))
    moved = np.array([0, 1, 2, 3, 5])  # node 4 is not, and 5 has its place
    kept = carry(memory, GRAPH, moved, np.arange(2), NUMBERS, np.random.default_rng(0))
    assert kept.ids[:N_SOURCES].tolist() == [[1] * 3, [4] * 3]
    assert np.array_equal(kept.values, memory.values)


def test_a_candidate_that_hears_nothing_is_worth_nothing() -> None:
    """Its former products once let it join as a node without edges in."""
    assert not scores(three(0.0)).any()


# --- in a learner --------------------------------------------------------------------------------


def learner(**changes: Any) -> Learner:
    """Return a learner that grows by candidates; `changes` are of its network and its rules."""
    network: dict[str, Any] = {"n_hidden": 1, "density": 0.4, "iterations": 3, "activation": "tanh"}
    network |= {name: changes.pop(name) for name in network.keys() & changes.keys()}
    rules = rules_of(**{"growth": "candidates", "size": 30, **changes})
    config = NetworkConfig(n_inputs=4, n_outputs=3, **network)
    return Learner(config, learning_config(learning_rate=1e-3), rules, seed=0)


def heard(made: Learner) -> Memory:
    return made._state.noticed.growth


def test_candidates_are_in_no_graph_until_one_joins() -> None:
    made = learner(n_candidates=20, interval=100, n_hidden=0, density=1.0)
    before = made.graph
    made.learn_stream(*lessons(590, 0))
    assert made._state.clock[CALLS] == 5  # one of them pruned
    assert heard(made).values[:2].all()
    assert made.log.n_changes == 0
    assert made.graph.node_ids.tolist() == before.node_ids.tolist()
    assert made.graph.edge_ids.tolist() == before.edge_ids.tolist()
    assert SMGrNN.from_network(made).weight.numel() == before.n_edges == 12
    made.learn_stream(*lessons(200, 1))
    assert made.graph.n_hidden == 1


@pytest.mark.parametrize("interval", [20, 100, 499, 700])
def test_candidates_are_watched_on_through_calls_that_come_too_early(interval: int) -> None:
    """All of them were once drawn anew at every call, so that short intervals never judged any."""
    made = learner(interval=interval)
    made.learn_stream(*lessons(interval, 0))
    first = heard(made).ids.copy()
    made.learn_stream(*lessons(interval, 1))
    if interval < 500:
        assert np.array_equal(heard(made).ids, first)
    made.learn_stream(*lessons(1500, 2))
    assert made.graph.n_hidden >= 2


def test_the_worse_half_and_who_joined_are_drawn_anew() -> None:
    made = learner(interval=600, n_candidates=8, prune_period=100)
    made.learn_stream(*lessons(1199, 0))
    before = heard(made).values.copy()
    made.learn_stream(*lessons(1, 1))
    joined = made.graph.n_hidden == 2
    is_new = (heard(made).values[:2] != before[:2]).any(axis=0)
    assert joined
    assert is_new.sum() == 5
    found = np.abs(scores(Memory(heard(made).ids, before))).sum(axis=0)
    assert is_new[np.argsort(found)[:4]].all()
    assert not heard(made).values[[2 + SQUARE, 2 + COUNT]].any()


def test_a_candidate_that_lost_its_source_is_drawn_anew_at_the_next_growth_call() -> None:
    made = learner(interval=100, size=1, prune_period=2, n_hidden=3, density=0.8)
    made.learn_stream(*lessons(100, 0))
    assert (heard(made).ids[:2] >= 7).any()
    made.learn_stream(*lessons(100, 1))  # which prunes all hidden nodes
    assert made.graph.n_hidden == 0
    deaf = ~heard(made).values[:2].any(axis=0)
    assert deaf.any()
    assert (heard(made).ids[:2] < 7).all()
    made.learn_stream(*lessons(100, 2))
    assert heard(made).values[:2].all()
    counts = heard(made).values[2 + COUNT]
    assert set(counts[deaf]) == {0.0}
    assert set(counts[~deaf]) <= {200.0}


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_every_node_that_joins_has_edges_in_and_out(activation: str) -> None:
    """Before the first draw a candidate is a constant, and sigmoid makes that one half."""
    made = learner(interval=600, activation=activation, n_hidden=0, density=1.0)
    made.learn_stream(*lessons(600, 0))
    assert made.graph.n_hidden == 0
    assert heard(made).values[:2].all()
    made.learn_stream(*lessons(600, 1))
    added = [c for _, edit in made.log.edits() for c in edit.changes()]
    assert [c.operation.name for c in added] == ["ADD_NODE"] + ["ADD_EDGE"] * 4
    node = added[0].id
    assert [c.target == node for c in added[1:]] == [True, True, False, False]
    assert [c.source == node for c in added[1:]] == [False, False, True, True]


def test_candidates_rest_once_growth_is_over() -> None:
    made = learner(interval=100)
    made.learn_stream(*lessons(150, 0))
    made.progress = 0.5
    made.learn_stream(*lessons(50, 1))
    assert (heard(made).ids[-1] == -1).all()
    before = heard(made).values.copy()
    made.learn_stream(*lessons(300, 2))
    assert np.array_equal(heard(made).values, before)
