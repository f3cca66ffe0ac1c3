"""Learning from examples: XOR, and recordings of an expert."""

import csv
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import smgrnn
from smgrnn import Run, distill, evaluate, load
from smgrnn.errors import ConfigError
from smgrnn.runs.record import Record
from smgrnn.seeding import stream
from smgrnn.tasks import find_task
from smgrnn.tasks.recording import Recording, read_recording
from support.commands import Command
from support.flat import flat_rules
from support.runs import RULES, contents


def test_a_growing_network_learns_xor_on_every_seed_and_a_static_one_does_not() -> None:
    for seed in range(5):
        run = smgrnn.distill("xor", seed=seed)
        assert run.held_out.tolist() == [4.0] * 100
        assert run.final.graph.n_hidden > 0
        assert run.episodes.n < 2000

    run = smgrnn.distill("xor", student="static", episodes=300)
    assert run.held_out.max() < 4
    assert run.episodes.n == 300


def test_a_run_stops_when_enough_episodes_in_a_row_reach_the_threshold(tmp_path: Path) -> None:
    run = smgrnn.distill("xor", stop_after=7, out=tmp_path / "a")
    solved = run.episodes.returns >= 4
    assert (run.episodes.steps == 4).all()
    np.testing.assert_array_equal(run.episodes.returns, run.episodes.agreed)
    assert solved[-7:].all()
    longest = max(len(part) for part in "".join("x" if s else " " for s in solved[:-1]).split())
    assert longest < 7
    assert run.summary()["episodes"] == run.episodes.n
    before, resumed = contents(tmp_path / "a"), Run.resume(tmp_path / "a")
    resumed.train()  # which is finished
    assert resumed.episodes.n == run.episodes.n
    assert contents(tmp_path / "a") == before
    policy = smgrnn.load(tmp_path / "a")
    for bits in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        policy.reset()
        assert np.sign(policy(bits)[0]) == -bits[0] * bits[1]


RNG = np.random.default_rng(0)
OBSERVATIONS = RNG.normal(size=(300, 3)) * [1.0, 50.0, 0.01] + [0.0, 900.0, 0.0]
SCALED = (OBSERVATIONS - [0.0, 900.0, 0.0]) / [1.0, 50.0, 0.01]
CHOICES = (SCALED @ [1.0, 1.0, -1.0] > 0).astype(int)
MOVES = np.stack([np.tanh(SCALED[:, 0]), 10 + 3 * np.tanh(SCALED[:, 1] - 1)], axis=1)
ACTIONS = {"choices": CHOICES, "moves": MOVES}


