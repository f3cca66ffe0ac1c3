"""The paper's rules, and those in their place, by values worked out by hand.  Paper: Sec. III-C."""

import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smgrnn.graph import Cause, Change, Graph, Operation, apply
from smgrnn.rules import (
    Duplicate,
    Exploration,
    RandomPruning,
    Relay,
    RelayAlone,
    Split,
    UpdateHistory,
    Weak,
)
from smgrnn.rules.paper import orphans
from smgrnn.rules.rule import subset
from support.decisions import CHI_SQUARE_999, causes, chi_square, decide, evidence
from support.flat import rules

ADD_NODE, ADD_EDGE, REMOVE_EDGE, REMOVE_NODE = Operation
SCALES = ("update", "variance_to_mean", "weight")
ONE = Graph.from_edges(1, 1, edges=[(0, 1, 0.5)])
quick = settings(max_examples=200, deadline=None, derandomize=True)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- instability: Eqs. (2)-(4) -------------------------------------------------------------------


def is_unstable(mean: float, variance: float, weight: float = 1.0, **changes: Any) -> bool:
    graph = Graph.from_edges(1, 1, edges=[(0, 1, weight)])
    return bool(Relay(**changes).unstable_edges(evidence(graph, mean, variance))[0])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("mean", "variance", "crosses"),
    [
        (0.25, 0.25, True),  # |μ| = 0.25 = λσ: the interval is closed
        (0.2501, 0.25, False),
        (0.0, 0.25, True),
        (0.25, 0.0, False),
        (0.0, 0.0, False),  # at rest
    ],
)
def test_an_edge_is_unstable_only_if_zero_lies_in_its_interval(
    mean: float, variance: float, crosses: bool, scale: Any
) -> None:
    for sign in (1, -1):
        assert (
            is_unstable(sign * mean, variance, fluctuation_threshold=0.01, scale=scale) == crosses
        )


@pytest.mark.parametrize(
    ("scale", "edge", "fluctuation"),
    [
        ("update", (0.25, 0.25, 2.0), 4.0),  # σ²/μ²
        ("variance_to_mean", (0.25, 0.25, 2.0), 1.0),  # σ²/|μ|
        ("weight", (0.25, 0.25, 2.0), 1 / 16),  # σ²/w²
        ("variance_to_mean", (0.004, 1e-4, 1.0), 0.025),  # small updates pass no θ_var of the paper
        ("weight", (0.004, 1e-4, 1.0), 1e-4),
        ("update", (0.004, 1e-4, 1.0), 6.25),  # but all of them here
    ],
)
def test_each_scale_measures_fluctuation_against_its_own_quantity(
    scale: Any, edge: tuple[float, float, float], fluctuation: float
) -> None:
    for sign in (1, -1):
        mean, variance, weight = sign * edge[0], edge[1], sign * edge[2]
        for share, expected in ((0.999, True), (1.001, False)):
            changes = {"fluctuation_threshold": share * fluctuation, "scale": scale}
            assert is_unstable(mean, variance, weight, **changes, epsilon=1e-12) == expected


@quick
@given(
    sigma=st.floats(1.001e-7, 10),
    share=st.floats(-1.5, 1.5),  # of λσ that the mean is
    width=st.floats(0.01, 1),
    threshold=st.floats(1e-6, 0.2),
)
def test_the_fluctuation_threshold_is_inert_on_the_printed_scale(
    sigma: float, share: float, width: float, threshold: float
) -> None:
    """0 in I_k means |μ| ≤ λσ, so (σ/|μ|)² ≥ 1/λ² ≥ 1, above every θ_var the paper tries."""
    mean, variance = share * width * sigma, sigma**2
    changes: dict[str, Any] = {"interval_width": width, "fluctuation_threshold": threshold}
    crosses_zero = bool(abs(mean) <= width * np.sqrt(variance))
    assert is_unstable(mean, variance, scale="update", **changes) == crosses_zero


# --- relays and other edits of unstable edges: Sec. III-C1, Fig. 2 -------------------------------


def test_a_relay_is_inserted_beside_an_unstable_edge_which_stays() -> None:
    edit = RelayAlone().decide(evidence(ONE, 0.0, 1.0), rng(3))
    first, second = (0.01 * rng(3).standard_normal(2)).tolist()
    assert list(edit.changes()) == [
        Change(ADD_NODE, Cause.RELAY, 2, 0, 1, 0.0),
        Change(ADD_EDGE, Cause.RELAY, 1, 0, 2, first),
        Change(ADD_EDGE, Cause.RELAY, 2, 2, 1, second),
    ]
    after = [(e.id, e.source, e.target, e.weight) for e in apply(ONE, edit).graph.edges()]
    assert after == [(0, 0, 1, 0.5), (2, 2, 1, second), (1, 0, 2, first)]


