"""Every rule of the module against values worked out by hand.  Paper: Sec. III-C."""

import itertools
import tracemalloc
from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smgrnn.plasticity import RuleNumbers, UpdateHistory, exploration, instability, relay
from smgrnn.plasticity.exploration import batch_size, missing_before, missing_edges
from smgrnn.plasticity.numbers import SCALES
from smgrnn.plasticity.orphans import orphans
from smgrnn.plasticity.weak import prune_count, weak_edges

from smgrnn.arrays import Bools
from smgrnn.config import Scale
from smgrnn.graph import Cause, Change, Graph, Operation, apply
from support.decisions import (
    AT_REST,
    CHI_SQUARE_999,
    DRIFTING,
    RESTLESS,
    call,
    causes,
    chi_square,
    decide,
    evidence,
    remembering,
)
from support.flat import rules

UPDATE, VARIANCE_TO_MEAN, WEIGHT = range(3)

quick = settings(max_examples=200, deadline=None, derandomize=True)


def is_unstable(
    mean: float, variance: float, weight: float = 1.0, *, width: float, threshold: float, scale: int
) -> bool:
    config = rules(interval_width=width, fluctuation_threshold=threshold)
    numbers = RuleNumbers.of(config)._replace(scale=scale)
    return bool(instability.is_unstable(mean, variance, weight, numbers))


# --- instability: Eqs. (2)-(4) -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "variance", "crosses"),
    [
        (0.25, 0.25, True),  # |μ| = 0.25 = λσ: the interval is closed
        (-0.25, 0.25, True),
        (0.2501, 0.25, False),
        (-0.2501, 0.25, False),
        (0.0, 0.25, True),
        (0.25, 0.0, False),
    ],
)
def test_an_edge_is_unstable_only_if_zero_lies_in_its_interval(
    mean: float, variance: float, crosses: bool
) -> None:
    for scale in range(3):
        assert is_unstable(mean, variance, width=0.5, threshold=0.01, scale=scale) == crosses


