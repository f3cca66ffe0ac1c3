"""A finished run is judged once: nothing that is repeated later changes its record."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import smgrnn
from smgrnn.errors import ConfigError
from support.commands import Command
from support.runs import trained

NAME = "JudgedOnce-v0"


class Dock(gym.Env[Any, Any]):
    """A point on a line that is to stay near 0; its reward can change under its name."""

    observation_space = gym.spaces.Box(-10.0, 10.0, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)
    reward = 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place, self.n_steps = self.np_random.normal(size=1), 0
        return self.place, {}

    def step(self, action: Any) -> Any:
        self.place = self.place + (0.1 if action else -0.1)
        self.n_steps += 1
        return self.place, self.reward, False, self.n_steps == 5, {}


def towards(observation: Any) -> int:
    return int(observation[0] < 0)


def docked(folder: Path, most: int = 9) -> smgrnn.Run:
    """Return a run on the task of that many steps, which goes by the same name."""
    gym.registry.pop(NAME, None)
    gym.register(NAME, lambda **_: Dock(), max_episode_steps=most)
    settings: Any = {"select": "final", "episodes": 4, "held_out": 3}
    return smgrnn.distill(NAME, expert=towards, out=folder, **settings)


def test_the_same_call_on_a_finished_run_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was scored again, in an environment that had changed, and the record overwritten."""
    first = docked(tmp_path / "run")
    kept = (tmp_path / "run" / "model.safetensors").read_bytes()
    monkeypatch.setattr(Dock, "reward", 1000.0)
    again = docked(tmp_path / "run")
    assert again.held_out.tolist() == first.held_out.tolist() == [5.0] * 3
    with pytest.raises(ConfigError, match=f"holds a run of {NAME} with other facts"):
        docked(tmp_path / "run", most=3)
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == kept


def test_runs_whose_results_differ_are_both_shown(tmp_path: Path, smgrnn: Command) -> None:
    """Two recordings of one name were taken for one run, and the first left out."""
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        observations, actions = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
        np.savez(tmp_path / name / "data.npz", observations=observations, actions=actions)
        data, out = tmp_path / name / "data.npz", tmp_path / f"run-{name}"
        assert smgrnn("distill", data, "--episodes", 3, "--out", out, "--quiet").code == 0
    said = smgrnn("compare", tmp_path / "run-a", tmp_path / "run-b").out
    assert "run-a" in said
    assert "run-b" in said
    assert "teacher" in said


@pytest.mark.parametrize("changes", [{"student": "mlp-pruned", "budget": 60}, {"preset": "frugal"}])
def test_a_final_student_keeps_to_the_parameters_however_short_its_run(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    run = trained(
        tmp_path, max_parameters=6, select="final", **{"episodes": 3, "plasticity": {}, **changes}
    )
    assert run.selected.n_parameters <= 6
    assert run.final.graph.n_edges <= 6
