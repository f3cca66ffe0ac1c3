"""Figures of merit of a sequence, by tables made by hand."""

import numpy as np
import pytest

from smgrnn.runs.stage_scores import figures_of_merit, normalised


def test_scores_run_from_random_to_the_teacher_if_that_is_better() -> None:
    stage_scores = np.array([[20.0, -500.0], [500.0, -100.0], [20.0, -500.0], [260.0, -300.0]])
    assert normalised(stage_scores).tolist() == [[0.0, 0.0], [0.5, 0.5]]
    stage_scores[1] = [20.0, -600.0]
    assert np.isnan(normalised(stage_scores)).all()
    assert set(figures_of_merit(normalised(stage_scores), [0]).values()) == {None}


def test_a_sequence_that_forgets_and_one_that_profits() -> None:
    """Lopez-Paz and Ranzato's and Chaudhry et al.'s definitions on three tasks in a row."""
    scores = np.array([[0.1, 0.0, 0.2], [1.0, 0.3, 0.2], [0.4, 0.9, 0.5], [0.6, 1.0, 0.8]])
    found = figures_of_merit(scores, [0, 1, 2])
    assert found["average_return"] == pytest.approx((0.6 + 1.0 + 0.8) / 3)
    assert found["forgetting"] == pytest.approx((0.4 - 0.1) / 2)  # of 1.0 and 0.9, and not 1.0
    assert found["backward_transfer"] == pytest.approx((-0.4 + 0.1) / 2)
    assert found["forward_transfer"] == pytest.approx((0.3 + 0.3) / 2)


def test_a_task_that_comes_again_is_judged_by_its_first_stage_and_not_as_an_earlier_one() -> None:
    scores = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 0.9], [0.95, 0.3]])
    found = figures_of_merit(scores, [0, 1, 0])
    assert found["forgetting"] == pytest.approx(0.6)  # of the second task alone
    assert found["backward_transfer"] == pytest.approx(-0.6)
    assert found["forward_transfer"] == pytest.approx(0.1)


def test_what_is_over_no_task_is_none() -> None:
    for scores in ([[0.0], [0.7]], [[0.0, np.nan], [0.7, np.nan]]):
        found = figures_of_merit(np.array(scores), [0])
        assert found.pop("average_return") == 0.7
        assert list(found.values()) == [None] * 3