@pytest.mark.parametrize(
    ("scale", "fluctuation"),
    [
        (UPDATE, 4.0),  # σ²/μ² = 0.25 / 0.0625
        (VARIANCE_TO_MEAN, 1.0),  # σ²/|μ| = 0.25 / 0.25
        (WEIGHT, 1 / 16),  # σ²/w² = 0.25 / 4
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_each_scale_measures_fluctuation_against_its_own_quantity(
    scale: int, fluctuation: float, sign: int
) -> None:
    edge = {"mean": sign * 0.25, "variance": 0.25, "weight": sign * 2.0}
    assert is_unstable(**edge, width=0.5, threshold=0.999 * fluctuation, scale=scale)
    assert not is_unstable(**edge, width=0.5, threshold=1.001 * fluctuation, scale=scale)


def test_an_edge_at_rest_is_never_unstable() -> None:
    for scale in range(3):
        assert not is_unstable(0.0, 0.0, 0.0, width=0.5, threshold=1e-300, scale=scale)


def test_the_threshold_itself_is_not_exceeded() -> None:
    config = rules(fluctuation_threshold=4.0, scale="update")
    numbers = RuleNumbers.of(config)._replace(epsilon=0.0)
    assert not instability.is_unstable(0.25, 0.25, 1.0, numbers)


def test_settings_name_the_scales_in_the_order_the_kernel_numbers_them() -> None:
    assert get_args(Scale) == SCALES
    numbers = [RuleNumbers.of(rules(scale=name)).scale for name in get_args(Scale)]
    assert numbers == [UPDATE, VARIANCE_TO_MEAN, WEIGHT]


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
    crosses_zero = bool(abs(mean) <= width * np.sqrt(variance))
    flagged = is_unstable(mean, variance, width=width, threshold=threshold, scale=UPDATE)
    assert flagged == crosses_zero


@pytest.mark.parametrize("scale", [VARIANCE_TO_MEAN, WEIGHT])
@quick
@given(sigma=st.floats(1e-3, 0.3), share=st.floats(-0.9, 0.9))
def test_the_fluctuation_threshold_binds_on_the_other_scales(
    scale: int, sigma: float, share: float
) -> None:
    """On each, θ_var inside the paper's range tells apart two edges that both cross zero."""
    mean, weight = share * 0.5 * sigma, 1.0
    reference = abs(mean) + 1e-8 if scale == VARIANCE_TO_MEAN else (weight + 1e-8) ** 2
    ratio = sigma**2 / reference
    edge = {"mean": mean, "variance": sigma**2, "weight": weight}
    assert is_unstable(**edge, width=0.5, threshold=0.99 * ratio, scale=scale)
    assert not is_unstable(**edge, width=0.5, threshold=1.01 * ratio, scale=scale)


@pytest.mark.parametrize("scale", [VARIANCE_TO_MEAN, WEIGHT])
def test_the_papers_thresholds_filter_small_updates_on_the_other_scales(scale: int) -> None:
    for threshold in (0.05, 0.1, 0.2):
        small = {"mean": 0.004, "variance": 0.01**2}  # 0.025 of the mean, 0.0001 of the weight
        large = {"mean": 0.4, "variance": 1.0}  # 2.5 of the mean, 1 of the weight
        assert not is_unstable(**small, width=0.5, threshold=threshold, scale=scale)
        assert is_unstable(**large, width=0.5, threshold=threshold, scale=scale)
        assert is_unstable(**small, width=0.5, threshold=threshold, scale=UPDATE)


# --- relays: Sec. III-C1, Fig. 2 -----------------------------------------------------------------


def test_a_relay_is_inserted_beside_an_unstable_edge_which_stays() -> None:
    graph = Graph.from_edges(1, 1, edges=[(0, 1, 0.5)])
    edit = call(graph, remembering(RESTLESS), growth="relay-alone", seed=3).edit
    first, second = (0.01 * np.random.default_rng(3).standard_normal(2)).tolist()
    assert list(edit.changes()) == [
        Change(Operation.ADD_NODE, Cause.RELAY, 2, 0, 1, 0.0),
        Change(Operation.ADD_EDGE, Cause.RELAY, 1, 0, 2, first),
        Change(Operation.ADD_EDGE, Cause.RELAY, 2, 2, 1, second),
    ]
    after = [(e.id, e.source, e.target, e.weight) for e in apply(graph, edit).graph.edges()]
    assert after == [(0, 0, 1, 0.5), (2, 2, 1, second), (1, 0, 2, first)]


def test_every_unstable_edge_gets_a_relay_unless_max_relays_says_how_many() -> None:
    graph = Graph.from_edges(3, 2, edges=[(u, v, 1.0) for u in range(3) for v in (3, 4)])
    history = remembering(*[RESTLESS] * 4, DRIFTING, AT_REST)
    for max_relays, expected in ((None, 4), (1, 1), (3, 3), (9, 4)):
        edit, is_capped = call(graph, history, max_relays=max_relays, growth="relay-alone")
        assert edit.count(Operation.ADD_NODE, Cause.RELAY) == expected
        assert edit.count(Operation.ADD_EDGE) == 2 * expected
        assert not is_capped  # max_relays is a rule, not a limit on size


def test_max_relays_picks_among_the_unstable_edges_uniformly() -> None:
    graph = Graph.from_edges(5, 1, edges=[(u, 5, 1.0) for u in range(5)])
    history = remembering(RESTLESS, DRIFTING, RESTLESS, RESTLESS, RESTLESS)
    rules = rules(window=2, max_relays=1, growth="relay-alone")
    rng = np.random.default_rng(0)
    picks = (decide(graph, history, rules, 1, rng).edit.rows[0, 3] for _ in range(4000))
    counts = Counter(int(source) for source in picks)
    assert sorted(counts) == [0, 2, 3, 4]
    assert chi_square(counts) < CHI_SQUARE_999[3]


@pytest.mark.parametrize(
    ("updates", "when_full", "at_once"),
    [([], False, False), ([1.0, -1.0], False, True), ([1.0, -1.0, 0.0], True, True)],
)
def test_an_edge_grows_once_its_window_is_full_or_else_from_its_first_updates(
    updates: list[float], when_full: bool, at_once: bool
) -> None:
    graph = Graph.from_edges(1, 1, edges=[(0, 1, 0.5)])
    history = remembering(updates, window=3)
    assert bool(call(graph, history, full_window=True, growth="relay-alone").edit) == when_full
    assert bool(call(graph, history, full_window=False, growth="relay-alone").edit) == at_once


@pytest.mark.parametrize(
    ("updates", "when_full", "at_once"),
    [([], False, False), ([0.0], False, True), ([0.0, 0.0, 0.0], True, True)],
)
def test_an_edge_is_pruned_once_its_window_is_full_or_else_from_its_first_update(
    updates: list[float], when_full: bool, at_once: bool
) -> None:
    """A new edge is small and has not moved yet: it must be given a chance to."""
    graph = Graph.from_edges(1, 1, edges=[(0, 1, 0.01)])
    history = remembering(updates, window=3)
    assert bool(call(graph, history, 3, full_window=True).edit) == when_full
    assert bool(call(graph, history, 3, full_window=False).edit) == at_once


# --- exploration: Eqs. (5)-(6) -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_nodes", "ratio", "expected"),
    [(6, 0.01, 1), (199, 0.01, 1), (200, 0.01, 2), (7, 0.5, 3), (5, 1.0, 5), (5, 0.0, 1)],
)
def test_batch_size_is_the_floor_of_the_ratio_and_at_least_one(
    n_nodes: int, ratio: float, expected: int
) -> None:
    assert batch_size(n_nodes, ratio) == expected


def test_missing_edges_by_hand() -> None:
    """Inputs 0 and 1, output 2, hidden 3; rows are the targets."""
    graph = Graph.from_edges(2, 1, n_hidden=1, edges=[(0, 2, 1.0), (3, 2, 1.0), (1, 3, 1.0)])
    before = missing_before(graph, False)
    assert before.tolist() == [0, 0, 0, 1, 3]
    assert missing_edges(graph, before, np.arange(3)).tolist() == [[1, 2], [0, 3], [2, 3]]
    before = missing_before(graph, True)
    assert before.tolist() == [0, 3, 6, 7, 9]
    into_inputs = [[1, 0], [2, 0], [3, 0], [0, 1], [2, 1], [3, 1]]
    assert missing_edges(graph, before, np.arange(6)).tolist() == into_inputs


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n_inputs, n_outputs, n_hidden = (draw(st.integers(low, 4)) for low in (1, 1, 0))
    n_nodes = n_inputs + n_outputs + n_hidden
    pairs = list(itertools.permutations(range(n_nodes), 2))
    edges = draw(st.sets(st.sampled_from(pairs)))
    return Graph.from_edges(n_inputs, n_outputs, n_hidden, [(u, v, 1.0) for u, v in edges])


@quick
@given(graph=graphs(), ratio=st.floats(0, 1), explore_inputs=st.booleans(), seed=st.integers(0, 99))
def test_exploration_proposes_distinct_edges_that_are_new_and_not_loops(
    graph: Graph, ratio: float, explore_inputs: bool, seed: int
) -> None:
    history = UpdateHistory.start(graph.n_edges, window=2)
    edit = call(graph, history, seed=seed, explore_ratio=ratio, explore_inputs=explore_inputs).edit
    proposed = [(change.source, change.target) for change in edit.changes()]
    first_target = 0 if explore_inputs else graph.n_inputs
    pool = set(itertools.permutations(range(graph.n_nodes), 2))
    pool = {(u, v) for u, v in pool if v >= first_target}
    pool -= {(edge.source, edge.target) for edge in graph.edges()}
    assert len(set(proposed)) == len(proposed) == min(batch_size(graph.n_nodes, ratio), len(pool))
    assert set(proposed) <= pool
    assert causes(edit) == Counter(EXPLORATION=len(proposed))


@quick
@given(graph=graphs())
def test_a_batch_as_large_as_the_pool_connects_everything_left(graph: Graph) -> None:
    before = missing_before(graph, False)
    pairs = missing_edges(graph, before, np.arange(before[-1])).tolist()
    present = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    allowed = {(u, v) for u, v in itertools.permutations(range(graph.n_nodes), 2)}
    allowed = {(u, v) for u, v in allowed if v >= graph.n_inputs}
    assert set(map(tuple, pairs)) == allowed - set(present)


def test_nothing_is_explored_in_a_complete_graph() -> None:
    pairs = [(u, v, 1.0) for v in (1, 2) for u in range(3) if u != v]
    graph = Graph.from_edges(1, 1, n_hidden=1, edges=pairs)
    edit, is_capped = call(graph, UpdateHistory.start(4, window=2))
    assert not edit
    assert not is_capped


def test_every_missing_edge_is_explored_equally_often() -> None:
    graph = Graph.from_edges(2, 1, n_hidden=2, edges=[(0, 2, 1.0), (3, 4, 1.0)])
    history = UpdateHistory.start(2, window=2)
    rules, rng = rules(window=2), np.random.default_rng(0)
    edits = (decide(graph, history, rules, 1, rng).edit for _ in range(5000))
    counts = Counter(tuple(edit.rows[0, 3:].tolist()) for edit in edits)
    assert len(counts) == 10
    assert chi_square(counts) < CHI_SQUARE_999[9]


def test_exploration_is_triggered_with_its_probability_beside_unstable_edges() -> None:
    graph = Graph.from_edges(2, 1, edges=[(0, 2, 1.0)])
    for probability in (0.0, 0.25, 1.0):
        config = rules(window=2, explore_probability=probability)
        rules, rng, n_calls = config, np.random.default_rng(0), 4000
        n_explored = sum(
            decide(graph, remembering(RESTLESS), rules, 1, rng).edit.count(
                Operation.ADD_EDGE, Cause.EXPLORATION
            )
            for _ in range(n_calls)
        )
        four_deviations = 4 * np.sqrt(n_calls * probability * (1 - probability))
        assert abs(n_explored - n_calls * probability) <= four_deviations


def test_exploration_is_certain_without_unstable_edges() -> None:
    graph = Graph.from_edges(2, 1, edges=[(0, 2, 1.0)])
    for seed in range(50):
        edit = call(graph, remembering(DRIFTING), seed=seed, explore_probability=0.0).edit
        assert causes(edit) == Counter(EXPLORATION=1)


def test_an_unstable_edge_lifts_the_certainty_even_where_relays_are_turned_off() -> None:
    """The trigger is forced by an empty criterion, not by an absence of relays."""
    graph = Graph.from_edges(2, 1, edges=[(0, 2, 1.0)])
    changes: dict[str, Any] = {"explore_probability": 0.0, "growth": "exploration"}
    assert not any(call(graph, remembering(RESTLESS), seed=s, **changes).edit for s in range(50))


def test_the_batch_and_the_pool_are_those_before_the_relays_of_the_call() -> None:
    """0.4 of 4 nodes is 1 edge; with the relay's node it would be 2, and could end at it."""
    graph = Graph.from_edges(2, 2, edges=[(0, 2, 1.0)])
    history = remembering(RESTLESS)
    for seed in range(30):
        *relayed, explored = call(
            graph, history, seed=seed, explore_probability=1.0, explore_ratio=0.4
        ).edit.changes()
        assert [change.cause for change in relayed] == [Cause.RELAY] * 3
        assert (explored.cause, explored.id) == (Cause.EXPLORATION, 3)
        assert (explored.source, explored.target) in {(1, 2), (3, 2), (0, 3), (1, 3), (2, 3)}


def test_exploring_ten_thousand_nodes_builds_nothing_of_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """tracemalloc does not see what compiled code allocates, so the same source runs as Python."""
    n_nodes, n_edges = 10_000, 20_000
    rng = np.random.default_rng(0)
    sources, targets = rng.integers((0, 4), n_nodes, size=(n_edges, 2)).T.tolist()
    pairs = {(u, v) for u, v in zip(sources, targets, strict=True) if u != v}
    graph = Graph.from_edges(4, 2, n_nodes - 6, [(u, v, 1.0) for u, v in pairs])
    still = np.zeros(graph.n_edges)
    seen, numbers = evidence(graph, still, still), RuleNumbers.of(rules())
    compiled = relay.grow(seen, numbers, np.random.default_rng(1), True).edit
    for module in (exploration, relay):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    tracemalloc.start()
    try:
        edit = relay.grow(seen, numbers, np.random.default_rng(1), True).edit
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n_nodes**2 / 20
    assert causes(edit) == Counter(EXPLORATION=100)
    assert np.array_equal(edit.rows, compiled.rows)
    assert np.array_equal(edit.weight, compiled.weight)


# --- pruning: Eqs. (7)-(8) -----------------------------------------------------------------------


def test_weak_edges_are_small_and_stalled_with_both_bounds_included() -> None:
    mean = np.array([0.0, 1e-4, -1e-4, 1.1e-4, 0.0, 0.0])
    weight = np.array([0.0, 0.1, -0.1, 0.0, 0.11, -0.11])
    graph = Graph.from_edges(6, 1, edges=[(u, 6, w) for u, w in enumerate(weight.tolist())])
    flags = weak_edges(evidence(graph, mean, mean), RuleNumbers.of(rules()))
    assert flags.tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("n_weak", "fraction", "expected"),
    [
        (0, 0.8, 0),
        (1, 0.8, 1),
        (1, 0.1, 1),  # floor would spare it
        (2, 0.8, 2),  # 1.6
        (3, 0.5, 2),  # 1.5
        (5, 0.5, 3),  # 2.5, where rounding to even would say 2
        (13, 0.1, 1),  # 1.3
        (10, 0.8, 8),
        (10, 1.0, 10),
        (100, 0.004, 1),  # 0.4
    ],
)
def test_prune_count_rounds_half_up_and_never_spares_a_lone_candidate(
    n_weak: int, fraction: float, expected: int
) -> None:
    assert prune_count(n_weak, fraction) == expected