def write(path: Path, **arrays: Any) -> Path:
    """Write arrays as the name of the file says."""
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".safetensors":
        save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, path)
    else:
        table = {
            f"{name.removesuffix('s')}_{number}".removesuffix("episode_0"): column
            for name, array in arrays.items()
            for number, column in enumerate(np.atleast_2d(array.T))
        }
        names = [name or "episode" for name in table]
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return path


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".csv"])
def test_every_format_holds_the_same(tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"a{suffix}"
    episodes = np.arange(300) // 10
    write(path, observations=OBSERVATIONS, actions=ACTIONS[kind], episodes=episodes)
    found = read_recording(path)
    assert np.array_equal(found.observations, OBSERVATIONS)
    assert np.array_equal(found.actions, ACTIONS[kind])
    assert np.array_equal(found.episodes, episodes)
    assert found.is_discrete == (kind == "choices")


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, observations=np.zeros((10**6, 16)), actions=np.zeros(10**6, int))
    tracemalloc.start()
    with pytest.raises(ConfigError, match=r"would unpack to 136\.0 MB, over a hundred times"):
        read_recording(path)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_recording_is_a_task(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz", observations=OBSERVATIONS, actions=CHOICES)
    task = find_task(path)
    assert (task.id, task.n_inputs, task.n_outputs, task.is_discrete) == ("a.npz", 3, 2, True)
    assert (task.recording, task.is_supervised) == (str(path), True)
    write(tmp_path / "b.npz", observations=OBSERVATIONS, actions=MOVES)
    task = find_task(str(tmp_path / "b.npz"))
    assert (task.n_outputs, task.is_discrete) == (2, False)
    assert task.action_low == tuple(MOVES.min(axis=0))
    assert task.action_high == tuple(MOVES.max(axis=0))


def _rng(seed: int) -> np.random.Generator:
    return stream(seed, "task")


def test_one_row_is_in_one_part_and_the_seed_says_in_which() -> None:
    recording = Recording(OBSERVATIONS, CHOICES, np.arange(300))
    parts = recording.split(_rng(1))
    assert [len(part.actions) for part in parts] == [240, 30, 30]
    rows = np.concatenate([part.episodes for part in parts])
    assert sorted(rows) == list(range(300))
    again, other = (recording.split(_rng(seed)) for seed in (1, 2))
    assert np.array_equal(parts[2].episodes, again[2].episodes)
    assert not np.array_equal(parts[2].episodes, other[2].episodes)
    for part in parts:
        assert np.array_equal(part.observations, OBSERVATIONS[part.episodes])
        assert np.array_equal(part.actions, CHOICES[part.episodes])
    for n_episodes in (3, 4, 20):  # an episode is held out whole
        parts = Recording(OBSERVATIONS, CHOICES, np.arange(300) % n_episodes).split(_rng(0))
        found = [set(part.episodes.tolist()) for part in parts]
        assert all(found)
        assert sum(map(len, found)) == n_episodes == len(set.union(*found))


@pytest.mark.parametrize("kind", ACTIONS)
def test_a_student_learns_what_was_recorded(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "a.npz", observations=OBSERVATIONS, actions=ACTIONS[kind])
    run = distill(path, episodes=60, normalise=True, out=tmp_path / "run")
    summary = run.summary()
    assert summary["task"] == "a.npz"
    policy = load(tmp_path / "run")
    held_out = read_recording(path).split(_rng(run.plan.seed))[2]
    answers = []
    for observation in held_out.observations:
        policy.reset()
        answers.append(policy(observation))
    if kind == "choices":
        assert summary["held_out_agreement"] == np.mean(np.array(answers) == held_out.actions)
        assert summary["held_out_agreement"] >= 0.9
    else:
        low, high = MOVES.min(axis=0), MOVES.max(axis=0)
        errors = 2 * (np.array(answers) - held_out.actions) / (high - low)
        np.testing.assert_allclose(summary["held_out_mse"], np.mean(errors**2), rtol=1e-4)
        assert summary["held_out_mse"] < 0.05


@pytest.mark.parametrize("select", ["return", "final"])
def test_what_is_held_out_has_no_part_in_learning_or_choosing(tmp_path: Path, select: str) -> None:
    """Spoil the held-out rows: the student, and the best one, stay what they were."""
    path = write(tmp_path / "a.npz", observations=OBSERVATIONS, actions=CHOICES)
    settings: Any = {"episodes": 6, "checkpoint_every": 2, "normalise": True, "select": select}
    settings |= {"preset": "paper", "plasticity": flat_rules(RULES)}
    run = distill(path, **settings)
    held_out = Recording(OBSERVATIONS, CHOICES, np.arange(300)).split(_rng(0))[2].episodes
    spoiled, others = OBSERVATIONS.copy(), CHOICES.copy()
    spoiled[held_out], others[held_out] = 0.0, 1 - CHOICES[held_out]
    again = distill(write(tmp_path / "b.npz", observations=spoiled, actions=others), **settings)
    assert again.final.graph == run.final.graph
    assert again.selected.policy.graph == run.selected.policy.graph
    assert again.record.best_score == run.record.best_score
    assert again.held_out.mean() != run.held_out.mean()


def test_the_commands_tell_agreement_or_error_instead_of_returns(
    smgrnn: Command, tmp_path: Path
) -> None:
    write(tmp_path / "my-data.npz", observations=OBSERVATIONS, actions=CHOICES)
    write(tmp_path / "moves.npz", observations=OBSERVATIONS, actions=MOVES)
    for name, figure in (("my-data", "held_out_agreement"), ("moves", "held_out_mse")):
        flags = (f"{name}.npz", "--episodes", 3)
        summary = json.loads(smgrnn("distill", *flags, "--json").out)
        assert summary["run_dir"] == f"runs/{name}-smgrnn-0"
        assert (summary["late_agreement"] is None) == (name == "moves")
        figures = json.loads(smgrnn("evaluate", summary["run_dir"], "--json").out)
        assert figures[figure] == summary[figure]
        words = smgrnn("distill", *flags).out
        share = f"{summary[figure]:.1%}" if name == "my-data" else f"{summary[figure]:.4f}"
        assert f"{share} o" in words
        assert "return" not in words


def test_a_run_goes_on_with_its_recording_and_no_other(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz", observations=OBSERVATIONS, actions=CHOICES)
    settings: Any = {"episodes": 6, "checkpoint_every": 2, "normalise": True}
    distill(path, out=tmp_path / "whole", **settings)

    def stop(run: Run) -> None:
        if run.episodes.n == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distill(path, out=tmp_path / "stopped", watch=stop, **settings)
    assert Record.load(tmp_path / "stopped").episodes.n == 3
    Run.resume(tmp_path / "stopped").train()
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    write(path, observations=OBSERVATIONS, actions=1 - CHOICES)
    with pytest.raises(ConfigError, match="began with another expert"):
        Run.resume(tmp_path / "whole").train()
    with pytest.raises(ConfigError, match="has changed since the run began"):
        evaluate(Record.load(tmp_path / "whole"), 1)
    path.unlink()  # a policy does not need it
    assert load(tmp_path / "whole")(OBSERVATIONS[0]) in (0, 1)
