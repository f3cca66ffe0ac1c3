"""Experts that are functions, and environments that a function makes."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.envs.classic_control import CartPoleEnv

from smgrnn import Run, distill, load
from smgrnn.errors import ConfigError, ExpertError, TaskError
from smgrnn.experts import Expert, FunctionExpert, find_teacher
from smgrnn.experts.function import function_name, import_function
from smgrnn.tasks import find_task
from support.commands import Command, refused
from support.flat import flat_rules
from support.runs import RULES, TEACHERS, trained


def lean(observation: Any) -> Any:
    """Decide as the teacher of CartPole in `runs` does."""
    return int(np.float32(observation[2]) > 0)


def damp(observation: Any) -> Any:
    """Decide as the teacher of Pendulum in `runs` does."""
    return TEACHERS["Pendulum-v1"].values(observation)


FUNCTIONS = {"CartPole-v1": lean, "Pendulum-v1": damp}


@pytest.mark.parametrize("task", FUNCTIONS)
@pytest.mark.parametrize("normalise", [False, True])
def test_a_function_teaches_what_a_network_that_decides_alike_does(
    tmp_path: Path, task: str, normalise: bool
) -> None:
    settings: Any = {"episodes": 5, "normalise": normalise, "plasticity": flat_rules(RULES)}
    settings["held_out"] = 5
    by_network = trained(tmp_path, task, name=None, **settings)
    by_function = distill(task, expert=FUNCTIONS[task], preset="paper", **settings)
    assert by_function.graph == by_network.graph
    assert np.array_equal(by_function.held_out, by_network.held_out)
    for mine, theirs in zip(by_function.episodes, by_network.episodes, strict=True):
        assert np.array_equal(mine, theirs)


def test_a_function_is_named_so_that_it_can_be_imported_again() -> None:
    assert import_function(function_name(np.argmax)) is np.argmax
    task = find_task("CartPole-v1")
    identity, _ = find_teacher("numpy:linalg.norm", task)
    assert (identity.kind, identity.name) == ("function", "numpy:linalg.norm")
    for name in ("expert.zip", "./my:expert.zip", "C:\\expert.zip", "my_module"):
        with pytest.raises(ExpertError, match="There is no expert"):
            find_teacher(name, task)


def test_a_run_goes_on_with_its_function_and_no_other(tmp_path: Path) -> None:
    def right(observation: Any) -> int:
        return 1

    def left(observation: Any) -> int:
        return 0

    distill("CartPole-v1", expert=right, episodes=2, out=tmp_path / "run")
    run = Run.resume(tmp_path / "run")
    assert run.score(1).size == 1  # which needs no expert
    with pytest.raises(ExpertError, match="Pass it again: as --expert on the command line"):
        run.train()
    with pytest.raises(ConfigError, match="began with another expert"):
        Run.resume(tmp_path / "run", expert=left).train()
    assert Run.resume(tmp_path / "run", expert=right).train().episodes.n == 2


# --- environments ---------------------------------------------------------------------------------


def half_gravity() -> Any:
    """Return a pendulum that is not the registered one."""
    return gym.make("Pendulum-v1", g=5.0)


def test_a_made_environment_is_the_one_that_is_learned_and_judged() -> None:
    task = find_task(half_gravity)
    assert (task.id, task.n_inputs, task.max_steps) == ("PendulumEnv", 3, 200)
    settings: Any = {"expert": damp, "episodes": 3, "held_out": 3, "normalise": True}
    settings["select"] = "final"
    light, heavy = distill(half_gravity, **settings), distill("Pendulum-v1", **settings)
    assert not np.array_equal(light.held_out, heavy.held_out)
    same = distill(lambda: gym.make("Pendulum-v1"), **settings)
    assert np.array_equal(same.held_out, heavy.held_out)


def test_a_made_cartpole_is_not_taken_for_the_compiled_one() -> None:
    class Constant:
        def __call__(self, observation: Any) -> Any:
            return np.array(1)  # as Stable-Baselines3 gives a choice

    run = distill(
        lambda: gym.make("CartPole-v1", max_episode_steps=7), expert=Constant(), episodes=5
    )
    assert run.episodes.steps.max() == 7
    assert run.plan.teacher.kind == "function"
    assert run.plan.teacher.name == f"{__name__}:<{Constant.__qualname__}>"


def test_a_policy_loads_without_its_environment(tmp_path: Path) -> None:
    run = distill(half_gravity, expert=damp, episodes=2, held_out=3, out=tmp_path / "run")
    policy = load(tmp_path / "run")
    assert policy.graph == run.final.graph
    assert policy([1.0, 0.0, 0.0]).shape == (1,)
    with pytest.raises(TaskError, match="'PendulumEnv' of this run is your own code"):
        Run.resume(tmp_path / "run")
    with pytest.raises(TaskError, match="made with the task 'PendulumEnv', which this is not"):
        Run.resume(tmp_path / "run", task="Pendulum-v1")
    again = Run.resume(tmp_path / "run", task=half_gravity, expert=damp)
    assert np.array_equal(again.score(3), run.held_out)


MODULE = """
import gymnasium as gym
import numpy as np


