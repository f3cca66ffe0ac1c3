"""Rules that follow a size: pruning by contribution, growth by gradient, and candidates."""

from typing import Any

import numpy as np
import pytest

from smgrnn.graph import Graph
from smgrnn.graph.settings import ACTIVATIONS
from smgrnn.rules import Contribution, Evidence, UpdateHistory
from smgrnn.rules.frugal import best_swap, pulls, release
from smgrnn.rules.history import TOTAL
from smgrnn.rules.size import Goal
from smgrnn.rules.statistics import Candidates, absent_pairs, step_candidates
from support.decisions import evidence
from support.flat import learner_of, network_config
from support.flat import learning as learning_config
from support.learners import lessons, rules_of

# --- contribution --------------------------------------------------------------------------------

# Inputs 0 and 1, outputs 2 and 3, hidden 4 and 5.
EDGES = [(0, 4, 0.5), (1, 4, 0.1), (0, 5, 0.2), (4, 2, 0.9), (5, 3, 0.8), (1, 2, 0.3)]
GRAPH = Graph.from_edges(2, 2, 2, EDGES)
PLACE = {(edge.source, edge.target): k for k, edge in enumerate(GRAPH.edges())}


def seen(
    square: Any, activity: Any = 0.0, *, born: Any = 0, size: int = 0, **known: Any
) -> Evidence:
    """Return the evidence of GRAPH after 1500 updates, with these statistics of its nodes."""
    history = UpdateHistory.start(GRAPH.n_edges, 1)
    history.clock[TOTAL] = 1500
    history.born[:] = born
    goal, none = Goal(size, 0, False, False, False), np.zeros(GRAPH.n_nodes)
    square, activity = none + square, none + activity
    return evidence(GRAPH, history=history, goal=goal, square=square, activity=activity, **known)


@pytest.mark.parametrize(
    ("square", "activity", "n_updates", "gone", "released"),
    [
        # Input 0 is always 1, as a bias is: node 5 does nothing, and node 4 only by input 1.
        (1.0, [1.0, 0, 0, 0, 0, 0], 100, [], [(0, 5), (5, 3)]),
        (1.0, [1.0, 0, 0, 0, 0, 0], 100, [(1, 4)], [(0, 4), (0, 5), (4, 2), (5, 3)]),
        (1.0, [0, 1.0, 0, 0, 0, 0], 100, [], []),  # an output may receive constants
        ([0.0, 1, 1, 1, 1, 1], 0.0, 100, [], [(0, 5), (5, 3)]),  # zero is constant
        (1.0, 1.0, 1, [], []),  # one update tells nothing; all hidden nodes were once released
        (1.0, 1.0, 2, [], [(0, 4), (0, 5), (1, 4), (4, 2), (5, 3)]),
    ],
)
def test_nodes_with_constant_sources_are_released_with_their_edges(
    square: Any, activity: Any, n_updates: int, gone: Any, released: Any
) -> None:
    stays = np.array([pair not in gone for pair in PLACE])
    left = release(seen(square, activity, n_updates=n_updates), stays)
    assert sorted(pair for pair, place in PLACE.items() if stays[place] & ~left[place]) == released


ONE_GOES = [(0, 5), (5, 3)]  # 0 -> 5, and 5 -> 3 which does nothing without it


