"""The tasks there are, what is read off them, and what is refused at the door."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import DependencyNotInstalled

from smgrnn.errors import ConfigError, TaskError
from smgrnn.seeding import episode_seed
from smgrnn.tasks import XOR, Task, find_task, make_env
from smgrnn.tasks.compiled import ACROBOT, CARTPOLE
from smgrnn.tasks.registry import WAY_TO_ACT
from smgrnn.tasks.xor import PATTERNS, TARGETS

FLAT = spaces.Box(-1, 1, (3,))
FLATTEN = (
    "; register it with gymnasium.wrappers.FlattenObservation around it, which can make them one"
)


class Still(gym.Env[Any, Any]):
    """An environment in which nothing happens."""

    def __init__(self, observation_space: Any = FLAT, action_space: Any = FLAT) -> None:
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(3, dtype=np.float32), {}


@pytest.fixture
def register() -> Iterator[Callable[..., str]]:
    """Register environments for the length of a test."""
    before = dict(gym.registry)

    def register_still(entry_point: Any = Still, **settings: Any) -> str:
        gym.register("Still-v0", entry_point=entry_point, **settings)
        return "Still-v0"

    yield register_still
    gym.registry.clear()
    gym.registry.update(before)


def refusal(id: Any) -> str:
    with pytest.raises(TaskError) as caught:
        find_task(id)
    return str(caught.value)


# --- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "n_inputs", "n_outputs", "max_steps", "reward_threshold", "compiled"),
    [
        ("CartPole-v1", 4, 2, 500, 475.0, CARTPOLE),
        ("Acrobot-v1", 6, 3, 500, -100.0, ACROBOT),
        ("LunarLander-v3", 8, 4, 1000, 200.0, None),
    ],
)
def test_a_task_is_what_gymnasium_says(
    id: str,
    n_inputs: int,
    n_outputs: int,
    max_steps: int,
    reward_threshold: float,
    compiled: int | None,
) -> None:
    task = find_task(id)
    assert task.compiled == compiled
    assert task == Task(
        id=id,
        n_inputs=n_inputs,
        n_outputs=n_outputs,
        is_discrete=True,
        max_steps=max_steps,
        reward_threshold=reward_threshold,
    )


def test_a_task_with_continuous_actions_has_their_bounds() -> None:
    task = find_task("Pendulum-v1")
    assert not task.is_discrete
    assert (task.n_outputs, task.action_low, task.action_high) == (1, (-2.0,), (2.0,))


def test_a_task_may_have_neither_limit_nor_threshold(register: Callable[..., str]) -> None:
    task = find_task(register())
    assert (task.max_steps, task.reward_threshold) == (None, None)


def test_a_task_of_a_module_is_found_by_importing_it(
    register: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_modules: None
) -> None:
    (tmp_path / "my_tasks.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Mine-v0', 'gymnasium.envs.classic_control:CartPoleEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    task = find_task("my_tasks:Mine-v0")
    assert (task.id, task.n_inputs, task.compiled) == ("my_tasks:Mine-v0", 4, None)
    assert make_env(task).observation_space.shape == (4,)


def test_an_environment_ends_after_the_last_step() -> None:
    env = make_env(find_task("Acrobot-v1"))
    env.reset(seed=0)
    ends = [env.step(1)[3] for _ in range(500)]
    assert ends == [False] * 499 + [True]


def test_importing_the_tasks_does_not_import_gymnasium() -> None:
    code = (
        "import sys, smgrnn.tasks; print([n for n in ('gymnasium', 'torch') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "meant"),
    [
        ("CartPol-v1", "CartPole-v1"),
        ("cartpole", "CartPole-v1"),
        ("LunarLander-v2", "LunarLander-v3"),
        ("acrobot-v1", "Acrobot-v1"),
        ("XOR", "xor"),
    ],
)
def test_an_unknown_task_is_refused_with_the_closest_known_one(id: str, meant: str) -> None:
    assert refusal(id) == f"There is no task {id!r}. Did you mean {meant!r}?"


def test_a_task_like_no_other_is_refused_without_a_suggestion() -> None:
    assert refusal("%§$") == "There is no task '%§$'."
    assert refusal("") == "There is no task ''."


def test_a_task_has_a_name() -> None:
    assert refusal(3) == (
        "A task is named by an id such as 'CartPole-v1', or is a function that makes an "
        "environment. Got 3 instead."
    )


def test_a_module_that_is_missing_is_named() -> None:
    assert refusal("no_such_module:Mine-v0") == (
        "The module 'no_such_module' of the task 'no_such_module:Mine-v0' cannot be imported: "
        "ModuleNotFoundError: No module named 'no_such_module'."
    )


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (spaces.Box(0, 255, (96, 96, 3), np.uint8), "Box(0, 255, (96, 96, 3), uint8)"),
        (spaces.Box(-1, 1, ()), "Box(-1.0, 1.0, (), float32)"),
        (spaces.Box(-1, 1, (0,)), "Box([], [], (0,), float32)"),
        (spaces.Discrete(16), "Discrete(16)"),
        (spaces.Tuple([FLAT, FLAT]), f"Tuple({FLAT}, {FLAT})"),
        (spaces.Dict({"a": FLAT}), f"Dict('a': {FLAT})"),
    ],
    ids=lambda value: value.split("(")[0] if isinstance(value, str) else "",
)
def test_an_observation_must_be_a_flat_box(
    register: Callable[..., str], space: Any, text: str
) -> None:
    assert refusal(register(kwargs={"observation_space": space})) == (
        f"The observations of a task must be a flat Box, of shape (n,). 'Still-v0' has {text} "
        f"instead{'' if space.shape == (0,) else FLATTEN}."
    )


def test_the_wrapper_that_is_named_helps() -> None:
    space = spaces.Dict({"place": FLAT, "kind": spaces.Discrete(3)})
    make: Any = lambda: gym.wrappers.FlattenObservation(Still(observation_space=space))  # noqa: E731
    assert find_task(make).n_inputs == FLAT.shape[0] + 3


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (spaces.MultiDiscrete([2, 3]), "MultiDiscrete([2 3])"),
        (spaces.MultiBinary(4), "MultiBinary(4)"),
        (spaces.Box(-1, 1, (2, 2)), "Box(-1.0, 1.0, (2, 2), float32)"),
        (spaces.Box(-1, 1, (2,), np.int64), "Box(-1, 1, (2,), int64)"),
        (spaces.Box(-1, 1, (0,)), "Box([], [], (0,), float32)"),
    ],
)
def test_an_action_must_be_a_choice_or_a_flat_vector(
    register: Callable[..., str], space: Any, text: str
) -> None:
    assert refusal(register(kwargs={"action_space": space})) == (
        "The actions of a task must be Discrete or a flat Box of floats, of shape (n,). "
        f"'Still-v0' has {text} instead{WAY_TO_ACT}."
    )


def test_continuous_actions_must_be_bounded(register: Callable[..., str]) -> None:
    space = spaces.Box(-np.inf, 1, (2,))
    assert refusal(register(kwargs={"action_space": space})) == (
        "Continuous actions must have finite bounds, the lower below the upper. "
        f"'Still-v0' has Box(-inf, 1.0, (2,), float32) instead{WAY_TO_ACT}."
    )


def test_choices_must_be_numbered_from_0(register: Callable[..., str]) -> None:
    space = spaces.Discrete(3, start=-1)
    assert refusal(register(kwargs={"action_space": space})) == (
        f"Discrete actions must be numbered from 0. 'Still-v0' numbers them from -1{WAY_TO_ACT}."
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("No licence found.\nAsk the vendor."), "No licence found"),
        (ValueError("The screen is too small"), "The screen is too small"),
        (DependencyNotInstalled("Run `pip install foo`"), "Run `pip install foo`"),
    ],
)
def test_an_environment_that_fails_to_start_says_why(
    register: Callable[..., str], error: Exception, reason: str
) -> None:
    def broken() -> gym.Env[Any, Any]:
        raise error

    sentence = refusal(register(broken))
    assert sentence.startswith(f"The task 'Still-v0' cannot be made: {type(error).__name__} in ")
    assert sentence.endswith(f": {reason}.")


def test_an_environment_whose_package_is_missing_says_so(register: Callable[..., str]) -> None:
    assert refusal(register("no_such_package.envs:Still")) == (
        "The task 'Still-v0' cannot be made: ModuleNotFoundError: No module named "
        "'no_such_package'."
    )


# --- XOR -----------------------------------------------------------------------------------------


def test_xor_is_a_task_without_an_environment() -> None:
    assert find_task("xor") is XOR
    assert (XOR.n_inputs, XOR.n_outputs, XOR.is_discrete) == (2, 1, False)
    assert (XOR.compiled, XOR.max_steps, XOR.is_supervised) == (None, 4, True)
    with pytest.raises(TaskError, match=r"^The task 'xor' is learned from examples and has no env"):
        make_env(XOR)


def test_the_target_of_xor_is_the_negative_product_of_its_bits() -> None:
    assert len({tuple(row) for row in PATTERNS}) == 4
    assert np.array_equal(TARGETS[:, 0], -PATTERNS[:, 0] * PATTERNS[:, 1])


# --- seeds of episodes ---------------------------------------------------------------------------


def test_the_seed_of_an_episode_never_changes() -> None:
    assert episode_seed(0, 0, "train") == 1051823300
    assert episode_seed(7, 1999, "train") == 1942720236
    assert episode_seed(7, 1999, "held_out") == 879100839


def test_no_held_out_episode_can_be_trained_on() -> None:
    train = [episode_seed(seed, k, "train") for seed in range(20) for k in range(200)]
    held_out = [episode_seed(seed, k, "held_out") for seed in range(20) for k in range(200)]
    assert not set(train) & set(held_out)
    assert {seed % 2 for seed in train} == {0}
    assert {seed % 2 for seed in held_out} == {1}
    assert len(set(train)) == len(train)
    assert len({seed // 2 for seed in train} & {seed // 2 for seed in held_out}) < 5
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in train + held_out)
    assert max(train) > 2**30


def test_students_are_chosen_on_episodes_that_neither_train_nor_judge() -> None:
    choosing = [episode_seed(seed, k, "choosing") for seed in range(20) for k in range(200)]
    assert all(isinstance(seed, int) and 2**31 <= seed < 2**32 for seed in choosing)
    assert len(set(choosing)) == len(choosing)
    assert max(choosing) > 2**31 + 2**30
    assert episode_seed(0, 0, "choosing") == 4269802381


def test_a_seed_and_an_episode_are_counted_from_0() -> None:
    with pytest.raises(ConfigError, match=r"^A seed must be an int in \[0, inf\)\. Got -1 instead"):
        episode_seed(-1, 0, "train")
    with pytest.raises(ConfigError, match=r"^An episode must be an int in \[0, inf\)\. Got 1\.5"):
        episode_seed(0, 1.5, "train")  # type: ignore[arg-type]


def test_returns_are_bounded_where_the_reward_of_a_step_is() -> None:
    assert find_task("CartPole-v1").return_bounds == (1.0, 500.0)
    assert find_task("Acrobot-v1").return_bounds == (-500.0, 0.0)
    assert XOR.return_bounds == (0.0, 4.0)
    assert find_task("LunarLander-v3").return_bounds == (-np.inf, np.inf)


def test_an_environment_that_cannot_be_closed_is_told() -> None:
    def stuck() -> Any:
        env = gym.make("CartPole-v1")
        env.close = lambda: [][7]  # type: ignore[method-assign]
        return env

    assert refusal(stuck).startswith("The task 'stuck' cannot be closed: IndexError in ")
