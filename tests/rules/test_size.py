"""The size to aim at: over a run of known length, in an endless loop, and by trials."""

from copy import copy
from math import nan

import pytest

from smgrnn.rules.size import Aim, Goal, target_at

ERROR = 1.0  # at the outputs, where it does not matter
START = 20  # edges before the first update


def aim_at(size: int | None, progress: float | None = None, *, is_met: bool = False) -> Aim:
    share = -1.0 if progress is None else progress
    return Aim(size=size or 0, start=START, progress=share, is_met=is_met)


def goal_at(
    aim: Aim, n_edges: int, error: float = ERROR, *, grows: bool = True, dense_until: float = 0.0
) -> Goal:
    return aim.goal(n_edges, error, is_growing=grows, dense_until=dense_until)


# --- with a size ---------------------------------------------------------------------------------


def test_the_target_rises_past_the_size_and_comes_back() -> None:
    found = [target_at(progress, 100) for progress in (0.0, 0.15, 0.3, 0.45, 0.6, 1.0)]
    assert found == pytest.approx([39, 84.5, 130, 115, 100, 100])


@pytest.mark.parametrize(
    ("progress", "goal"),
    [
        (0.0, Goal(39, 15, grows=True, swaps=False, is_over=False)),
        (0.3, Goal(130, 15, grows=True, swaps=False, is_over=False)),
        (0.399, Goal(120, 15, grows=True, swaps=False, is_over=False)),
        (0.4, Goal(120, 15, grows=False, swaps=True, is_over=True)),
        (0.599, Goal(100, 15, grows=False, swaps=True, is_over=True)),
        (0.6, Goal(100, 15, grows=False, swaps=False, is_over=True)),
        (1.0, Goal(100, 15, grows=False, swaps=False, is_over=True)),
    ],
)
def test_a_run_of_known_length_grows_then_swaps_then_settles(progress: float, goal: Goal) -> None:
    for n_edges in (10, 500):  # the goal does not depend on where the graph is
        assert goal_at(aim_at(100, progress), n_edges) == goal
    assert goal_at(aim_at(3, progress), 3).slack == 1


def test_an_endless_loop_grows_to_the_size_and_swaps_for_ever() -> None:
    for n_edges, grows in ((99, True), (100, False), (101, False)):
        assert goal_at(aim_at(100), n_edges) == Goal(100, 0, grows, True, False)
    assert not goal_at(aim_at(100, is_met=True), 20).grows  # it once grew on


@pytest.mark.parametrize("progress", [0.1, 0.5, 0.7])
def test_nothing_grows_once_the_returns_reach_the_target(progress: float) -> None:
    aim, is_over = aim_at(100, progress, is_met=True), progress >= 0.4
    assert goal_at(aim, 20) == Goal(20, 0, False, False, is_over)
    assert goal_at(aim, 500) == Goal(int(target_at(progress, 100)), 0, False, False, is_over)


def test_a_graph_that_reaches_the_target_loses_a_tenth_at_a_call_down_to_its_first_size() -> None:
    aim = aim_at(100, 0.3, is_met=True)
    found = [goal_at(aim, n, grows=False).size for n in (60, 54, 22, 21, 20, 15)]
    assert found == [54, 49, 20, 20, 20, 20]
    aim.progress = 0.5  # growth is over
    assert goal_at(aim, 60, grows=False).size == 60


def test_a_settled_graph_that_pruning_hurt_exchanges_edges_until_it_is_mended() -> None:
    aim = aim_at(100, 0.7)
    for total in (0.0, *[100.0] * 200):
        aim.note_return(total, nan)
    assert not goal_at(aim, 100).swaps
    for _ in range(5):
        aim.note_return(0.0, nan)
    assert goal_at(aim, 100).swaps
    aim.progress = 0.8
    assert not goal_at(aim, 100).swaps


