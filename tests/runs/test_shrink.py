"""The smallest student that keeps a fraction: stages, the target, and exact resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Record, Run
from smgrnn.arrays import Floats
from smgrnn.config import RunConfig
from smgrnn.experts.evaluation import evaluate_expert
from smgrnn.policy import Policy
from smgrnn.runs.checkpoints import FIRST_ROUND, Checkpoint
from smgrnn.runs.run import new_run
from smgrnn.runs.shrink import (
    JUDGED,
    MISSES,
    TRIED,
    has_ended,
    judge,
    lower_bound,
    next_size,
    smallest_kept,
)
from support.runs import TEACHERS, contents, played, teacher

TARGET = 10.0


def checkpoint(size: int, mean: float, episode: int = 1, n: int = TRIED + JUDGED) -> Checkpoint:
    """Return a student of so many parameters whose judged returns are around a mean."""
    return played(size, *(mean + np.resize([1.0, -1.0], n)), episode=episode)


# --- judging -------------------------------------------------------------------------------------


def test_the_bound_is_below_the_mean_of_the_episodes_that_did_not_choose() -> None:
    lucky = checkpoint(5, 10.0)
    lucky.returns[:TRIED] = 1000.0  # these chose it, and do not count
    judged = lucky.returns[TRIED:]
    error = judged.std(ddof=1) / np.sqrt(judged.size)
    assert lower_bound(lucky) == pytest.approx(judged.mean() - 1.645 * error)
    assert lower_bound(checkpoint(5, 10.0, n=TRIED)) == -np.inf


def test_the_best_of_a_stage_is_chosen_by_few_and_judged_by_many() -> None:
    """Smaller students do better, but not in their first episodes."""

    def play(policy: Policy, first: int, last: int) -> Floats:
        return np.full(last - first, -float(policy.graph.n_edges))

    earlier = checkpoint(50, 20.0, episode=3)
    rivals = tuple(checkpoint(size, float(size), 9, FIRST_ROUND) for size in range(1, 8))
    checkpoints = judge((earlier, *rivals), 3, play)
    assert checkpoints[0] is earlier
    assert len(checkpoints) == 2
    assert checkpoints[1].n_parameters == 5  # of 7, 6 and 5, which were the best at first
    assert checkpoints[1].returns.size == TRIED + JUDGED


def test_the_smallest_that_reaches_the_bar_is_handed_over() -> None:
    sizes = {9: 12.0, 5: 11.0, 4: 10.1, 6: 30.0}
    checkpoints = tuple(checkpoint(size, mean) for size, mean in sizes.items())
    found = smallest_kept(checkpoints, TARGET)
    assert found is not None
    assert found.n_parameters == 5  # four parameters reach it by their mean alone
    assert smallest_kept(checkpoints, 99.0) is None


@pytest.mark.parametrize(("size", "smaller"), [(100, 85), (10, 8), (2, 1), (3, 2)])
def test_a_good_stage_is_cut_by_a_share_and_at_least_by_one(size: int, smaller: int) -> None:
    assert next_size((checkpoint(size, 20.0),), TARGET) == smaller
    assert next_size((checkpoint(size, 5.0),), TARGET) is None


def test_a_run_ends_after_failures_in_a_row_or_at_one_parameter() -> None:
    good, bad = checkpoint(9, 20.0), checkpoint(7, 5.0)
    assert not has_ended((good, *[bad] * (MISSES - 1)), TARGET)
    assert has_ended((good, *[bad] * MISSES), TARGET)
    assert not has_ended((*[bad] * (MISSES - 1), good, bad), TARGET)
    assert has_ended((good, checkpoint(1, 20.0)), TARGET)
    assert not has_ended((good, checkpoint(1, 5.0)), TARGET)
    assert not has_ended(tuple(checkpoint(7, 5.0, n=FIRST_ROUND) for _ in range(9)), TARGET)


# --- runs ----------------------------------------------------------------------------------------


def config(folder: Path, **changes: Any) -> RunConfig:
    """Return the settings of a short run; its teacher balances the pole for a while."""
    rules = {"least_updates": 50}
    start = {"episodes": 80, "expert": teacher(folder, "CartPole-v1"), "plasticity": rules}
    return RunConfig.for_task("CartPole-v1", preset="frugal", **{**start, "keep": 0.5, **changes})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    place = tmp_path_factory.mktemp("keep")
    new_run("CartPole-v1", config(place), place / "whole").train()
    return place / "whole"


def test_the_bar_is_a_share_of_what_the_expert_returns_beyond_chance(folder: Path) -> None:
    record, expert = Record.load(folder), TEACHERS["CartPole-v1"]
    taught = evaluate_expert(expert, "CartPole-v1", 100, "choosing").mean()
    chance = evaluate_expert(expert, "CartPole-v1", 100, "choosing", disturbance=1.0).mean()
    assert record.target_return == pytest.approx(0.5 * (taught + chance))
    assert chance < record.target_return < taught


def test_a_run_hands_over_the_smallest_that_it_judged_good_enough(folder: Path) -> None:
    record = Record.load(folder)
    assert record.target_return is not None
    given = smallest_kept(record.checkpoints, record.target_return)
    assert given is not None
    assert record.selected.n_parameters == given.n_parameters
    assert record.selected.n_parameters < record.started[1]
    assert record.held_out.mean() > record.target_return
    assert {each.episode <= record.episodes.n for each in record.checkpoints} == {True}
    sizes = [
        each.n_parameters
        for each in record.checkpoints
        if lower_bound(each) >= record.target_return
    ]
    assert len(sizes) > 2
    assert sizes == sorted(sizes, reverse=True)  # while they are good enough


@pytest.mark.parametrize("episode", [7, 55])
def test_a_run_that_was_stopped_in_a_stage_goes_on_to_the_same_student(
    folder: Path, tmp_path: Path, episode: int
) -> None:
    def stop(run: Run) -> None:
        if run.episodes.n >= episode:
            raise KeyboardInterrupt

    settings = config(tmp_path, checkpoint_every=9)
    with pytest.raises(KeyboardInterrupt):
        new_run("CartPole-v1", settings, tmp_path / "a").train(stop)
    assert not Record.load(tmp_path / "a").is_finished
    Run.resume(tmp_path / "a").train()
    new_run("CartPole-v1", settings, tmp_path / "b").train()
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    ours, whole = Record.load(tmp_path / "a"), Record.load(folder)
    assert ours.selected.policy.graph == whole.selected.policy.graph
    assert ours.held_out.tolist() == whole.held_out.tolist()
