"""DQN: how experts are trained, and the recipes by which they were.  Paper: Sec. IV-A1.

One hidden layer of ReLU units, Adam, ε-greedy exploration, a replay buffer and an update every few
steps, as the paper prints.  The rest is chosen so that the expert is good and smooth: double
Q-learning with a slow target network, and slowly averaged weights as the policy.

The recipe `printed` is what the paper prints; `plain` learns more steadily.  Both keep the
checkpoint that returns most by itself.  `robust` trains with random actions and keeps the
checkpoint that returns most under them.  `smooth` adds mirror images and noise, and students choose
its checkpoint.  What the tasks change, and the reasons, are in `recipes.toml`.
"""

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple, Self

import gymnasium as gym
import numpy as np
import torch
from torch import nn

from smgrnn.arrays import Singles
from smgrnn.errors import ExpertError
from smgrnn.experts.mlp import Expert
from smgrnn.seeding import stream
from smgrnn.tasks.facts import Mirror
from smgrnn.validation import Count, Decay, Positive, Probability, Settings, Share

MAX_GRADIENT_NORM = 10.0
RecipeName = Literal["smooth", "robust", "plain", "printed"]
Choice = Literal["own return", "disturbed return", "students"]  # of a checkpoint; see `choice`
CHOICES: dict[RecipeName, Choice] = {"smooth": "students", "robust": "disturbed return"}


@dataclass(frozen=True, kw_only=True)
class DQNConfig(Settings):
    """Settings of expert training; the paper's where it prints them."""

    steps: Count = 100_000  # environment steps
    hidden: Count = 2048  # ReLU units in the hidden layer
    learning_rate: Positive = 1e-3  # Adam's step size at the start
    final_learning_rate: Positive = 1e-4  # Adam's step size at the end, approached linearly
    discount: Decay = 0.99  # discount factor (γ)
    replay: Count = 10_000  # transitions kept for replay
    batch: Count = 64  # transitions per update
    update_every: Count = 4  # environment steps between two updates
    warmup: Count = 1000  # random steps before the first update
    epsilon_start: Probability = 1.0  # exploration rate at the start
    epsilon_end: Probability = 0.05  # exploration rate at the end
    epsilon_share: Share = 0.3  # fraction of the steps over which exploration falls
    reward_scale: Positive = 0.01  # brings values near 1, where the Huber loss is a square
    standardise: bool = True  # divide observations by their deviation in the random steps
    target_averaging: Share = 0.02  # rate at which the target network follows the trained one
    policy_averaging: Share = 0.001  # rate at which the policy that is kept follows it
    action_noise: Probability = 0.0  # fraction of actions replaced by random ones while training
    mirror: bool = False  # learn from mirror images too, and make the expert exactly symmetric
    check_every: Count = 5000  # environment steps between two checkpoints

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the settings that the paper prints, and the plainest choice where it is silent."""
        plain = {"final_learning_rate": 1e-3, "reward_scale": 1.0, "standardise": False}
        plain |= {"target_averaging": 0.005, "policy_averaging": 1.0}
        return cls(**plain | changes)


class Recipe(NamedTuple):
    """A way to get an expert: the settings of its training, and how its checkpoint is chosen."""

    config: DQNConfig
    chosen_by: Choice


_DATA = tomllib.loads(files("smgrnn.experts").joinpath("recipes.toml").read_text(encoding="utf-8"))


def find_recipe(task_id: str, name: RecipeName = "smooth") -> Recipe:
    """Return a recipe for this task; a variant has the recipe of its task."""
    make, base = DQNConfig.paper if name == "printed" else DQNConfig, task_id.partition(",")[0]
    own = _DATA[name].get("every", {}) | _DATA[name].get(base, {})
    return Recipe(make(**own), CHOICES.get(name, "own return"))


def changes(config: DQNConfig) -> dict[str, str]:
    """Return the settings in which training differs from the paper's recipe, with the reasons."""
    ours = config.to_dict()
    paper = DQNConfig.paper(steps=config.steps, check_every=config.check_every).to_dict()
    different = [name for name in ours if ours[name] != paper[name]]
    return {name: _DATA["reasons"].get(name, "Set by hand.") for name in different}


