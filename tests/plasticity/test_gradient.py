"""Growth by gradient: which edges are absent, and which of them is worth adding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smgrnn.plasticity import Evidence
from smgrnn.plasticity.gradient import absent_pairs, best_swap, choose_edges, pulls
from smgrnn.plasticity.numbers import RuleNumbers

from smgrnn.arrays import Floats
from smgrnn.graph import Graph
from smgrnn.rules.size import Goal
from support.decisions import evidence
from support.frugal import rules_of


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of any wiring, with edges into inputs and out of outputs too."""
    n_inputs, n_outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n_hidden = draw(st.integers(0, 3))
    n = n_inputs + n_outputs + n_hidden
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    edges = draw(st.sets(pairs, min_size=1))
    return Graph.from_edges(n_inputs, n_outputs, n_hidden, [(u, v, 1.0) for u, v in edges])


@settings(deadline=None)
@given(graphs())
def test_absent_pairs_are_all_that_could_be_an_edge_and_are_not(graph: Graph) -> None:
    there = {(edge.source, edge.target) for edge in graph.edges()}
    outputs = range(graph.n_inputs, graph.n_inputs + graph.n_outputs)
    expected = [
        (u, v)
        for v in range(graph.n_inputs, graph.n_nodes)
        for u in range(graph.n_nodes)
        if u != v and u not in outputs and (u, v) not in there
    ]
    assert [(int(u), int(v)) for u, v in absent_pairs(graph).T] == expected


# Inputs 0 and 1, outputs 2 and 3; absent are 1 -> 2 and 0 -> 3.
GRAPH = Graph.from_edges(2, 2, edges=[(0, 2, 0.5), (1, 3, 2.0)])
NUMBERS = RuleNumbers.of(rules_of())


def seen(product: list[float], square: list[float], strain: list[float], goal: Goal) -> Evidence:
    none: Floats = np.zeros(2)
    return evidence(GRAPH, none, none)._replace(
        goal=goal,
        pairs=absent_pairs(GRAPH),
        product=np.array(product),
        square=np.array(square),
        strain=np.array(strain),
    )


SWAPS, GROWS = Goal(2, 0, False, True, False), Goal(10, 0, True, False, False)


def test_a_pull_is_the_gradient_for_a_source_of_mean_square_one() -> None:
    of = seen([-0.3, 0.4], [4.0, 0.25, 1.0, 1.0], [0, 0, 1.0, 1.0], GROWS)
    assert pulls(of).tolist() == pytest.approx([0.6, 0.2])
    silent = seen([-0.3, 0.4], [4.0, 0.0, 1.0, 1.0], [0, 0, 1.0, 1.0], GROWS)
    assert pulls(silent).tolist() == pytest.approx([0.0, 0.2])


def test_a_swap_promises_twice_what_the_weakest_edge_is_worth() -> None:
    """The weakest is 0 -> 2 with ½·w²·1·0.1 = 0.0125; the best absent edge is worth p²/(2·0.1)."""
    for product, expected in ((0.0708, 0), (0.0706, -1)):  # √(2 · 0.0125 · 0.2) = 0.0707…
        of = seen([-product, 0.0], [1.0, 1.0, 0, 0], [0, 0, 0.1, 0.1], SWAPS)
        assert best_swap(of) == expected


def test_a_swap_promises_a_hundredth_of_the_error() -> None:
    """The weakest edge is worth nothing; the error is 1.1, so that p²/(2·0.1) must pass 0.011."""
    for product, expected in ((0.0470, 1), (0.0468, -1)):  # √0.0022 = 0.0469…
        of = seen([0.0, product], [1.0, 1.0, 0, 0], [0, 0, 1.0, 0.1], SWAPS)
        of.graph.weight[:] = 0.0
        assert best_swap(of) == expected
        of.graph.weight[:] = [0.5, 2.0]


def test_no_swap_is_found_where_nothing_is_absent_or_nothing_is_wrong() -> None:
    full = seen([], [1.0] * 4, [1.0] * 4, SWAPS)._replace(pairs=np.zeros((2, 0), np.int64))
    assert best_swap(full) == -1
    assert best_swap(seen([0.1, 0.1], [1.0] * 4, [0.0] * 4, SWAPS)) == -1


@pytest.mark.parametrize(
    ("goal", "n_taken", "chosen"),
    [
        (Goal(10, 0, True, False, False), 0, [1, 0]),  # the stronger pull first
        (Goal(3, 0, True, False, False), 0, [1]),
        (Goal(2, 1, True, False, False), 0, [1]),  # by the slack
        (Goal(2, 0, True, False, False), 0, []),
        (Goal(4, 0, True, False, False), 1, [1]),  # one went to a new node
        (Goal(10, 9, False, False, False), 0, []),
        (Goal(2, 0, False, True, False), 0, [1]),  # one that takes the place of another
    ],
)
def test_edges_are_added_up_to_the_size(goal: Goal, n_taken: int, chosen: list[int]) -> None:
    of = seen([0.3, -0.9], [1.0, 1.0, 0, 0], [0, 0, 0.1, 0.1], goal)
    assert choose_edges(of, NUMBERS, n_taken).tolist() == chosen


@pytest.mark.parametrize("goal", [GROWS, SWAPS])
def test_no_edge_is_added_beyond_the_limit(goal: Goal) -> None:
    of = seen([0.3, -0.9], [1.0, 1.0, 0, 0], [0, 0, 0.1, 0.1], goal)
    assert choose_edges(of, NUMBERS._replace(max_edges=2), 0).size == 0
    assert choose_edges(of, NUMBERS._replace(max_edges=3), 0).tolist() == [1]
    assert choose_edges(of, NUMBERS._replace(max_edges=1), 0).size == 0


def test_an_edge_without_a_pull_is_not_added() -> None:
    of = seen([0.0, 0.0], [1.0] * 4, [1.0] * 4, GROWS)
    assert choose_edges(of, NUMBERS, 0).size == 0
