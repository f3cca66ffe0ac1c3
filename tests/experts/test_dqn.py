"""Expert training: it learns, repeats exactly, and records what it did."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import gymnasium as gym
import numpy as np
import pytest
import torch

from smgrnn.errors import ExpertError
from smgrnn.experts import Expert
from smgrnn.experts.dqn import (
    CHOICES,
    Checkpoint,
    Choice,
    DQNConfig,
    RecipeName,
    changes,
    find_recipe,
    train,
)
from smgrnn.tasks import find_task, make_env
from smgrnn.tasks.known import KNOWN

MIRRORS = {id: facts.mirror for id, facts in KNOWN.items() if facts.mirror is not None}

QUICK = DQNConfig(
    steps=3000, hidden=32, warmup=100, check_every=3000, policy_averaging=0.05, reward_scale=1.0
)


class Identity(gym.Env[Any, Any]):
    """Ten steps; the right action is the number of the input that is 1."""

    observation_space = gym.spaces.Box(0.0, 1.0, (3,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.n_steps = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = float(action == self.answer)
        self.n_steps += 1
        return self._observe(), reward, self.n_steps == 10, False, {}

    def _observe(self) -> Any:
        self.answer = int(self.np_random.integers(3))
        return np.eye(3, dtype=np.float32)[self.answer]


def last(checkpoints: Iterator[Checkpoint]) -> Expert:
    return list(checkpoints)[-1].expert


@pytest.mark.parametrize("standardise", [True, False])
def test_dqn_solves_the_identity(standardise: bool) -> None:
    config = DQNConfig.from_dict(QUICK.to_dict() | {"standardise": standardise})
    expert = last(train(Identity(), config, seed=0))
    assert [expert.action(row) for row in np.eye(3)] == [0, 1, 2]


def test_a_seed_gives_one_expert_whatever_the_global_generators_do() -> None:
    config = DQNConfig(steps=450, hidden=16, warmup=100, check_every=200)
    task = find_task("CartPole-v1")
    first = list(train(make_env(task), config, 1))
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    assert list(train(make_env(task), config, 1)) == first
    assert list(train(make_env(task), config, 2)) != first
    assert [checkpoint.step for checkpoint in first] == [200, 400, 450]  # the last one too
    assert first[0].expert != first[1].expert


class Uneven(Identity):
    """The same with inputs of very different size."""

    def _observe(self) -> Any:
        return super()._observe() * np.array([1.0, 0.01, 10.0], dtype=np.float32)


def test_the_scale_of_observations_ends_up_in_the_first_layer() -> None:
    """Before the first update the two policies differ only by the scale."""

    def first_layer(standardise: bool) -> Any:
        config = DQNConfig(steps=51, hidden=8, warmup=50, standardise=standardise)
        return last(train(Uneven(), config, 0)).layers()[0][0]

    ratio = first_layer(True) / first_layer(False)
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[0], ratio.shape), rtol=1e-5)
    np.testing.assert_allclose(ratio[0] * [1.0, 0.01, 10.0], 1 / 0.47, rtol=0.2)


@pytest.mark.parametrize("task_id", MIRRORS)
def test_a_mirrored_expert_is_symmetric(task_id: str) -> None:
    signs, order, actions = (list(part) for part in MIRRORS[task_id])
    config = DQNConfig(steps=300, hidden=16, warmup=100, mirror=True, policy_averaging=0.1)
    expert = last(train(make_env(find_task(task_id)), config, 0, MIRRORS[task_id]))
    assert expert.sizes[1] == 16
    for observation in np.random.default_rng(0).normal(size=(20, len(signs))):
        values, reflected = expert.values(observation), expert.values(observation[order] * signs)
        np.testing.assert_allclose(values, reflected[actions], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("task_id", ["CartPole-v1", "Acrobot-v1"])
def test_the_mirror_image_of_an_episode_is_an_episode(task_id: str) -> None:
    """What `mirror` takes for granted: Gymnasium's own dynamics have this symmetry."""
    signs, _, actions = MIRRORS[task_id]
    env, image = (make_env(find_task(task_id)) for _ in range(2))
    env.reset(seed=0)
    image.reset(seed=0)
    state: Any = env.unwrapped
    twin: Any = image.unwrapped
    twin.state = -np.asarray(state.state)
    rng = np.random.default_rng(0)
    for _ in range(50):
        action = int(rng.integers(state.action_space.n))
        seen, reward, ended, _, _ = env.step(action)
        reflected, same_reward, ended_too, _, _ = image.step(actions[action])
        np.testing.assert_allclose(seen * signs, reflected, atol=1e-5)
        assert (reward, ended) == (same_reward, ended_too)
        if ended:
            break


