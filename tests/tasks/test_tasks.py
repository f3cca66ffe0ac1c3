"""The tasks there are, what is read off them, and what is refused at the door."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from smgrnn.errors import ConfigError, TaskError
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, find_task, make_env
from smgrnn.tasks.known import KNOWN, find_budget

FLAT = spaces.Box(-1, 1, (3,))
WRAPPER = "Register it inside a wrapper, such as gymnasium.wrappers."


class Still(gym.Env[Any, Any]):
    """An environment in which nothing happens."""

    def __init__(self, observation_space: Any = FLAT, action_space: Any = FLAT) -> None:
        self.observation_space, self.action_space = observation_space, action_space


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
    ("id", "shape", "facts"),
    [
        ("CartPole-v1", (4, 2, 500, 475.0), (0, 80, (1.0, 500.0))),
        ("Acrobot-v1", (6, 3, 500, -100.0), (1, 109, (-500.0, 0.0))),
        ("LunarLander-v3", (8, 4, 1000, 200.0), (None, 130, (-np.inf, np.inf))),
    ],
)
def test_what_is_known_of_the_paper_s_tasks(
    id: str, shape: tuple[Any, ...], facts: tuple[Any, ...]
) -> None:
    task = find_task(id)
    names = ("n_inputs", "n_outputs", "max_steps", "reward_threshold")
    assert task == Task(id=id, is_discrete=True, **dict(zip(names, shape, strict=True)))
    assert (task.facts.code, find_budget(id), task.return_bounds) == facts
    assert (len(task.names.inputs), len(task.names.outputs)) == shape[:2]
    with pytest.raises(ConfigError, match=r"^No budget is known for"):
        find_budget(f"{id},cue=1of2")


def test_facts_go_by_the_name_and_not_for_what_a_user_makes() -> None:
    task = find_task(lambda: gym.make("CartPole-v1"))
    assert (task.id, task.facts.code) == ("CartPoleEnv", None)
    named = Task(id="CartPole-v1", n_inputs=4, n_outputs=2, is_discrete=True, is_made=True)
    assert (named.facts.code, named.names.inputs[0]) == (None, "in 0")


def test_every_shipped_expert_is_one_of_a_task() -> None:
    weights = {file.name for file in files("smgrnn.experts").joinpath("weights").iterdir()}
    known = {f"{facts.id}-{name}" for facts in KNOWN.values() for name in facts.experts}
    assert {name.removesuffix(".safetensors") for name in weights} == known


def test_what_is_read_off_an_environment(register: Callable[..., str]) -> None:
    task = find_task("Pendulum-v1")
    assert not task.is_discrete
    assert (task.n_outputs, task.action_low, task.action_high) == (1, (-2.0,), (2.0,))
    task = find_task(register())
    assert (task.max_steps, task.reward_threshold) == (None, None)
    space = spaces.Dict({"place": FLAT, "kind": spaces.Discrete(3)})
    make: Any = lambda: gym.wrappers.FlattenObservation(Still(observation_space=space))  # noqa: E731
    assert find_task(make).n_inputs == FLAT.shape[0] + 3  # the wrapper that a refusal names helps


def test_xor_is_a_task_without_an_environment() -> None:
    xor = find_task("xor")
    assert (xor.n_inputs, xor.n_outputs, xor.action_low, xor.action_high) == (2, 1, (-1,), (1,))
    assert (xor.facts.code, xor.max_steps, xor.is_supervised) == (None, 4, True)
    assert xor.return_bounds == (0.0, 4.0)
    with pytest.raises(TaskError, match=r"^The task 'xor' is learned from examples and has no env"):
        make_env(xor)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "sentence"),
    [
        ("CartPol-v1", "There is no task 'CartPol-v1'. Did you mean 'CartPole-v1'?"),
        ("XOR", "There is no task 'XOR'. Did you mean 'xor'?"),
        ("", "There is no task ''."),
        (
            3,
            "A task is an id such as 'CartPole-v1', a Gymnasium environment, or a function that "
            "makes one. Got 3 instead.",
        ),
        (
            "no_such_module:Mine-v0",
            "The module 'no_such_module' of the task 'no_such_module:Mine-v0' cannot be imported: "
            "ModuleNotFoundError: No module named 'no_such_module'.",
        ),
    ],
)
def test_an_unknown_task_is_refused_with_the_closest_known_one(id: Any, sentence: str) -> None:
    assert refusal(id) == sentence


@pytest.mark.parametrize(
    "space", [spaces.Box(-1, 1, ()), spaces.Box(-1, 1, (0,)), spaces.Dict({"a": FLAT})], ids=str
)
def test_an_observation_must_be_a_flat_box(register: Callable[..., str], space: Any) -> None:
    assert refusal(register(kwargs={"observation_space": space})) == (
        f"The observations of a task must be a flat Box, of shape (n,). 'Still-v0' has {space} "
        f"instead. {WRAPPER}FlattenObservation."
    )


@pytest.mark.parametrize(
    "space",
    [
        spaces.MultiDiscrete([2, 3]),
        spaces.Box(-1, 1, (2, 2)),
        spaces.Box(-1, 1, (2,), np.int64),
        spaces.Box(-1, 1, (0,)),
        spaces.Box(-np.inf, 1, (2,)),
        spaces.Box(1, 1, (2,)),
        spaces.Discrete(3, start=-1),
        spaces.Discrete(1),
    ],
    ids=str,
)
def test_an_action_must_be_a_choice_or_a_flat_vector_with_bounds(
    register: Callable[..., str], space: Any
) -> None:
    assert refusal(register(kwargs={"action_space": space})) == (
        f"The actions of a task must be two choices or more, numbered from 0 (Discrete), or a flat "
        f"Box of floats with finite bounds. 'Still-v0' has {space} instead. "
        f"{WRAPPER}TransformAction."
    )


def test_an_environment_that_cannot_be_closed_says_why() -> None:
    def stuck() -> Any:
        env = gym.make("CartPole-v1")
        env.close = lambda: [][7]  # type: ignore[method-assign]
        return env

    assert refusal(stuck).startswith("The task 'stuck' cannot be closed: IndexError in ")


# --- seeds of episodes ---------------------------------------------------------------------------


def test_episodes_of_one_purpose_serve_no_other() -> None:
    """Students train on even seeds, are judged on odd ones and chosen on those from 2**31 on."""
    assert (episode_seed(0, 0, "train"), episode_seed(7, 1999, "train")) == (1051823300, 1942720236)
    assert (episode_seed(7, 1999, "held_out"), episode_seed(0, 0, "choosing")) == (
        879100839,
        4269802381,
    )
    train, held_out, choosing = (
        [episode_seed(seed, k, purpose) for seed in range(20) for k in range(200)]
        for purpose in ("train", "held_out", "choosing")
    )
    assert {seed % 2 for seed in train} == {0}
    assert {seed % 2 for seed in held_out} == {1}
    assert len({seed // 2 for seed in train} & {seed // 2 for seed in held_out}) < 5
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in train + held_out)
    assert all(isinstance(seed, int) and 2**31 <= seed < 2**32 for seed in choosing)
    for seeds, first in ((train, 0), (held_out, 0), (choosing, 2**31)):
        assert len(set(seeds)) == len(seeds)
        assert max(seeds) > first + 2**30


def test_a_seed_and_an_episode_are_counted_from_0() -> None:
    with pytest.raises(ConfigError, match=r"^A seed must be an int in \[0, inf\)\. Got -1 instead"):
        episode_seed(-1, 0, "train")
    with pytest.raises(ConfigError, match=r"^An episode must be an int in \[0, inf\)\. Got 1\.5"):
        episode_seed(0, 1.5, "train")  # type: ignore[arg-type]
