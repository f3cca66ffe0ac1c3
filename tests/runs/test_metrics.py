"""The figures of a run, computed by hand."""

from typing import Any

import numpy as np
import pytest

from smgrnn.episodes.table import Edits, Episodes
from smgrnn.runs.metrics import churn_ratio, convergence_episode, late_share, summarise


def edits(n: int) -> Edits:
    numbers = np.arange(n, dtype=np.int64)
    return Edits(numbers, numbers, np.zeros((n, 5), dtype=np.int64), np.zeros(n))


def figures(threshold: float | None = 30.0, n_changes: int = 18) -> dict[str, Any]:
    """Return the figures of eight episodes that began with 6 nodes and 6 edges."""
    episodes = Episodes(
        returns=np.array([10.0, 20, 30, 90, 80, 40, 50, 70]),
        steps=np.array([10, 20, 30, 90, 80, 40, 50, 150]),
        agreed=np.array([0, 0, 0, 0, 0, 0, 40, 110]),
        loss=np.ones(8),
        n_nodes=np.array([6, 6, 7, 8, 9, 9, 9, 8]),
        n_edges=np.array([6, 7, 8, 9, 10, 12, 14, 13]),
    )
    return summarise(episodes, edits(n_changes), 6, (6, 6), threshold)


@pytest.mark.parametrize(
    ("n_episodes", "n_late"), [(1, 1), (3, 1), (4, 1), (7, 1), (8, 2), (2000, 500)]
)
def test_the_late_episodes_are_the_final_quarter_and_at_least_one(
    n_episodes: int, n_late: int
) -> None:
    numbers = np.arange(n_episodes)[late_share(n_episodes)]
    assert numbers.tolist() == list(range(n_episodes - n_late, n_episodes))


def test_convergence_is_the_first_single_episode_at_the_threshold_counted_from_1() -> None:
    assert convergence_episode([1.0, 5.0, 2.0, 9.0], 5.0) == 2
    assert convergence_episode([5.0], 5.0) == 1


def test_a_threshold_that_is_never_reached_or_does_not_exist_gives_no_convergence() -> None:
    assert convergence_episode([1.0, 4.9], 5.0) is None
    assert convergence_episode([], 5.0) is None
    assert convergence_episode([1.0, 9.0], None) is None


def test_churn_is_all_changes_per_net_change_in_either_direction() -> None:
    assert churn_ratio(12, 2, 4) == 2.0
    assert churn_ratio(12, -2, 4) == 2.0
    assert churn_ratio(0, 0, 0) == 0.0


def test_a_run_that_ends_at_the_size_it_began_with_counts_as_a_net_change_of_one() -> None:
    assert churn_ratio(12, 0, 0) == 12.0


def test_the_summary_of_eight_episodes_is_the_one_computed_by_hand() -> None:
    assert figures() == {
        "episodes": 8,
        "steps": 470,
        "late_return": 60.0,  # (50 + 70) / 2
        "best_return": 90.0,
        "threshold": 30.0,
        "convergence_episode": 3,
        "n_nodes": 8,
        "n_hidden": 2,
        "n_edges": 13,
        "n_parameters": 13,
        "late_nodes": 8.5,
        "late_edges": 13.5,
        "net_growth_nodes": 2,
        "net_growth_edges": 7,
        "churn_ratio": 2.0,  # 18 changes / (2 + 7)
        "agreement": 0.75,  # (40 + 110) / (50 + 150): per step, not per episode
        "late_loss": 0.01,  # 2 / (50 + 150)
    }


def test_a_task_without_a_threshold_has_no_convergence_episode() -> None:
    assert figures(threshold=None)["convergence_episode"] is None
