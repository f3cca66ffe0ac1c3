"""Experts from Stable-Baselines3: the policies it saves, and what is refused."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from smgrnn import distill
from smgrnn.errors import ExpertError
from smgrnn.experts import find_expert, load_expert, read_expert
from smgrnn.experts.evaluation import _act
from smgrnn.experts.sb3 import load_sb3_expert
from smgrnn.tasks import Task, find_task
from support.commands import call

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*can run code as it is read"),
    pytest.mark.filterwarnings("ignore:.*was trained under VecNormalize"),
]

RELU: Any = {"policy_kwargs": {"activation_fn": torch.nn.ReLU}}
BARE: Any = {"policy_kwargs": {"net_arch": []}}
SQUASHED: Any = {"policy_kwargs": {"squash_output": True}, "use_sde": True}
POLICIES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "DQN": ("CartPole-v1", DQN, {"buffer_size": 10}),
    "PPO": ("CartPole-v1", PPO, {}),
    "PPO of one layer": ("Acrobot-v1", PPO, BARE),
    "PPO, ReLU": ("MountainCar-v0", PPO, RELU),
    "PPO, continuous": ("Pendulum-v1", PPO, {}),
    "PPO, squashed": ("Pendulum-v1", PPO, SQUASHED),
    "A2C": ("CartPole-v1", A2C, {}),
    "SAC": ("Pendulum-v1", SAC, {"buffer_size": 10}),
    "TD3": ("Pendulum-v1", TD3, {"buffer_size": 10}),
    "DDPG": ("Pendulum-v1", DDPG, {"buffer_size": 10}),
}


def observations(task: Task, n: int = 200) -> Any:
    """Return observations as a random policy meets them, and a few that are wider spread."""
    env = gym.make(task.id)
    env.action_space.seed(0)
    seen = [env.reset(seed=0)[0]]
    while len(seen) < n:
        observation, _, is_terminal, is_truncated, _ = env.step(env.action_space.sample())
        seen.append(env.reset()[0] if is_terminal or is_truncated else observation)
    env.close()
    wide = np.random.default_rng(0).normal(size=(n, task.n_inputs)).astype(np.float32)
    return np.concatenate([seen, wide])


@pytest.mark.parametrize("name", POLICIES)
def test_an_expert_acts_as_the_policy_it_was_read_from(tmp_path: Path, name: str) -> None:
    task_id, algorithm, settings = POLICIES[name]
    task, model = find_task(task_id), algorithm("MlpPolicy", task_id, seed=0, **settings)
    with torch.no_grad():  # untrained policies hardly tell observations apart
        for parameter in model.policy.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save(tmp_path / "policy.zip")
    expert = load_expert(tmp_path / "policy.zip")
    seen = observations(task)
    expected, _ = model.predict(seen, deterministic=True)
    actions = np.array([_act(expert, task, observation) for observation in seen])
    assert len(np.unique(expected, axis=0)) > 1
    np.testing.assert_allclose(actions, expected, atol=1e-4)
    assert find_expert(model, task)[1] == expert  # the object itself


def normalised_policy(folder: Path) -> tuple[Any, VecNormalize]:
    """Save a PPO policy that was trained a little behind VecNormalize, and its statistics."""
    env = VecNormalize(DummyVecEnv([lambda: gym.make("MountainCar-v0")]))
    model = PPO("MlpPolicy", env, seed=0, n_steps=64, batch_size=64, n_epochs=1)
    model.learn(64)
    model.save(folder / "policy.zip")
    env.save(str(folder / "statistics.pkl"))
    return model, env


def test_a_td3_policy_without_vecnormalize_is_not_said_to_need_it(tmp_path: Path) -> None:
    """TD3 keeps original observations in any case; each such policy was said to lack statistics."""
    model = TD3("MlpPolicy", "Pendulum-v1", learning_starts=5, buffer_size=10, device="cpu")
    model.learn(4)
    model.save(tmp_path / "policy.zip")
    with pytest.warns(UserWarning, match="can run code") as caught:
        load_expert(tmp_path / "policy.zip")
    assert not any("VecNormalize" in str(each.message) for each in caught)


def test_saved_statistics_of_vecnormalize_become_part_of_the_expert(tmp_path: Path) -> None:
    model, env = normalised_policy(tmp_path)
    task = find_task("MountainCar-v0")
    expert = load_sb3_expert(tmp_path / "policy.zip", tmp_path / "statistics.pkl")
    assert find_expert(model, task)[1] == expert  # a model has its statistics
    with pytest.warns(UserWarning, match="was trained under VecNormalize.* --statistics"):
        load_expert(tmp_path / "policy.zip")
    seen = observations(task)[:200]
    logits = model.policy.get_distribution(torch.as_tensor(env.normalize_obs(seen)).float())
    for observation, wanted in zip(seen, logits.distribution.logits, strict=True):
        values = expert.values(observation)
        spread = wanted.detach().numpy() - wanted.detach().numpy()[0]
        np.testing.assert_allclose(values - values[0], spread, atol=1e-4)


def test_a_converted_policy_is_an_expert_without_pickle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    normalised_policy(tmp_path)
    zip_file, statistics = tmp_path / "policy.zip", tmp_path / "statistics.pkl"
    with pytest.raises(ExpertError, match="takes 2 inputs and gives 3 outputs; 'CartPole-v1' has"):
        distill("CartPole-v1", expert=zip_file)
    out = tmp_path / "expert.safetensors"
    call("expert", "convert", zip_file, "--out", out, "--statistics", statistics)
    assert capsys.readouterr().out == f"{out}: Expert(2-64-64-3)\n"
    assert load_expert(out) == load_sb3_expert(zip_file, statistics)
    assert read_expert(out)[1] == {"method": "Stable-Baselines3"}


# --- what is refused ------------------------------------------------------------------------------


def refused(path: Path, statistics: Path | None = None) -> str:
    with pytest.raises(ExpertError) as caught:
        load_sb3_expert(path, statistics)
    return str(caught.value)


def write_zip(path: Path, data: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))


def test_zips_that_are_no_policy_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.zip"
    assert refused(path) == f"There is no expert file {path}."
    write_zip(path, {"policy_class": None})
    assert refused(path) == f"{path} is damaged or not a Stable-Baselines3 file."
    write_zip(path, {"policy_class": {"__module__": "sb3_contrib.qrdqn.policies"}})
    assert refused(path) == f"{path} holds no policy of DQN, PPO, A2C, SAC, TD3 or DDPG."
    write_zip(path, {"policy_class": {"__module__": "stable_baselines3.dqn.policies"}})
    assert refused(path).startswith(f"{path} cannot be read by Stable-Baselines3: ")


class Still(gym.Env[Any, Any]):
    """An environment with any spaces."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space, self.action_space = observation_space, action_space