def test_a_split_takes_the_place_of_its_edge_and_a_copy_has_the_edges_of_its_node() -> None:
    edit = Split().decide(evidence(ONE, 0.0, 1.0), rng())
    assert list(edit.changes()) == [
        Change(ADD_NODE, Cause.SPLIT, 2, 0, 1, 0.0),
        Change(ADD_EDGE, Cause.SPLIT, 1, 0, 2, 1.0),
        Change(ADD_EDGE, Cause.SPLIT, 2, 2, 1, 0.5),
        Change(REMOVE_EDGE, Cause.SPLIT, 0, 0, 1, 0.5),
    ]
    graph = Graph.from_edges(2, 1, 1, [(0, 3, 0.4), (1, 3, -0.6), (3, 2, 0.9)])
    drawn = 0.01 * rng().standard_normal()
    hidden = Duplicate().decide(evidence(graph, 0.0, [1.0, 0.0, 0.0]), rng())  # 3 -> 2
    assert [tuple(c)[3:] for c in hidden.changes()] == [
        (3, 2, 0.0),
        *((0, 4, 0.4), (1, 4, -0.6), (4, 2, drawn)),
    ]
    of_input = Duplicate().decide(evidence(graph, 0.0, [0.0, 1.0, 0.0]), rng())  # 0 -> 3
    assert [tuple(c)[3:] for c in of_input.changes()] == [(0, 3, 0.0), (0, 4, 1.0), (4, 3, drawn)]


# --- exploration: Eqs. (5)-(6) -------------------------------------------------------------------


def test_a_batch_is_the_floor_of_the_ratio_and_at_least_one_edge() -> None:
    cases = ((6, 0.01, 1), (199, 0.01, 1), (200, 0.01, 2), (7, 0.5, 3), (5, 1.0, 5), (5, 0.0, 1))
    for n_nodes, ratio, expected in cases:
        seen = evidence(Graph.from_edges(2, 2, n_nodes - 4))
        edit = Exploration(explore_ratio=ratio).decide(seen, rng())
        assert causes(edit) == Counter(EXPLORATION=expected)


@pytest.mark.parametrize("rule", [Relay, Exploration])
@pytest.mark.parametrize(
    ("variance", "probability", "expected"),
    [(1.0, 0.0, 0.0), (1.0, 0.25, 0.25), (1.0, 1.0, 1.0), (0.0, 0.0, 1.0)],
)
def test_exploration_has_its_probability_and_is_certain_without_unstable_edges(
    rule: Any, variance: float, probability: float, expected: float
) -> None:
    """The criterion decides, not the relays: an unstable edge lifts the certainty without any."""
    graph, draws, n = Graph.from_edges(2, 1, edges=[(0, 2, 1.0)]), rng(), 2000
    grows, seen = rule(explore_probability=probability), evidence(graph, 0.0, variance)
    n_explored = sum(grows.decide(seen, draws).count(ADD_EDGE, Cause.EXPLORATION) for _ in range(n))
    assert abs(n_explored - n * expected) <= 4 * np.sqrt(n * expected * (1 - expected))


def test_exploring_ten_thousand_nodes_builds_nothing_of_their_square() -> None:
    n_nodes, draws = 10_000, rng()
    sources, targets = draws.integers((0, 4), n_nodes, size=(2 * n_nodes, 2)).T.tolist()
    pairs = {(u, v) for u, v in zip(sources, targets, strict=True) if u != v}
    seen = evidence(Graph.from_edges(4, 2, n_nodes - 6, [(u, v, 1.0) for u, v in pairs]))
    tracemalloc.start()
    try:
        edit = Relay().decide(seen, draws)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n_nodes**2 / 20
    assert causes(edit) == Counter(EXPLORATION=100)


# --- draws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "size", "n_sets"), [(4, 1, 4), (5, 2, 10), (5, 3, 10), (6, 3, 20)])
def test_every_subset_is_equally_likely(n: int, size: int, n_sets: int) -> None:
    draws = rng()
    counts = Counter(tuple(subset(draws, n, size).tolist()) for _ in range(10_000))
    assert len(counts) == n_sets
    assert chi_square(counts) < CHI_SQUARE_999[n_sets - 1]


