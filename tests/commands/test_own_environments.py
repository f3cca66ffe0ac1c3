"""Environments of one's own that fail: what is told, and what is left behind."""

from pathlib import Path

import pytest

from smgrnn.runs import Record
from support.commands import Command, refused

pytestmark = pytest.mark.usefixtures("own_modules")

MODULE = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Walk(gym.Env):
    observation_space, action_space = spaces.Box(-1, 1, (3,)), spaces.Discrete(2)
    episode = 0

    def __init__(self, fault, at):
        self.fault, self.at = fault, at

    def reset(self, seed=None, options=None):
        self.episode, self.n_steps = self.episode + 1, 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.n_steps += 1
        seen, is_over = np.zeros(3, np.float32), self.n_steps == 5
        if (self.episode, self.n_steps) == self.at:
            seen = self.fail(seen)
        return seen, 1.0, is_over, False, {}

    def fail(self, seen):
        if self.fault == "raise":
            return seen[7]
        seen[2] = np.nan
        return seen


for fault in ("raise", "nan"):
    for episode in (1, 3):
        settings = {"fault": fault, "at": (episode, 4)}
        gym.register(f"{fault}-{episode}-v0", Walk, kwargs=settings, max_episode_steps=10)


def expert(observation):
    return 0
"""
LINE = MODULE.partition("return seen[7]")[0].count("\n") + 1


@pytest.fixture
def walk(smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return `smgrnn distill` with an environment of the user's and a few episodes."""
    (tmp_path / "my_walk.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    flags = ["--expert", "my_walk:expert", "--episodes", "6", "--handover", "final", "--quiet"]
    flags += ["--out", "a b/run"]
    return lambda task, *more: smgrnn("distill", f"my_walk:{task}-v0", *flags, *more)


FAILED = f"failed: IndexError in my_walk.py, line {LINE}: index 7 is out of bounds for axis 0"


@pytest.mark.parametrize(
    ("fault", "words"), [("raise", FAILED), ("nan", "gave an observation whose value 2 is nan")]
)
def test_a_failing_environment_is_told_with_its_place_episode_and_step(
    walk: Command, tmp_path: Path, fault: str, words: str
) -> None:
    for is_there in (False, True):  # a folder that was there stays
        sentence = refused(walk(f"{fault}-1"))
        assert sentence.startswith(f"my_walk:{fault}-1-v0 {words}")
        assert sentence.endswith(" (step 4 of episode 1).")
        assert [each.name for each in tmp_path.glob("a b*/**")] == ["a b"] * is_there
        (tmp_path / "a b").mkdir(exist_ok=True)
    assert "(step 4 of episode 3)" in refused(walk(f"{fault}-3"))
    assert Record.load(tmp_path / "a b/run").episodes.n == 2


def test_a_search_that_fails_at_once_leaves_no_folder_behind(
    walk: Command, smgrnn: Command, tmp_path: Path
) -> None:
    flags = ("--rollouts", 20, "--population", 10, "--out", "bred", "--quiet")
    sentence = refused(smgrnn("evolve", "my_walk:raise-1-v0", *flags))
    assert f"IndexError in my_walk.py, line {LINE}" in sentence
    assert not (tmp_path / "bred").exists()


def test_a_module_that_python_cannot_read_is_told_with_its_line(
    smgrnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_typo.py").write_text("import gymnasium\n\nclass Walk(:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    sentence = refused(smgrnn("distill", "my_typo:Walk-v0", "--expert", "my_typo:expert"))
    assert "cannot be imported: SyntaxError in my_typo.py, line 3: invalid syntax" in sentence
