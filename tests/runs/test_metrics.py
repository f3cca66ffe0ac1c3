"""The figures of a run, computed by hand."""

import numpy as np
import pytest

from smgrnn.config import PlasticityConfig
from smgrnn.episodes.table import Episodes
from smgrnn.graph.log import Edits
from smgrnn.runs.metrics import (
    churn_ratio,
    convergence_episode,
    early_lost,
    late_periods,
    pruning_period,
    summarise,
    sustained_episode,
)
from support.flat import growing_rules, paper_rules, rules


def edits(n: int) -> Edits:
    numbers = np.arange(n, dtype=np.int64)
    return Edits(numbers, numbers, np.zeros((n, 5), dtype=np.int64), np.zeros(n))


def test_the_summary_of_eight_episodes_is_the_one_computed_by_hand() -> None:
    """They began with 6 nodes and 6 edges, and made 18 changes."""
    episodes = Episodes(
        returns=np.array([10.0, 20, 30, 90, 80, 40, 50, 70]),
        steps=np.array([10, 20, 30, 90, 80, 40, 50, 150]),
        agreed=np.array([0, 0, 0, 0, 0, 0, 40, 110]),
        loss=np.ones(8),
        n_nodes=np.array([6, 6, 7, 8, 9, 9, 9, 8]),
        n_edges=np.array([6, 7, 8, 9, 10, 12, 14, 13]),
    )
    assert summarise(episodes, edits(18), (6, 6), 30.0) == {
        "episodes": 8,
        "steps": 470,
        "late_return": 60.0,  # (50 + 70) / 2
        "best_return": 90.0,
        "threshold": 30.0,
        "convergence_episode": 3,
        "sustained_episode": None,  # of a hundred episodes there are only eight
        "early_lost": 2,
        "late_nodes": 8.5,
        "late_edges": 13.5,
        "net_growth_nodes": 2,
        "net_growth_edges": 7,
        "late_growth_nodes": 2.5,
        "churn_ratio": 2.0,  # 18 changes / (2 + 7)
        "late_agreement": 0.75,  # (40 + 110) / (50 + 150): per step, not per episode
        "late_loss": 0.01,  # 2 / (50 + 150)
    }


def test_convergence_is_the_first_single_episode_at_the_threshold_counted_from_1() -> None:
    cases: list[tuple[list[float], float | None]] = [([1.0, 5.0, 2.0, 9.0], 5.0), ([5.0], 5.0)]
    cases += [([1.0, 4.9], 5.0), ([], 5.0), ([1.0, 9.0], None)]
    assert [convergence_episode(*each) for each in cases] == [2, 1, None, None, None]


@pytest.mark.parametrize(
    ("returns", "threshold", "episode", "lost"),
    [
        ([475.0] * 100, 475.0, 100, 0),
        ([500.0] * 99, 475.0, None, 0),
        ([474.0] * 200, 475.0, None, 100),
        ([474.0] * 200, None, None, None),
        ([-np.inf] * 50 + [500.0] * 100, 475.0, 150, 50),
        ([475.0] * 100 + [0.0] * 50, 475.0, 100, 0),
        # A lucky episode is no sustained one: of the first 60 all but one are lost, and 500 · 95 of
        # a hundred are 475, so 5 may be left in.
        ([0.0] * 2 + [500.0] + [0.0] * 57 + [500.0] * 240, 475.0, 155, 59),
    ],
)
def test_sustained_convergence_is_over_a_whole_hundred_and_may_never_come(
    returns: list[float], threshold: float | None, episode: int | None, lost: int | None
) -> None:
    assert sustained_episode(returns, threshold) == episode
    assert early_lost(returns, threshold) == lost


def test_churn_is_all_changes_per_net_change_in_either_direction_and_at_least_one() -> None:
    found = [churn_ratio(*each) for each in ((12, 2, 4), (12, -2, 4), (0, 0, 0), (12, 0, 0))]
    assert found == [2.0, 2.0, 0.0, 12.0]


def saw_tooth(n: int = 2000, period: int = 30) -> Episodes:
    """Return episodes with 10 nodes after each pruning call, and one more after each other."""
    episodes = Episodes.start(n)
    episodes.n_nodes[:] = 10 + np.arange(1, n + 1) % period
    episodes.n_edges[:] = 2 * episodes.n_nodes
    return episodes


def test_late_sizes_are_over_whole_pruning_periods() -> None:
    """2000 mod 30 = 20: the last size is 30, although every period has a mean of 24.5.

    The mean over the whole final quarter is 24.3, for 20 of its 500 episodes are of a period that
    began before it.
    """
    found = summarise(saw_tooth(), edits(0), (6, 6), None, period=30)
    assert (found["late_nodes"], found["late_edges"]) == (24.5, 49.0)
    assert found["late_growth_nodes"] == 18.5
    over_the_quarter = summarise(saw_tooth(), edits(0), (6, 6), None)
    assert over_the_quarter["late_nodes"] == pytest.approx(24.34)


@pytest.mark.parametrize(
    ("n_episodes", "period", "n_late"),
    [
        (2000, 30, 480),
        (2000, 1, 500),
        (1, 1, 1),
        (7, 1, 1),
        (8, 1, 2),
        (150, 30, 30),
        (100, 30, 30),
        (30, 30, 30),
        (20, 30, 5),
    ],
)
def test_whole_periods_fill_the_final_quarter_and_are_at_least_one(
    n_episodes: int, period: int, n_late: int
) -> None:
    found = late_periods(n_episodes, period)
    assert (found.start, found.stop) == (n_episodes - n_late, n_episodes)


@pytest.mark.parametrize(
    ("rules", "period"),
    [
        (paper_rules(), 30),
        (growing_rules(interval="episode"), 1),
        (PlasticityConfig.static(), 1),
        (rules(interval=100), 6),  # 3000 updates of 500 to an episode
        (rules(interval=1), 1),
        (paper_rules(least_updates=1200), 90),  # a call at every third episode's end
    ],
)
def test_a_pruning_period_is_counted_in_episodes(rules: PlasticityConfig, period: int) -> None:
    assert pruning_period(rules, np.array([400, 500, 600])) == period