@quick
@given(n_weak=st.integers(1, 10**6), fraction=st.floats(0, 1, exclude_min=True))
def test_prune_count_is_some_of_the_weak_edges_and_at_most_all(
    n_weak: int, fraction: float
) -> None:
    count = prune_count(n_weak, fraction)
    assert 1 <= count <= n_weak
    assert abs(count - fraction * n_weak) <= 0.5 or count == 1


def test_pruned_edges_are_drawn_uniformly_from_the_weak_ones() -> None:
    edges = [(u, 5, 0.01) for u in range(4)] + [(4, 5, 1.0)]
    graph, history = Graph.from_edges(5, 1, edges=edges), remembering(*[AT_REST] * 5)
    rules = rules(window=2, prune_period=1, prune_fraction=0.25)
    rng = np.random.default_rng(0)
    edits = [decide(graph, history, rules, 1, rng).edit for _ in range(4000)]
    assert all(causes(edit) == Counter(WEAK_EDGE=1) for edit in edits[:100])
    counts = Counter(int(edit.rows[0, 3]) for edit in edits)
    assert sorted(counts) == [0, 1, 2, 3]
    assert chi_square(counts) < CHI_SQUARE_999[3]


def orphans_of(n_hidden: int, *edges: tuple[int, int]) -> list[int]:
    """Return the orphans of a graph with input 0, output 1 and hidden nodes from 2."""
    graph = Graph.from_edges(1, 1, n_hidden, [(u, v, 1.0) for u, v in edges])
    stays: Bools = np.ones(graph.n_edges, dtype=np.bool_)
    return np.flatnonzero(orphans(graph, stays)).tolist()


