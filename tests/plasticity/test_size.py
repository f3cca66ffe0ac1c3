"""The size to aim at: over a run of known length, in an endless loop, and by trials."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smgrnn.arrays import Floats
from smgrnn.rules.size import (
    BEFORE,
    COUNTDOWN,
    MET,
    PROGRESS,
    TARGET,
    WAIT,
    Goal,
    note_return,
    start_aim,
    target_at,
)
from smgrnn.rules.size import goal_at as full_goal_at
from support.frugal_oracle import SlowAim
from support.frugal_oracle import target_at as slow_target_at

ERROR = 1.0  # at the outputs, where it does not matter
START = 20  # edges before the first update


def goal_at(aim: Floats, n_edges: int, strain: float, is_growing: bool) -> Goal:
    """Return the goal where pruning may begin at once."""
    return full_goal_at(aim, n_edges, strain, is_growing, 0.0)


def aim_at(size: int | None, progress: float | None = None) -> Floats:
    aim = start_aim(size, START)
    aim[PROGRESS] = -1.0 if progress is None else progress
    return aim


@pytest.mark.parametrize(
    ("progress", "target"),
    [(0.0, 39), (0.15, 84.5), (0.3, 130), (0.45, 115), (0.6, 100), (0.8, 100), (1.0, 100)],
)
def test_the_target_rises_past_the_size_and_comes_back(progress: float, target: float) -> None:
    assert target_at(progress, 100) == pytest.approx(target)


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
        assert goal_at(aim_at(100, progress), n_edges, ERROR, True) == goal


def test_a_small_size_has_a_slack_of_one() -> None:
    assert goal_at(aim_at(3, 0.1), 3, ERROR, True).slack == 1


@pytest.mark.parametrize("progress", [0.1, 0.5, 0.7])
def test_nothing_grows_once_the_returns_reach_the_bar(progress: float) -> None:
    aim = aim_at(100, progress)
    aim[MET] = 1.0
    assert goal_at(aim, 20, ERROR, True)[:4] == (20, 0, False, False)
    is_over = progress >= 0.4
    target = int(target_at(progress, 100))
    assert goal_at(aim, 500, ERROR, True) == Goal(target, 0, False, False, is_over)


def test_a_graph_that_reaches_the_bar_loses_a_tenth_at_a_call_down_to_its_first_size() -> None:
    aim = aim_at(100, 0.3)
    aim[MET] = 1.0
    assert [goal_at(aim, n, ERROR, False).size for n in (60, 54, 22, 21, 20, 15)] == [
        *(54, 49, 20, 20, 20),
        20,
    ]
    aim[PROGRESS] = 0.5  # growth is over
    assert goal_at(aim, 60, ERROR, False).size == 60


def test_a_settled_graph_that_pruning_hurt_exchanges_edges_until_it_is_mended() -> None:
    aim = aim_at(100, 0.7)
    for total in (0.0, *[100.0] * 200):
        note_return(aim, total, math.nan)
    assert not goal_at(aim, 100, ERROR, True).swaps
    for _ in range(5):
        note_return(aim, 0.0, math.nan)
    assert goal_at(aim, 100, ERROR, True).swaps
    aim[PROGRESS] = 0.8
    assert not goal_at(aim, 100, ERROR, True).swaps


def test_nothing_is_pruned_while_a_graph_is_to_stay_dense() -> None:
    aim = aim_at(100, 0.2)
    assert full_goal_at(aim, 300, ERROR, False, 0.3).size == 300
    assert full_goal_at(aim, 300, ERROR, False, 0.2).size == 99


def test_nothing_grows_either_in_an_endless_loop_or_without_a_size() -> None:
    """The bar was once looked at only in a run of known length that has a size."""
    endless, free = aim_at(100), aim_at(None)
    grow(free, 20, 1.0)
    for aim in (endless, free):
        aim[MET] = 1.0
    before = free.copy()
    assert not goal_at(endless, 20, ERROR, True).grows
    assert grow(free, 20, 1.0, 9) == Goal(26, 0, False, True, False)
    assert np.array_equal(free, before)  # a trial waits
    free[MET] = 0.0
    assert goal_at(free, 20, ERROR, True).grows


def test_an_endless_loop_grows_to_the_size_and_swaps_for_ever() -> None:
    aim = aim_at(100)
    assert goal_at(aim, 99, ERROR, True) == Goal(100, 0, True, True, False)
    assert goal_at(aim, 100, ERROR, True) == Goal(100, 0, False, True, False)
    assert goal_at(aim, 101, ERROR, False) == Goal(100, 0, False, True, False)


def test_the_bar_is_compared_with_the_mean_of_about_twenty_returns() -> None:
    aim = aim_at(None)
    note_return(aim, 100.0, 100.0)
    assert aim[MET]  # the first return is the mean
    note_return(aim, 80.0, 99.0)
    assert aim[MET]  # 100 - 20 / 20
    note_return(aim, 80.0, 99.0)
    assert not aim[MET]
    for _ in range(20):
        note_return(aim, 120.0, 99.0)
    assert aim[MET]
    note_return(aim, 120.0, math.nan)  # no bar at all
    assert not aim[MET]


# --- without a size ------------------------------------------------------------------------------


def grow(aim: Floats, n_edges: int, error: float, n_calls: int = 1) -> Goal:
    """Make growth calls on a graph of so many edges; return the last goal."""
    for _ in range(n_calls):
        goal = goal_at(aim, n_edges, error, True)
    return goal


def test_a_trial_that_pays_is_kept_and_the_next_one_begins() -> None:
    aim = aim_at(None)
    assert grow(aim, 20, 1.0) == Goal(26, 0, True, True, False)  # six edges, 15 % would be three
    assert grow(aim, 26, 1.0, 2) == Goal(26, 0, False, True, False)
    assert grow(aim, 26, 0.93).size == 32  # it had to fall by 6 % for the six
    assert aim[BEFORE] == 26


def test_a_trial_of_a_large_graph_is_a_share_of_it() -> None:
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
    assert aim[WAIT] == 3


def test_trials_stand_still_at_pruning_calls_and_without_statistics() -> None:
    aim = aim_at(None)
    assert goal_at(aim, 20, 1.0, False) == Goal(20, 0, False, True, False)
    assert goal_at(aim, 20, math.nan, True) == Goal(20, 0, False, True, False)
    grow(aim, 20, 1.0)
    before = aim.copy()
    for strain, is_growing in ((1.0, False), (math.nan, True)):
        assert goal_at(aim, 22, strain, is_growing).size == 26
    assert np.array_equal(aim, before)
    assert aim[COUNTDOWN] == 3


def test_trials_end_with_growth_and_swaps_with_the_settled_graph() -> None:
    aim = aim_at(None, 0.1)
    grow(aim, 20, 1.0)
    aim[PROGRESS] = 0.4
    assert grow(aim, 22, 0.1, 5) == Goal(26, 0, False, True, True)
    aim[PROGRESS] = 0.6
    assert grow(aim, 22, 0.1, 5) == Goal(26, 0, False, False, True)
    assert aim[TARGET] == 26


# --- in plain Python -----------------------------------------------------------------------------

CALLS = st.lists(
    st.tuples(st.integers(1, 200), st.floats(0.0, 2.0), st.booleans(), st.floats(-5, 5)),
    max_size=40,
)


@settings(deadline=None)
@given(st.none() | st.integers(1, 120), st.booleans(), st.floats(0.0, 1.0), CALLS)
def test_goals_are_those_of_the_oracle(
    size: int | None,
    has_end: bool,
    dense_until: float,
    calls: list[tuple[int, float, bool, float]],
) -> None:
    aim, slow = start_aim(size, START), SlowAim(size, START, dense_until)
    for number, (n_edges, strain, is_growing, total) in enumerate(calls):
        if has_end:
            aim[PROGRESS] = slow.progress = number / len(calls)
        note_return(aim, total, 1.0)
        slow.say_return(total, 1.0)
        goal = full_goal_at(aim, n_edges, strain, is_growing, dense_until)
        expected = slow.goal(n_edges, strain, is_growing)
        assert goal[1:] == expected[1:]
        if goal.size != expected.size:  # rounded down from either side of a whole number
            target = slow_target_at(number / len(calls), size or 0)
            assert target == pytest.approx(max(goal.size, expected.size))


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.integers(1, 1000))
def test_targets_are_those_of_the_oracle(progress: float, size: int) -> None:
    assert target_at(progress, size) == pytest.approx(slow_target_at(progress, size))
