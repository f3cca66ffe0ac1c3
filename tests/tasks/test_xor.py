"""XOR as a run like any other: learned from examples, stopped when it is solved."""

from pathlib import Path

import numpy as np

import smgrnn
from smgrnn.runs import Run
from support.runs import contents


def test_a_growing_network_learns_xor_on_every_seed() -> None:
    for seed in range(5):
        run = smgrnn.distill("xor", seed=seed)
        assert run.held_out.tolist() == [4.0] * 100
        assert run.graph.n_hidden > 0
        assert run.episodes.n < 2000


def test_a_network_that_cannot_grow_does_not() -> None:
    run = smgrnn.distill("xor", student="static", episodes=300)
    assert run.held_out.max() < 4
    assert run.episodes.n == 300


def test_a_run_stops_when_enough_episodes_in_a_row_reach_the_threshold(tmp_path: Path) -> None:
    run = smgrnn.distill("xor", stop_after=7, out=tmp_path / "a")
    solved = run.episodes.returns >= 4
    assert solved[-7:].all()
    longest = max(len(part) for part in "".join("x" if s else " " for s in solved[:-1]).split())
    assert longest < 7
    assert run.summary()["episodes"] == run.episodes.n
    before, resumed = contents(tmp_path / "a"), Run.resume(tmp_path / "a")
    resumed.train()  # which is finished
    assert resumed.episodes.n == run.episodes.n
    assert contents(tmp_path / "a") == before


def test_every_round_shows_each_pattern_once_in_an_order_of_its_own() -> None:
    run = smgrnn.distill("xor", episodes=30, stop_after=0)
    assert (run.episodes.steps == 4).all()
    assert set(run.episodes.returns) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    np.testing.assert_array_equal(run.episodes.returns, run.episodes.agreed)
    other = smgrnn.distill("xor", episodes=30, stop_after=0, seed=1)
    assert not np.array_equal(run.episodes.loss, other.episodes.loss)


def test_a_solved_network_is_a_policy(tmp_path: Path) -> None:
    smgrnn.distill("xor", out=tmp_path / "run")
    policy = smgrnn.load(tmp_path / "run")
    for bits in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        policy.reset()
        assert np.sign(policy(bits)[0]) == -bits[0] * bits[1]