def test_the_target_return_is_compared_with_the_mean_of_about_twenty_returns() -> None:
    aim = aim_at(None)
    for totals, target, is_met in (
        ([100.0], 100.0, True),  # the first return is the mean
        ([80.0], 99.0, True),  # 100 - 20 / 20
        ([80.0], 99.0, False),
        ([120.0] * 20, 99.0, True),
        ([120.0], nan, False),  # no target at all
    ):
        for total in totals:
            aim.note_return(total, target)
        assert aim.is_met == is_met


@pytest.mark.parametrize(
    ("lengths", "fraction", "expected"),
    [
        ([], 0.3, 0.3),  # nothing is known yet
        ([10] * 30, 0.3, 0.3),  # equal lengths
        ([10], 0.0, 0.0),
        ([10, 30], 0.5, 0.5),  # the mean of two
        ([10] * 20 + [210], 0.5, 1 / (1 + 20 * 21 / 410)),  # 10 + 200 / 20, and a mean of 410 / 21
        ([10] * 20 + [210], 1.0, 1.0),
    ],
)
def test_future_episodes_are_expected_to_be_as_long_as_the_recent_ones(
    lengths: list[int], fraction: float, expected: float
) -> None:
    aim = aim_at(100)
    for number in range(len(lengths)):
        aim.note_return(0.0, nan, sum(lengths[: number + 1]))
    assert aim.in_updates(fraction) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("progress", "n_updates", "interval"),
    [
        (0.1, 15_000, 1500),  # a hundredth of 150,000
        (0.1, 1000, 500),
        (0.1, 90_000, 2500),
        (0.0, 0, 500),  # without an update there is nothing to expect
        (0.0, 10, 2500),
        (None, 10_000, 1000),
    ],
)
def test_calls_are_a_hundredth_of_the_expected_updates_apart(
    progress: float | None, n_updates: int, interval: float
) -> None:
    assert aim_at(100, progress).interval(n_updates) == interval


# --- without a size ------------------------------------------------------------------------------


def grow(aim: Aim, n_edges: int, error: float, n_calls: int = 1) -> Goal:
    """Make growth calls on a graph of so many edges; return the last goal."""
    return [goal_at(aim, n_edges, error) for _ in range(n_calls)][-1]


def test_a_trial_that_pays_is_kept_and_the_next_one_begins() -> None:
    aim = aim_at(None)
    assert grow(aim, 20, 1.0) == Goal(26, 0, True, True, False)  # six edges, 15 % would be three
    assert grow(aim, 26, 1.0, 2) == Goal(26, 0, False, True, False)
    assert grow(aim, 26, 0.93).size == 32  # it had to fall by 6 % for the six
    assert aim.before == 26
    assert Aim.from_array(aim.to_array()) == aim
    assert grow(aim_at(None), 100, 1.0).size == 115


def test_a_trial_that_does_not_pay_is_taken_back_and_the_next_waits_twice_as_long() -> None:
    aim, waited = aim_at(None), []
    grow(aim, 20, 1.0)
    for _ in range(3):
        assert grow(aim, 26, 0.95, 3) == Goal(20, 0, False, True, False)  # 5 % for six edges
        n_calls = 0
        while not grow(aim, 20, 1.0).grows:  # pruned back
            n_calls += 1
        waited.append(n_calls + 1)
    assert waited == [3, 6, 12]
    grow(aim, 26, 0.9, 3)  # this one pays
    assert aim.wait == 3


def test_trials_stand_still_at_pruning_calls_without_statistics_and_at_the_target() -> None:
    aim = aim_at(None)
    for error, grows in ((1.0, False), (nan, True)):
        assert goal_at(aim, 20, error, grows=grows) == Goal(20, 0, False, True, False)
    grow(aim, 20, 1.0)
    before = copy(aim)
    for error, grows in ((1.0, False), (nan, True)):
        assert goal_at(aim, 22, error, grows=grows).size == 26
    assert aim == before
    assert aim.countdown == 3
    aim.is_met = True
    assert grow(aim, 20, 1.0, 9) == Goal(26, 0, False, True, False)
    aim.is_met = False
    assert aim == before