def test_orphans_are_hidden_nodes_without_incoming_or_without_outgoing_edges() -> None:
    assert orphans_of(4, (0, 2), (2, 1), (0, 3), (4, 1)) == [3, 4, 5]


def test_inputs_and_outputs_are_never_orphans() -> None:
    assert orphans_of(0) == []


def test_an_orphan_orphans_its_neighbours_in_turn() -> None:
    assert orphans_of(4, (0, 2), (2, 3), (3, 4), (4, 5), (0, 1)) == [2, 3, 4, 5]
    assert orphans_of(3, (2, 3), (3, 4), (4, 1)) == [2, 3, 4]


def test_a_cycle_of_hidden_nodes_is_not_an_orphan_though_it_is_cut_off() -> None:
    """Eq. (8) counts degrees only; two nodes that feed each other both pass it."""
    assert orphans_of(2, (2, 3), (3, 2), (0, 1)) == []


def test_pruning_removes_weak_edges_then_the_edges_of_orphans_then_the_orphans() -> None:
    """Cutting 0 -> 2 takes the chain 2 -> 3 -> 1 with it."""
    edges = [(0, 1, 1.0), (3, 1, 0.7), (0, 2, 0.01), (2, 3, -0.9)]
    graph = Graph.from_edges(1, 1, n_hidden=2, edges=edges)
    edit, is_capped = call(graph, remembering(*[AT_REST] * 4), number=3)
    assert list(edit.changes()) == [
        Change(Operation.REMOVE_EDGE, Cause.WEAK_EDGE, 2, 0, 2, 0.01),
        Change(Operation.REMOVE_EDGE, Cause.ORPHAN, 1, 3, 1, 0.7),
        Change(Operation.REMOVE_EDGE, Cause.ORPHAN, 3, 2, 3, -0.9),
        Change(Operation.REMOVE_NODE, Cause.ORPHAN, 2, -1, -1, 0.0),
        Change(Operation.REMOVE_NODE, Cause.ORPHAN, 3, -1, -1, 0.0),
    ]
    assert not is_capped
    after = apply(graph, edit).graph
    assert (after.n_nodes, after.n_edges, after.next_node_id, after.next_edge_id) == (2, 1, 4, 4)