def train(
    env: gym.Env[Any, Any], config: DQNConfig, seed: int, mirror: Mirror | None = None
) -> Iterator[tuple[int, Expert]]:
    """Train a Q-network; yield step and averaged policy every `check_every` steps and at last."""
    if config.mirror and mirror is None:
        raise ExpertError("The task has no known mirror image; train its expert with mirror=False.")
    if config.mirror and config.hidden % 2:
        raise ExpertError("A mirrored expert needs an even number of hidden units.")
    if not isinstance(env.action_space, gym.spaces.Discrete):
        raise ExpertError(f"DQN needs discrete actions. The task has {env.action_space}.")
    n_inputs, n_actions = gym.spaces.flatdim(env.observation_space), int(env.action_space.n)
    init, rng = stream(seed, "init"), stream(seed, "task")
    mirror = mirror if config.mirror else None
    # The mirror image has as many units as the network it reflects.
    n_hidden = config.hidden // 2 if config.mirror else config.hidden
    online = nn.Sequential(nn.Linear(n_inputs, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_actions))
    parameters = [*online.parameters()]
    weights = [parameter.detach().numpy() for parameter in parameters]  # views
    for weight, fan in zip(weights, (n_inputs, n_inputs, n_hidden, n_hidden), strict=True):
        weight[...] = init.uniform(-(fan**-0.5), fan**-0.5, weight.shape)  # as torch does
    target, policy = deepcopy(online), deepcopy(online)
    averages = (target, config.target_averaging), (policy, config.policy_averaging)
    optimizer = torch.optim.Adam(parameters, lr=config.learning_rate)
    n, n_seen, single = config.replay, 0, np.float32
    wide, actions = np.zeros((n, n_inputs), single), np.zeros(n, np.int64)
    replay: list[Any] = [wide, actions, np.zeros(n, single), wide.copy(), np.zeros(n, single)]
    scale = np.ones(n_inputs, dtype=np.float32)
    observation, _ = env.reset(seed=int(rng.integers(2**31)))
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # fastest for matrices this small, and the same sums on any machine
    try:
        for step in range(1, config.steps + 1):
            progress = step / config.steps
            fall = min(progress / config.epsilon_share, 1.0)
            epsilon = config.epsilon_start + fall * (config.epsilon_end - config.epsilon_start)
            if step <= config.warmup or rng.random() < epsilon:
                action = int(rng.integers(n_actions))
            else:
                hidden = np.maximum(weights[0] @ (observation * scale) + weights[1], 0)
                action = int(np.argmax(weights[2] @ hidden + weights[3]))
            performed = action
            if config.action_noise > 0 and rng.random() < config.action_noise:
                performed = int(rng.integers(n_actions))
            successor, reward, is_terminal, is_truncated, _ = env.step(performed)
            gain = float(reward) * config.reward_scale
            transitions = [(observation, action, gain, successor, is_terminal)]
            if mirror is not None:
                seen, then = _reflect(mirror, observation), _reflect(mirror, successor)
                transitions.append((seen, mirror.actions[action], gain, then, is_terminal))
            for transition in transitions:
                for column, value in zip(replay, transition, strict=True):
                    column[n_seen % n] = value
                n_seen += 1
            observation = successor
            if is_terminal or is_truncated:
                observation, _ = env.reset()
            if step == config.warmup and config.standardise:
                deviation = wide[:n_seen].std(axis=0)
                scale = np.where(deviation > 0, 1 / np.maximum(deviation, 1e-3), 1)
                scale = scale.astype(np.float32)
            if step > config.warmup and step % config.update_every == 0:
                change = config.final_learning_rate - config.learning_rate
                optimizer.param_groups[0]["lr"] = config.learning_rate + progress * change
                rows = rng.integers(0, min(n_seen, n), config.batch)
                batch = [column[rows] for column in replay]
                batch[0], batch[3] = batch[0] * scale, batch[3] * scale
                shown, taken, rewards, after, has_ended = map(torch.from_numpy, batch)
                with torch.no_grad():  # double Q-learning
                    chosen = online(after).argmax(dim=1, keepdim=True)
                    future = target(after).gather(1, chosen).squeeze(1)
                    goals = rewards + config.discount * (1 - has_ended) * future
                values = online(shown).gather(1, taken.unsqueeze(1)).squeeze(1)
                optimizer.zero_grad()
                nn.functional.smooth_l1_loss(values, goals).backward()
                nn.utils.clip_grad_norm_(parameters, MAX_GRADIENT_NORM)
                optimizer.step()
                with torch.no_grad():
                    for mean, share in averages:
                        for mine, theirs in zip(mean.parameters(), parameters, strict=True):
                            mine.lerp_(theirs, share)
            if step % config.check_every == 0 or step == config.steps:
                yield step, _expert(policy, scale, mirror)
    finally:
        torch.set_num_threads(n_threads)


def _expert(policy: nn.Sequential, scale: Singles, mirror: Mirror | None) -> Expert:
    """Return the policy for unscaled observations, or its mean with its mirror image."""
    first, bias, last, last_bias = (p.detach().numpy() for p in policy.parameters())
    first = first * scale
    if mirror is None:
        return Expert.from_layers([(first, bias), (last, last_bias)])
    actions = list(mirror.actions)
    hidden = (np.concatenate([first, _reflect(mirror, first)]), np.concatenate([bias, bias]))
    both, biases = np.concatenate([last, last[actions]], axis=1), last_bias + last_bias[actions]
    return Expert.from_layers([hidden, (both / 2, biases / 2)])


def _reflect(mirror: Mirror, observations: Any) -> Singles:
    """Return the mirror image of observations, or of weights on them, along the last axis."""
    signs = np.array(mirror.signs, dtype=np.float32)
    return np.asarray(observations[..., list(mirror.order)] * signs, dtype=np.float32)