FLAT, IMAGE = spaces.Box(-1, 1, (3,)), spaces.Box(0, 255, (36, 36, 3), np.uint8)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: PPO("MlpPolicy", "CartPole-v1", policy_kwargs={"activation_fn": torch.nn.ELU}),
            "has a ELU where an expert has a ReLU or Tanh.",
        ),
        (
            lambda: PPO("CnnPolicy", Still(IMAGE, spaces.Discrete(2))),
            "is no plain network: it has a NatureCNN.",
        ),
        (
            lambda: PPO("MlpPolicy", Still(FLAT, spaces.MultiDiscrete([2, 3]))),
            "is for actions that no task here has: MultiDiscrete([2 3]).",
        ),
    ],
)
def test_policies_of_other_kinds_are_refused(
    tmp_path: Path, build: Callable[[], Any], sentence: str
) -> None:
    path = tmp_path / "policy.zip"
    build().save(path)
    assert refused(path) == f"{path} {sentence}"


def test_statistics_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    normalised_policy(tmp_path)
    path, statistics = tmp_path / "policy.zip", tmp_path / "other.pkl"
    assert refused(path, statistics) == f"There is no file {statistics}."
    statistics.write_bytes(b"no pickle")
    sentence = f"{statistics} holds no statistics of VecNormalize that fit."
    assert refused(path, statistics) == sentence
    for task, has_seen in (("CartPole-v1", True), ("MountainCar-v0", False)):
        env = DummyVecEnv([lambda task=task: gym.make(task)])  # type: ignore[misc]
        VecNormalize(env, norm_obs=has_seen).save(str(statistics))
        assert refused(path, statistics) == sentence


def test_the_network_is_taken_over_whole_and_reading_it_warns_of_its_code(tmp_path: Path) -> None:
    model = SAC("MlpPolicy", "Pendulum-v1", policy_kwargs={"net_arch": [8, 5]}, buffer_size=10)
    model.save(tmp_path / "policy.zip")
    with pytest.warns(UserWarning, match="can run code as it is read: load only files you trust"):
        expert = load_expert(tmp_path / "policy.zip")
    assert expert.sizes.tolist() == [3, 8, 5, 1, 1]
    assert expert.activations == ("relu", "relu", "tanh")