@pytest.mark.parametrize(
    ("size", "known", "expected"),
    [
        (6, {}, []),
        (5, {}, [(1, 4)]),
        (4, {}, [(0, 5), (1, 4), (5, 3)]),  # three are left, not four
        (0, {}, sorted(PLACE)),
        (5, {"square": [1, 100.0, 1, 1, 1, 1]}, ONE_GOES),  # weight x strength of the source
        (5, {"n_updates": 0, "square": 0.0}, [(1, 4)]),  # the weight alone
        (5, {"born": [500 * (pair == (1, 4)) for pair in PLACE]}, [(1, 4)]),
        (5, {"born": [501 * (pair == (1, 4)) for pair in PLACE]}, ONE_GOES),  # it is young
        (5, {"born": 1000}, [(1, 4)]),  # all are young
        (5, {"protected": np.arange(6) == PLACE[1, 4]}, ONE_GOES),
        (0, {"protected": np.ones(6, dtype=np.bool_)}, []),
    ],
)
def test_edges_go_until_the_size_is_right_and_orphans_edges_with_them(
    size: int, known: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    edit = Contribution().decide(
        seen(**{"square": 1.0, "size": size, **known}), np.random.default_rng(0)
    )
    assert sorted((change.source, change.target) for change in edit.changes()) == expected


# --- gradient ------------------------------------------------------------------------------------


SWAPS, GROWS = Goal(2, 0, False, True, False), Goal(10, 0, True, False, False)


def wanting(
    gradient: list[float],
    square: Any = (1.0, 1.0, 0, 0),
    strain: Any = (0, 0, 0.1, 0.1),
    goal: Goal = SWAPS,
    weights: tuple[float, float] = (0.5, 2.0),
    **known: Any,
) -> Evidence:
    """Inputs 0 and 1, outputs 2 and 3; 0 -> 2 and 1 -> 3 are there, 1 -> 2 and 0 -> 3 absent."""
    graph = Graph.from_edges(2, 2, edges=[(0, 2, weights[0]), (1, 3, weights[1])])
    means = {"square": np.array(square), "strain": np.array(strain)}
    absent = absent_pairs(graph)[:, : len(gradient)]
    return evidence(
        graph, goal=goal, **means, absent=absent, absent_gradient=np.array(gradient), **known
    )


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        # The weakest edge, 0 -> 2, is worth ½·w²·1·0.1 = 0.0125; an absent one p²/(2·0.1).
        (wanting([-0.0708, 0.0]), 0),  # √(2 · 0.0125 · 0.2) = 0.0707…
        (wanting([-0.0706, 0.0]), -1),
        # The weakest is worth nothing; the error is 1.1, so p²/(2·0.1) must pass 0.011.
        (wanting([0.0, 0.0470], strain=(0, 0, 1, 0.1), weights=(0, 0)), 1),  # √0.0022 = 0.0469…
        (wanting([0.0, 0.0468], strain=(0, 0, 1, 0.1), weights=(0, 0)), -1),
        (wanting([-0.0355, 0.0], square=(1.0, 0.25, 0, 0)), 0),  # per mean square of the source
        (wanting([]), -1),  # nothing is absent
        (wanting([0.1, 0.1], strain=(0.0,) * 4), -1),  # nothing is wrong
    ],
)
def test_a_swap_is_worth_twice_the_weakest_edge_and_a_hundredth_of_the_error(
    of: Evidence, expected: int
) -> None:
    assert best_swap(of, pulls(of)) == expected


# --- candidates ----------------------------------------------------------------------------------


def three(weights: Any = 1.0, *, n_watched: int = 500, square: Any = 500.0) -> Candidates:
    """Return three candidates with edges from input 1 and hidden node 5 of GRAPH."""
    found = Candidates.start(GRAPH, 3, 2)
    found.sources[:], found.weights[:] = [[1], [5]], weights
    found.n_watched[:], found.square[:] = n_watched, square
    found.products[:] = [[1.0, -5.0, 2.0], [1.0, 0.0, 2.0]]
    return found


def test_a_candidate_receives_states_and_is_compared_with_the_errors_at_the_outputs() -> None:
    """By hand for K = 2: it receives the first states, and meets the errors of the second."""
    found = three([[0.5] * 3, [2.0] * 3], n_watched=0, square=0.0)
    found.products[:] = 0.0
    trace = np.array([[0.1, 0.2, 0, 0, 0, 0.3], [0.1, 0.2, 9, 9, 9, 9], [9.0] * 6])
    errors = np.array([[9.0] * 6, [9, 9, 0.5, -2.0, 9, 9]])
    step_candidates(found, trace, errors, ACTIVATIONS.index("identity"), GRAPH.n_inputs)
    state = 0.5 * 0.2 + 2.0 * 0.3
    np.testing.assert_allclose(found.square, state**2)
    np.testing.assert_allclose(found.n_watched, 1)
    np.testing.assert_allclose(found.products, np.outer([0.5, -2.0], [state] * 3))


def test_a_score_is_the_mean_product_for_a_mean_square_of_one() -> None:
    found = three(square=[2000.0, 500.0, 125.0]).scores()
    np.testing.assert_allclose(found, [[0.001, -0.01, 0.008], [0.001, 0.0, 0.008]])
    assert not three(n_watched=499).scores().any()  # it is judged after 500 updates
    assert not three(0.0).scores().any()  # it once joined as a node without edges in


@pytest.mark.parametrize("interval", [20, 499, 700])
def test_candidates_are_watched_on_through_calls_that_come_too_early(interval: int) -> None:
    """All of them were once redrawn at every call, so that short intervals never judged any."""
    network = network_config(n_inputs=4, n_outputs=3, n_hidden=1, density=0.4, iterations=3)
    rules = rules_of(growth="candidates", size=30, interval=interval)
    made = learner_of(network, learning_config(learning_rate=1e-3), rules)
    made.learn_stream(*lessons(interval, 0))
    first = made._state.watched.candidates.sources.copy()
    made.learn_stream(*lessons(interval, 1))
    if interval < 500:
        assert np.array_equal(made._state.watched.candidates.sources, first)
    made.learn_stream(*lessons(1500, 2))
    assert made.graph.n_hidden >= 2