def test_the_side_engines_of_the_lander_mirror_each_other() -> None:
    """One step of each engine from one start: what the mirror swaps moves the lander oppositely.

    The start, the ground and the engines' own noise are not symmetric, so this looks at the spin
    that an engine adds to what happens without it.
    """
    added = []
    for action in (0, 1, 3):
        env = make_env(find_task("LunarLander-v3"))
        env.reset(seed=5)
        added.append(env.step(action)[0][5])
    still, left, right = added
    assert (left - still) * (right - still) < 0
    mirror = MIRRORS["LunarLander-v3"]
    assert [mirror.actions[action] for action in mirror.actions] == [0, 1, 2, 3]
    assert mirror.actions[1] == 3


@pytest.mark.parametrize(
    ("id", "config", "sentence"),
    [
        ("CartPole-v1", DQNConfig(hidden=15, mirror=True), "A mirrored expert needs an even"),
        ("MountainCar-v0", DQNConfig(mirror=True), "The task has no known mirror image; train its"),
        ("Pendulum-v1", QUICK, "DQN trains experts for discrete actions. The task has Box"),
    ],
)
def test_what_cannot_be_trained_is_refused(id: str, config: DQNConfig, sentence: str) -> None:
    with pytest.raises(ExpertError, match=f"^{sentence}"):
        next(train(make_env(find_task(id)), config, 0, MIRRORS.get(id)))


@pytest.mark.parametrize("task_id", MIRRORS)
@pytest.mark.parametrize("name", CHOICES)
def test_every_change_of_a_recipe_has_a_reason(name: RecipeName, task_id: str) -> None:
    assert tuple(CHOICES) == get_args(RecipeName)
    assert set(CHOICES.values()) == set(get_args(Choice))
    reasons = changes(find_recipe(task_id, name).config)
    assert ("policy_averaging" in reasons) == (name != "printed")
    assert "Set by hand." not in reasons.values()


def test_recipes_of_teachers_are_the_same_for_all_but_the_lander() -> None:
    """The lander's plain recipe is its smooth one without the mirror and the noise, and shorter."""
    paper = DQNConfig.paper()  # Sec. IV-A1
    assert (paper.hidden, paper.learning_rate, paper.discount) == (2048, 1e-3, 0.99)
    assert (paper.replay, paper.batch, paper.update_every) == (10_000, 64, 4)
    assert changes(paper) == {}
    assert changes(DQNConfig(batch=32))["batch"] == "Set by hand."
    for task_id in ("CartPole-v1", "Acrobot-v1", "Taxi-v3"):
        assert find_recipe(task_id, "plain") == (DQNConfig(), "own return")
        assert find_recipe(task_id, "printed") == (DQNConfig.paper(), "own return")
    names: tuple[RecipeName, ...] = ("printed", "plain", "smooth")
    printed, plain, smooth = (find_recipe("LunarLander-v3", name).config for name in names)
    assert printed == DQNConfig.paper(steps=400_000, check_every=20_000)
    bare = replace(smooth, mirror=False, action_noise=0.0)
    assert plain == replace(bare, steps=300_000, check_every=25_000)