@pytest.mark.parametrize("std", [0.0, 0.01, 0.5])
def test_new_weights_are_gaussian_or_have_a_random_sign_and_nothing_else(std: float) -> None:
    seen = evidence(Graph.from_edges(40, 40, edges=[]))
    changes: dict[str, Any] = {"explore_ratio": 1.0, "initial_weight": std}
    weight = Relay(**changes).decide(seen, rng()).weight
    assert weight.std() == pytest.approx(std, rel=0.2)
    assert abs(weight.mean()) <= 4 * std / np.sqrt(80)
    signs = Relay(**changes, new_weights="sign").decide(seen, rng()).weight
    assert set(signs.tolist()) == {std, -std}
    assert std == 0.0 or 20 <= (signs > 0).sum() <= 60


# --- pruning: Eqs. (7)-(8) -----------------------------------------------------------------------


def fan(*weights: float) -> Graph:
    """Return a graph with an edge of each weight from an input of its own to one output."""
    n = len(weights)
    return Graph.from_edges(n, 1, edges=[(u, n, weight) for u, weight in enumerate(weights)])


def test_weak_edges_are_small_and_stalled_with_both_bounds_included() -> None:
    seen = evidence(fan(0.0, 0.1, -0.1, 0.0, 0.11, -0.11), [0.0, 1e-4, -1e-4, 1.1e-4, 0.0, 0.0])
    assert Weak().weak_edges(seen).tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("n_weak", "fraction", "expected"),
    [
        *((0, 0.8, 0), (1, 0.8, 1), (10, 1.0, 10)),
        *((1, 0.1, 1), (100, 0.004, 1)),  # floor would spare it
        *((2, 0.8, 2), (3, 0.5, 2), (13, 0.1, 1)),  # 1.6, 1.5, 1.3
        (5, 0.5, 3),  # 2.5, where rounding to even would say 2
    ],
)
def test_the_count_rounds_half_up_and_never_spares_a_lone_weak_edge(
    n_weak: int, fraction: float, expected: int
) -> None:
    assert Weak(prune_fraction=fraction).count(n_weak) == expected
    seen = evidence(fan(*[0.01] * n_weak, 1.0))
    for rule, cause in ((Weak, "WEAK_EDGE"), (RandomPruning, "RANDOM")):
        edit = rule(prune_fraction=fraction).decide(seen, rng())
        assert causes(edit) == +Counter({cause: expected})


@pytest.mark.parametrize(
    ("n_hidden", "edges", "expected"),
    [
        (4, [(0, 2), (2, 1), (0, 3), (4, 1)], [3, 4, 5]),  # no edge out, no edge in, neither
        (0, [], []),  # inputs and outputs never are
        (4, [(0, 2), (2, 3), (3, 4), (4, 5), (0, 1)], [2, 3, 4, 5]),  # one after the other
        (3, [(2, 3), (3, 4), (4, 1)], [2, 3, 4]),
        (2, [(2, 3), (3, 2), (0, 1)], []),  # a cycle passes Eq. (8), though it is cut off
    ],
)
def test_orphans_are_hidden_nodes_without_edges_in_or_without_edges_out(
    n_hidden: int, edges: list[tuple[int, int]], expected: list[int]
) -> None:
    """Input 0, output 1 and hidden nodes from 2."""
    graph = Graph.from_edges(1, 1, n_hidden, [(u, v, 1.0) for u, v in edges])
    found = orphans(graph, np.ones(graph.n_edges, dtype=np.bool_))
    assert np.flatnonzero(found).tolist() == expected


def test_pruning_removes_weak_edges_then_the_edges_of_orphans_then_the_orphans() -> None:
    """Cutting 0 -> 2 takes the chain 2 -> 3 -> 1 with it."""
    edges = [(0, 1, 1.0), (3, 1, 0.7), (0, 2, 0.01), (2, 3, -0.9)]
    graph = Graph.from_edges(1, 1, n_hidden=2, edges=edges)
    history = UpdateHistory.start(4, 1)
    history.push(np.zeros(4))
    edit = decide(graph, history, rules(window=1, prune_period=1), 1, rng()).edit
    assert list(edit.changes()) == [
        Change(REMOVE_EDGE, Cause.WEAK_EDGE, 2, 0, 2, 0.01),
        Change(REMOVE_EDGE, Cause.ORPHAN, 1, 3, 1, 0.7),
        Change(REMOVE_EDGE, Cause.ORPHAN, 3, 2, 3, -0.9),
        Change(REMOVE_NODE, Cause.ORPHAN, 2, -1, -1, 0.0),
        Change(REMOVE_NODE, Cause.ORPHAN, 3, -1, -1, 0.0),
    ]
    after = apply(graph, edit).graph
    assert (after.n_nodes, after.n_edges, after.next_node_id, after.next_edge_id) == (2, 1, 4, 4)
