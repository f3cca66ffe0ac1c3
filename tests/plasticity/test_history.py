"""The update history remembers exactly the last T updates of every edge.  Paper: III-D, Eq. (1)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import ShapeError
from smgrnn.rules import UpdateHistory
from smgrnn.rules.history import carry_history, reset_history
from support.oracle import SlowHistory

HUGE = 1e9  # an update of a former edge; one of them in another edge's window cannot go unnoticed


def pushed(*updates: list[float], window: int) -> UpdateHistory:
    history = UpdateHistory.start(len(updates[0]), window)
    for update in updates:
        history.push(np.array(update))
    return history


def origins(*edges: int) -> Ints:
    return np.array(edges, dtype=np.int64)


def assert_exact(history: UpdateHistory, edge: int, seen: Floats) -> None:
    """The statistics are those of `seen`, up to the rounding that `seen` itself explains."""
    mean, variance = history.statistics()
    largest = np.abs(seen).max(initial=0.0)
    assert abs(mean[edge] - seen.mean()) <= 1e-13 * largest
    assert abs(variance[edge] - seen.var()) <= 1e-13 * largest**2


# --- Eq. (1) -------------------------------------------------------------------------------------


def test_mean_and_population_variance_are_those_of_eq_1() -> None:
    history = pushed([1.0, 0.0], [2.0, 3.0], [6.0, -3.0], window=3)
    mean, variance = history.statistics()
    assert mean.tolist() == [3.0, 0.0]  # (1 + 2 + 6) / 3, (0 + 3 - 3) / 3
    assert variance.tolist() == pytest.approx([14 / 3, 6.0])  # (4 + 1 + 9) / 3, (9 + 9) / 3


def test_an_update_older_than_the_window_counts_for_nothing() -> None:
    history = pushed([HUGE], [1.0], [5.0], window=2)
    mean, variance = history.statistics()
    assert (mean[0], variance[0]) == (3.0, 4.0)


def test_a_window_that_is_not_full_divides_by_what_it_has() -> None:
    history = pushed([1.0], [5.0], window=100)
    mean, variance = history.statistics()
    assert (mean[0], variance[0], history.counts()[0]) == (3.0, 4.0, 2)


def test_an_edge_without_updates_has_mean_and_variance_zero() -> None:
    history = UpdateHistory.start(2, window=5)
    mean, variance = history.statistics()
    assert history.counts().tolist() == mean.tolist() == variance.tolist() == [0, 0]
    assert history.updates(1).size == 0


def test_an_edge_that_never_moves_has_exactly_zero_statistics() -> None:
    """At K = 1 these are all edges into hidden nodes; a pruning threshold of 0 must find them."""
    mean, variance = pushed(*[[0.0, 0.1]] * 7, window=3).statistics()
    assert (mean[0], variance[0]) == (0.0, 0.0)


def test_one_update_has_exactly_zero_variance() -> None:
    for value in np.random.default_rng(0).normal(size=50).tolist():
        mean, variance = pushed([value], window=4).statistics()
        assert (mean[0], variance[0]) == (value, 0.0)


@pytest.mark.parametrize("window", [1, 2, 5, 8])
def test_the_ring_holds_the_last_updates_oldest_first(window: int) -> None:
    history = UpdateHistory.start(2, window)
    for k in range(3 * window + 2):
        history.push(np.array([k, -k], dtype=np.float64))
        remembered = list(range(k + 1))[-window:]
        assert history.updates(0).tolist() == remembered
        assert history.updates(1).tolist() == [-number for number in remembered]
        assert history.counts().tolist() == [len(remembered)] * 2
        assert history.n_updates == k + 1
    assert history.window == window


def test_an_update_of_another_length_is_refused() -> None:
    with pytest.raises(ShapeError, match="Expected 3 updates"):
        UpdateHistory.start(3, window=5).push(np.zeros(2))


# --- no drift ------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0.0, 1e-9])
def test_statistics_do_not_drift_when_large_updates_give_way_to_small_ones(after: float) -> None:
    """A running sum that subtracts what leaves the window would keep the rounding of 100,000 large
    updates for ever, far above 1e-9; here the window alone explains every digit.
    """
    window, n_large = 37, 110_000
    rng = np.random.default_rng(0)
    history = UpdateHistory.start(2, window)
    for update in 0.1 * rng.standard_normal((n_large, 2)) + [0.0, 0.05]:
        history.push(update)
    for k, update in enumerate(after * rng.standard_normal((3 * window, 2)), start=1):
        history.push(update)
        for edge in range(2):
            assert_exact(history, edge, history.updates(edge))
        if k >= window and after == 0.0:
            assert not np.any(history.statistics())
        elif k >= window:
            assert np.all(history.statistics()[1] < (3 * after) ** 2)


def test_statistics_stay_exact_while_magnitudes_rise_and_fall() -> None:
    window = 10
    rng = np.random.default_rng(1)
    history = UpdateHistory.start(1, window)
    for k in range(3000):
        history.push(10.0 ** (6 * np.sin(k / 40)) * rng.standard_normal(1))
        assert_exact(history, 0, history.updates(0))


def test_variance_is_never_negative() -> None:
    history = UpdateHistory.start(1, window=6)
    for k in range(500):
        history.push(np.array([0.1 + 1e-12 * (k % 3)]))
        assert history.statistics()[1][0] >= 0.0


# --- what an edit does ---------------------------------------------------------------------------


def test_keep_carries_the_updates_of_surviving_edges_to_their_new_places() -> None:
    history = pushed([1.0, 10.0, 100.0], [2.0, 20.0, 200.0], window=3)
    history = carry_history(history, origins(2, -1, 0))
    assert [history.updates(edge).tolist() for edge in range(3)] == [[100, 200], [], [1, 2]]
    history.push(np.array([300.0, 7.0, 3.0]))
    history.push(np.array([400.0, 8.0, 4.0]))
    seen = [history.updates(edge).tolist() for edge in range(3)]
    assert seen == [[200, 300, 400], [7, 8], [2, 3, 4]]


def test_reset_empties_the_window_of_every_edge() -> None:
    history = pushed([HUGE, HUGE], [HUGE, HUGE], [HUGE, HUGE], window=2)
    history = reset_history(history, 2)
    assert history.counts().tolist() == [0, 0]
    assert not np.any(history.statistics())
    history.push(np.array([1.0, 2.0]))
    history.push(np.array([3.0, 2.0]))
    mean, variance = history.statistics()
    assert (mean.tolist(), variance.tolist()) == ([2.0, 2.0], [1.0, 0.0])


@pytest.mark.parametrize("policy", ["keep", "reset"])
def test_the_update_counter_goes_on_through_an_edit(policy: str) -> None:
    """`interval` counts updates with it, so an edit must not restart it."""
    history = pushed([1.0], [2.0], [3.0], window=2)
    edited = carry_history(history, origins(0, -1)) if policy == "keep" else None
    assert (edited or reset_history(history, 2)).n_updates == 3


@pytest.mark.parametrize("n_edges", [0, 1, 3, 50])
@pytest.mark.parametrize("phase", range(5))
def test_new_edges_start_empty_whatever_the_phase_of_the_ring(phase: int, n_edges: int) -> None:
    history = pushed(*[[HUGE, HUGE, HUGE]] * (4 + phase), window=4)
    history = carry_history(history, np.full(n_edges, -1))
    assert history.counts().tolist() == [0] * n_edges
    assert not np.any(history.statistics())


@pytest.mark.parametrize("phase", range(6))
@pytest.mark.parametrize("policy", ["keep", "reset"])
def test_a_reused_slot_never_leaks_the_updates_of_its_former_edge(policy: str, phase: int) -> None:
    history = pushed(*[[HUGE, 1.0, -HUGE]] * (6 + phase), window=5)
    if policy == "keep":
        history = carry_history(history, origins(-1, 1, -1))
    else:
        history = reset_history(history, 3)
    pushes = np.random.default_rng(phase).normal(size=(12, 3))
    for k, update in enumerate(pushes, start=1):
        history.push(update)
        own = pushes[:k][-5:]
        for edge in (0, 2):
            assert history.counts()[edge] == len(own)
            assert history.updates(edge).tolist() == own[:, edge].tolist()
            assert_exact(history, edge, own[:, edge])


def test_edges_that_left_can_come_back_only_as_new_ones() -> None:
    """Shrink, then grow within the capacity left over, then grow beyond it."""
    history = pushed([1.0, HUGE, HUGE, HUGE], window=3)
    history = carry_history(history, origins(0))
    history.push(np.array([2.0]))
    history = carry_history(history, origins(-1, 0, -1, -1))
    assert history.counts().tolist() == [0, 2, 0, 0]
    history.push(np.full(4, 3.0))
    history = carry_history(history, origins(0, 1, -1, -1, -1, -1, -1, -1, -1))
    assert history.counts().tolist() == [1, 3, 0, 0, 0, 0, 0, 0, 0]
    assert history.updates(1).tolist() == [1.0, 2.0, 3.0]
    assert history.statistics()[0].tolist() == [3.0, 2.0, 0, 0, 0, 0, 0, 0, 0]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    window=st.integers(1, 6),
    n_start=st.integers(0, 6),
    edits=st.lists(
        st.tuples(
            st.integers(0, 9),  # updates before the edit
            st.sampled_from(["keep", "keep", "reset"]),
            st.floats(0, 1),  # share of the edges that survive it
            st.integers(0, 6),  # edges it adds
        ),
        max_size=12,
    ),
    seed=st.integers(0, 1000),
)
def test_any_sequence_of_edits_agrees_with_plain_lists(
    window: int, n_start: int, edits: list[tuple[int, str, float, int]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ids = list(range(n_start))
    history, slow = UpdateHistory.start(n_start, window), SlowHistory(window)
    slow.start(ids)
    next_id = n_start
    for n_updates, policy, share, n_new in edits:
        for _ in range(n_updates):
            delta = rng.normal(size=len(ids))
            history.push(delta)
            slow.push(dict(zip(ids, delta.tolist(), strict=True)))
        former = ids
        ids = [edge for edge in former if rng.random() < share]
        ids += range(next_id, next_id + n_new)
        next_id += n_new
        rng.shuffle(ids)
        if policy == "keep":
            origin = [former.index(edge) if edge in former else -1 for edge in ids]
            history = carry_history(history, np.array(origin, dtype=np.int64))
            slow.keep(ids)
        else:
            history = reset_history(history, len(ids))
            slow.start(ids)
        counts = history.counts()
        mean, variance = history.statistics()
        for k, edge in enumerate(ids):
            assert history.updates(k).tolist() == list(slow.updates[edge])
            assert counts[k] == len(slow.updates[edge])
            assert mean[k] == pytest.approx(slow.mean(edge), abs=1e-13)
            assert variance[k] == pytest.approx(slow.variance(edge), abs=1e-13)
