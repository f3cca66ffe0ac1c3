"""The update history remembers exactly the last T updates of every edge.  Paper: III-D, Eq. (1)."""

import numpy as np
import pytest

from smgrnn.arrays import Floats
from smgrnn.errors import ShapeError
from smgrnn.rules import UpdateHistory


def assert_exact(history: UpdateHistory, edge: int, seen: Floats) -> None:
    """The statistics are those of `seen`, up to the rounding that `seen` itself explains."""
    mean, variance = history.statistics()
    largest = np.abs(seen).max(initial=0.0)
    assert abs(mean[edge] - seen.mean()) <= 1e-13 * largest
    assert abs(variance[edge] - seen.var()) <= 1e-13 * largest**2


@pytest.mark.parametrize(
    ("updates", "window", "mean", "variance", "count"),
    [
        ([1.0, 2.0, 6.0], 3, 3.0, 14 / 3, 3),  # (4 + 1 + 9) / 3
        ([0.0, 3.0, -3.0], 3, 0.0, 6.0, 3),
        ([1e9, 1.0, 5.0], 2, 3.0, 4.0, 2),  # older than the window
        ([1.0, 5.0], 100, 3.0, 4.0, 2),  # a window that is not full
        ([0.37], 4, 0.37, 0.0, 1),  # exactly 0
        ([0.0] * 7, 3, 0.0, 0.0, 3),  # at K = 1 all edges into hidden nodes
        ([], 5, 0.0, 0.0, 0),
    ],
)
def test_mean_and_population_variance_are_those_of_eq_1(
    updates: list[float], window: int, mean: float, variance: float, count: int
) -> None:
    history = UpdateHistory.start(2, window)
    for update in updates:
        history.push(np.array([update, 0.1]))
    found = history.statistics()
    assert (found[0][0], found[1][0]) == (mean, pytest.approx(variance, rel=1e-12, abs=0))
    assert history.counts().tolist() == [count] * 2
    assert history.n_updates == len(updates)


def test_an_update_of_another_length_is_refused() -> None:
    with pytest.raises(ShapeError, match="Expected 3 updates"):
        UpdateHistory.start(3, window=5).push(np.zeros(2))


# --- no drift ------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0.0, 1e-9])
def test_statistics_do_not_drift_when_large_updates_give_way_to_small_ones(after: float) -> None:
    """A running sum that subtracts what leaves the window would keep the rounding of 30,000 large
    updates for ever, far above 1e-9; here the window alone explains every digit.
    """
    window, n_large = 37, 30_000
    rng = np.random.default_rng(0)
    history = UpdateHistory.start(2, window)
    for update in 0.1 * rng.standard_normal((n_large, 2)) + [0.0, 0.05]:
        history.push(update)
    for k, update in enumerate(after * rng.standard_normal((3 * window, 2)), start=1):
        history.push(update)
        for edge in range(2):
            assert_exact(history, edge, history.updates(edge))
        if k >= window:
            assert np.all(history.statistics()[1] <= (3 * after) ** 2)