class Slide(gym.Env):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gym.spaces.Box(-3.0, 5.0, (1,))

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.speed = self.np_random.uniform(-100, 100), 0.0
        return self._see(), {}

    def step(self, action):
        self.speed += float(action[0])
        self.x += self.speed
        return self._see(), -abs(self.x), False, False, {}

    def _see(self):
        return np.array([self.x, self.speed], np.float32)


gym.register("Slide-v0", Slide, max_episode_steps=50)


def expert(observation):
    return -0.1 * observation[0] - 0.6 * observation[1]
"""


def test_a_file_of_one_s_own_is_all_it_takes(
    smgrnn: Command, tmp_path: Path, own_modules: None
) -> None:
    (tmp_path / "my_slide.py").write_text(MODULE)
    common = ("my_slide:Slide-v0", "--expert", "my_slide:expert")
    settings = ("--set", "normalise=true", "--set", "bias=true")
    flags = ("--episodes", 150, *settings, "--out", "run", "--json", "--quiet")
    summary = json.loads(smgrnn("distill", *common, *flags).out)
    best = json.loads(smgrnn("expert", "evaluate", *common, "--json").out)["mean"]
    assert summary["held_out_mean"] > 2 * best  # -240; the static graph comes to -2800
    sentence = refused(smgrnn("evaluate", "run", "--episodes", 5))
    assert sentence.startswith("The task 'my_slide:Slide-v0' of this run is your own code.")
    assert smgrnn("evaluate", "run", "--episodes", 5, "--task", common[0]).code == 0
    assert smgrnn("distill", *common, "--resume", "run").code == 0
    assert smgrnn("export", "run", "--to", "c").code == 0
    assert (tmp_path / "run" / "slide_v0.c").exists()


# --- modules, and environments that are made already ---------------------------------------------


class Doubled(torch.nn.Module):
    """A network that is no plain sequence of layers."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = 2 * self.network(rows)
        return values


@pytest.mark.parametrize("task_id", FUNCTIONS)
def test_a_torch_module_is_an_expert(task_id: str) -> None:
    task = find_task(task_id)
    layers = (
        torch.nn.Linear(task.n_inputs, 8),
        torch.nn.Tanh(),
        torch.nn.Linear(8, task.n_outputs),
    )
    module = torch.nn.Sequential(*layers, torch.nn.Identity())
    (_, plain), (_, asked) = find_teacher(module, task), find_teacher(Doubled(module), task)
    assert isinstance(plain, Expert)
    assert isinstance(asked, FunctionExpert)
    for row in np.random.default_rng(0).normal(size=(20, task.n_inputs)):
        values = module(torch.tensor(row, dtype=torch.float32)).detach().numpy()
        if task.is_discrete:
            assert plain.action(row) == asked.action(row) == values.argmax()
        else:
            np.testing.assert_allclose(plain.values(row), values, rtol=1e-4)
            np.testing.assert_allclose(asked.values(row), 2 * values, rtol=1e-4)


def test_a_made_environment_is_the_task_it_was_made_from() -> None:
    run = distill(gym.make("CartPole-v1", render_mode=None), episodes=1, held_out=1)
    assert (run.task.id, run.plan.backend) == ("CartPole-v1", "compiled")
    short = gym.make("CartPole-v1", max_episode_steps=7)
    run = distill(short, expert=lean, episodes=1, held_out=2)
    assert run.held_out.tolist() == [7.0, 7.0]
    with pytest.raises(TaskError, match="cannot be made again, because it has no Gymnasium spec"):
        distill(CartPoleEnv(), expert=lean)


class Rooms(gym.Env[Any, Any]):
    """An environment whose observation is a dict."""

    observation_space = gym.spaces.Dict(
        {"door": gym.spaces.Box(-1, 1, (1,)), "robot": gym.spaces.Box(-1, 1, (2,))}
    )
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        return self.observation_space.sample(), 1.0, True, False, {}


def test_inputs_and_outputs_have_the_names_that_are_given_or_known(tmp_path: Path) -> None:
    """They are kept in the record and in exports."""

    def rooms() -> Any:
        return gym.wrappers.FlattenObservation(Rooms())

    short: Any = {"episodes": 1, "held_out": 1}
    run = distill(rooms, expert=lambda _: 1, output_names=["stay", "go"], **short)
    assert run.policy.names == (("door", "robot 0", "robot 1"), ("stay", "go"))
    run.save(tmp_path / "run")
    assert load(tmp_path / "run").names == run.policy.names
    run.policy.export(tmp_path / "rooms.json")
    assert '"name": "robot 1"' in (tmp_path / "rooms.json").read_text()
    pendulum = distill("Pendulum-v1", expert=damp, input_names=("c", "s", "w"), **short)
    assert pendulum.policy.names == (("c", "s", "w"), ("torque",))
    with pytest.raises(ConfigError, match=r"There are 4 inputs\. Got 2 names instead"):
        distill("CartPole-v1", input_names=("a", "b"), **short)
