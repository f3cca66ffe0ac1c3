"""What can go wrong with a run's folder or its environment: one sentence, and nothing is lost."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from smgrnn import distill, load
from smgrnn.errors import ConfigError, FileFormatError, NonFiniteError, SmgrnnError, TaskError
from smgrnn.experts import Expert, write_expert
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.plan import Plan
from smgrnn.runs.run import Run
from support.flat import flat_rules
from support.runs import RULES, contents, trained

MODEL = "model.safetensors"
Settings = dict[str, Any]


def is_one_sentence(error: BaseException) -> bool:
    text = str(error)
    return text.endswith((".", "?")) and "\n" not in text and len(text) < 300


def resuming(folder: Path) -> str:
    """Return what resuming the folder is refused with."""
    with pytest.raises(FileFormatError) as caught:
        Run.resume(folder)
    assert is_one_sentence(caught.value)
    return str(caught.value)


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """Return the folder of a short run."""
    trained(tmp_path, episodes=4)
    return tmp_path / "run"


# --- what is in it -------------------------------------------------------------------------------


def test_the_folder_holds_the_record_as_plain_columns(tmp_path: Path) -> None:
    run = trained(tmp_path)
    table = np.genfromtxt(tmp_path / "run" / "episodes.csv", delimiter=",", names=True)
    assert table["episode"].tolist() == list(range(1, 31))
    for name, column in run.episodes._asdict().items():
        assert table[name].tolist() == column.tolist(), name
    changes = np.genfromtxt(  # numpy opens what is gzipped by itself
        tmp_path / "run" / "edits.csv.gz", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    assert set(changes["operation"]) == {"add_node", "add_edge", "remove_edge", "remove_node"}
    assert set(changes["cause"]) <= {"relay", "exploration", "weak_edge", "orphan"}
    assert changes["weight"].tolist() == run.edits.weight.tolist()
    columns = [changes[name] for name in ("id", "source", "target")]
    assert np.array_equal(np.stack(columns, axis=1), run.edits.rows[:, 2:])
    assert changes["update"].tolist() == run.edits.update.tolist()
    assert changes["call"].tolist() == run.edits.call.tolist()
    report = json.loads((tmp_path / "run" / "run.json").read_text())
    assert report["task"] == "CartPole-v1"
    assert Plan.from_dict(report["plan"]) == run.plan
    assert report["summary"] == run.summary()
    assert set(report["versions"]) >= {"smgrnn", "numpy", "numba", "gymnasium", "python"}
    assert not list((tmp_path / "run").glob("*partial*"))


def test_a_run_kept_afterwards_lacks_only_the_weights_on_the_way(tmp_path: Path) -> None:
    trained(tmp_path, name="first")
    trained(tmp_path, name=None).save(tmp_path / "second")
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    kept, kept_afterwards = first.pop("snapshots"), second.pop("snapshots")
    assert first == second
    assert kept[3]  # weights
    assert not kept_afterwards[3]


# --- folders that are refused --------------------------------------------------------------------


def test_a_folder_that_exists_is_never_written_over(finished: Path, tmp_path: Path) -> None:
    before = contents(finished)
    with pytest.raises(ConfigError, match="exists") as caught:
        trained(tmp_path, episodes=4, seed=1)
    assert is_one_sentence(caught.value)
    with pytest.raises(ConfigError, match="exists"):
        trained(tmp_path, name=None, episodes=4).save(finished)
    assert contents(finished) == before


def test_a_file_that_is_damaged_or_of_another_kind_is_refused(finished: Path) -> None:
    path = finished / MODEL
    path.write_bytes(path.read_bytes()[:-50])
    assert MODEL in resuming(finished)
    write_expert(path, Expert.from_layers([([[1.0]], [0.0])]), {})
    assert "does not hold a smgrnn run" in resuming(finished)
    path.unlink()
    assert resuming(finished) == f"There is no run in {finished}."
    assert "no run folder" in resuming(finished / "nowhere")


# --- a full disk ---------------------------------------------------------------------------------


def fill_disk(monkeypatch: pytest.MonkeyPatch, name: str, n_writes: int) -> None:
    """Let `n_writes` writes of files with this in their name succeed and no more."""
    sync, left = os.fsync, [n_writes]

    def limited(descriptor: int) -> None:
        if name in Path(f"/proc/self/fd/{descriptor}").readlink().name:
            left[0] -= 1
            if left[0] < 0:
                os.truncate(descriptor, os.fstat(descriptor).st_size // 2)
                raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", limited)


@pytest.mark.parametrize(
    ("name", "n_writes", "n_left"),
    [(MODEL, 3, 20), ("episodes.csv", 0, 30), ("edits.csv", 0, 30), ("run.json", 0, 30)],
)
def test_a_full_disk_leaves_the_last_checkpoint_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, n_writes: int, n_left: int
) -> None:
    monkeypatch.setattr(RunFolder, "keep", RunFolder.save)  # also where that takes long
    fill_disk(monkeypatch, name, n_writes)  # of the model at the start, at 10 and 20 episodes
    with pytest.raises(SmgrnnError, match="No space left on device") as caught:
        trained(tmp_path)
    assert is_one_sentence(caught.value)
    monkeypatch.undo()
    resumed = Run.resume(tmp_path / "run")
    assert resumed.episodes.n == n_left
    resumed.train()
    trained(tmp_path, name="whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


# --- environments that fail ----------------------------------------------------------------------


class Failing(gym.Env[Any, Any]):
    """Episodes of ten steps; the thirteenth fails once, in one of four ways."""

    has_failed = False
    observation_space, action_space = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)

    def __init__(self, fault: str) -> None:
        self._fault, self._episode, self._step = fault, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._episode, self._step = self._episode + 1, 0
        if (self._fault, self._episode) == ("reset", 13) and not Failing.has_failed:
            Failing.has_failed = True
            raise RuntimeError("the simulator does not start")
        return self._see(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._step += 1
        observation, reward = self._see(), 1.0
        if (self._episode, self._step) == (13, 5) and not Failing.has_failed:
            Failing.has_failed = True
            if self._fault == "raise":
                raise RuntimeError("the simulator lost its ground")
            if self._fault == "observation":
                observation[0] = np.nan
            if self._fault == "reward":
                reward = np.nan
        return observation, reward, self._step == 10, False, {}

    def _see(self) -> Any:
        return self.np_random.uniform(-1, 1, 2).astype(np.float32)


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[Settings]:
    """Register environments that fail, Failing/raise-v0 and so on; return settings for them."""
    before = dict(gym.registry)
    Failing.has_failed = False
    for fault in ("raise", "reset", "observation", "reward"):
        entry: Any = Failing
        gym.register(f"Failing/{fault}-v0", entry_point=entry, kwargs={"fault": fault})
    expert = tmp_path / "expert.safetensors"
    write_expert(expert, Expert.from_layers([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])]), {})
    yield {
        "episodes": 30,
        "checkpoint_every": 50,
        "expert": str(expert),
        "plasticity": flat_rules(RULES),
    }
    gym.registry.clear()
    gym.registry.update(before)


def fail(settings: Settings, fault: str, folder: Path) -> SmgrnnError:
    """Run into the fault and return what it is met with."""
    with pytest.raises(SmgrnnError) as caught:
        distill(f"Failing/{fault}-v0", out=folder, preset="paper", **settings)
    return caught.value


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raise", "lost its ground"),
        ("reset", "(the reset of "),
        ("observation", "nan"),
        ("reward", "nan"),
    ],
)
def test_a_run_whose_environment_failed_once_goes_on_as_if_it_had_not(
    failing: Settings, tmp_path: Path, fault: str, words: str
) -> None:
    error = fail(failing, fault, tmp_path / "run")
    assert isinstance(error, TaskError)
    assert f"Failing/{fault}-v0" in str(error)
    assert words in str(error)
    assert is_one_sentence(error)
    resumed = Run.resume(tmp_path / "run")
    assert resumed.episodes.n == 12
    assert load(tmp_path / "run").graph == resumed.final.graph
    resumed.train()
    distill(
        f"Failing/{fault}-v0", out=tmp_path / "whole", preset="paper", **failing
    )  # it fails only once
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_weights_that_overflow_stop_the_run_at_a_named_update(tmp_path: Path) -> None:
    learning = {"optimizer": "sgd", "learning_rate": 1e308, "momentum": 0.0}
    with pytest.raises(NonFiniteError, match="at update ") as caught:
        trained(tmp_path, learning=learning, output_activation="identity")
    assert is_one_sentence(caught.value)
    assert not (tmp_path / "run").exists()
