"""Distillation: a growing student learns from a frozen expert while it acts.  Paper: Sec. III-E."""

from dataclasses import replace
from functools import cached_property
from math import isfinite
from typing import Any, Protocol

import numpy as np

from smgrnn.config import Loss, NetworkConfig, PlasticityConfig, RunConfig
from smgrnn.engine import Learner
from smgrnn.errors import ConfigError, NonFiniteError, TaskError
from smgrnn.experts import Expert, check_expert, load_expert
from smgrnn.experts.mlp import expert_action
from smgrnn.graph.state import Floats, Graph
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, compiled, make_env
from smgrnn.training.record import Episodes
from smgrnn.training.rollout import distill_episodes, play_episodes


class Backend(Protocol):
    """Where episodes happen."""

    def distil(self, learner: Learner, expert: Expert, seeds: list[int]) -> Episodes:
        """Train on one episode per seed."""

    def play(self, learner: Learner, seeds: list[int]) -> Floats:
        """Return the return of the frozen greedy student on one episode per seed."""


def student_rules(config: RunConfig) -> PlasticityConfig:
    """Return the plasticity settings of a kind of student."""
    rules = config.plasticity
    if config.max_parameters is not None:
        rules = replace(rules, max_edges=min(config.max_parameters, rules.max_edges))
    if config.student == "static":
        return replace(
            rules, edge_growth=False, exploration=False, pruning=False, orphan_removal=False
        )
    if config.student == "growth-only":
        return replace(rules, pruning=False, orphan_removal=False)
    return rules


def new_learner(config: RunConfig, task: Task, graph: Graph | None = None) -> Learner:
    """Return the student as it is before its first episode, the same graph for every kind of it."""
    network = NetworkConfig(
        n_inputs=task.n_inputs,
        n_outputs=task.n_outputs,
        n_hidden=config.n_hidden,
        density=config.density,
        weight_std=config.weight_std,
        iterations=config.iterations,
        activation=config.activation,
        output_activation=config.output_activation,
    )
    loss: Loss = "cross_entropy" if task.is_discrete else "mse"
    learning = replace(config.learning, loss=loss)
    learner = Learner(network, learning, student_rules(config), graph=graph, seed=config.seed)
    if config.max_parameters is not None and learner.graph.n_edges > config.max_parameters:
        raise ConfigError(
            f"The network starts with {learner.graph.n_edges} edges, more than "
            f"max_parameters={config.max_parameters}; lower the density."
        )
    return learner


class Distillation:
    """A run in progress: the task, the expert, the student and where episodes happen."""

    def __init__(self, task: Task, config: RunConfig) -> None:
        self.task = task
        self.config = config
        self.learner = new_learner(config, self.task)
        self.is_compiled = config.env_backend == "compiled" and task.compiled is not None
        self.backend: Backend = (
            CompiledBackend(task) if self.is_compiled else GymnasiumBackend(task)
        )

    @cached_property
    def expert(self) -> Expert:
        """The teacher; only training needs it."""
        expert = load_expert(self.config.expert or self.task.id)
        check_expert(expert, self.task)
        return expert

    def train(self, first: int, last: int) -> Episodes:
        """Train on the episodes first … last - 1 and return their record."""
        seeds = [episode_seed(self.config.seed, number, "train") for number in range(first, last)]
        return self.backend.distil(self.learner, self.expert, seeds)

    def score(self, first: int, last: int) -> Floats:
        """Return the returns of the student as it is on held-out episodes first … last - 1."""
        numbers = range(first, last)
        seeds = [episode_seed(self.config.seed, number, "held_out") for number in numbers]
        return self.backend.play(self.learner, seeds)


def scale_action(task: Task, outputs: Any) -> Any:
    """Return the action that a student's outputs mean: as they are, or from ±1 to the bounds."""
    if task.is_discrete:
        return outputs
    low, high = np.asarray(task.action_low), np.asarray(task.action_high)
    return (low + (np.clip(outputs, -1, 1) + 1) / 2 * (high - low)).astype(np.float32)


class CompiledBackend:
    """Episodes of a compiled task, without Python."""

    def __init__(self, task: Task) -> None:
        assert task.compiled is not None
        assert task.max_steps is not None
        self._code, self._max_steps = task.compiled, task.max_steps

    def distil(self, learner: Learner, expert: Expert, seeds: list[int]) -> Episodes:
        """Train on one episode per seed."""
        worlds = compiled.start_states(self._code, seeds)
        episodes = Episodes.start(len(seeds))
        learner.advance(
            lambda state, settings, log, rng: distill_episodes(
                state, settings, self._code, worlds, self._max_steps, expert, episodes, log, rng
            )
        )
        return episodes

    def play(self, learner: Learner, seeds: list[int]) -> Floats:
        """Return the return of the frozen greedy student on one episode per seed."""
        worlds, returns = compiled.start_states(self._code, seeds), np.zeros(len(seeds))
        learner.look(
            lambda state, settings: play_episodes(
                state, settings, self._code, worlds, self._max_steps, returns
            )
        )
        if np.isnan(returns).any():
            raise NonFiniteError("An output of the student became NaN or infinite in an episode.")
        return returns


class GymnasiumBackend:
    """Episodes of any Gymnasium task, with the compiled learner."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._env = make_env(task)

    def distil(self, learner: Learner, expert: Expert, seeds: list[int]) -> Episodes:
        """Train on one episode per seed."""
        episodes = Episodes.start(len(seeds))
        label = self._labeller(expert)
        for number, seed in enumerate(seeds):
            observation = self._reset(seed)
            total, lost, n_steps, n_agreed, is_over = 0.0, 0.0, 0, 0, False
            while not is_over:
                wanted = label(observation)
                action = learner.learn(observation, wanted)
                observation, reward, is_over = self._step(action)
                total += reward
                n_steps += 1
                n_agreed += bool(np.all(action == wanted))
                lost += learner.loss
            learner.end_episode()
            episodes.returns[number], episodes.steps[number] = total, n_steps
            episodes.agreed[number], episodes.loss[number] = n_agreed, lost
            episodes.n_nodes[number] = learner.graph.n_nodes
            episodes.n_edges[number] = learner.graph.n_edges
        return episodes

    def play(self, learner: Learner, seeds: list[int]) -> Floats:
        """Return the return of the frozen greedy student on one episode per seed."""
        player = Learner.from_network(learner, learner.learning)
        returns = np.zeros(len(seeds))
        for number, seed in enumerate(seeds):
            observation, is_over = self._reset(seed), False
            while not is_over:
                observation, reward, is_over = self._step(player.act(observation))
                returns[number] += reward
            player.end_episode()
        return returns

    def _labeller(self, expert: Expert) -> Any:
        if self._task.is_discrete:
            sizes, parameters, scratch = expert.sizes, expert.parameters, expert.scratch()
            return lambda observation: expert_action(sizes, parameters, scratch, observation)
        low, high = np.asarray(self._task.action_low), np.asarray(self._task.action_high)

        def scaled(observation: Any) -> Floats:
            """Return the expert's action with its bounds moved to -1 and 1."""
            action = np.clip(expert.values(observation), low, high)
            return np.asarray(2 * (action - low) / (high - low) - 1, dtype=np.float64)

        return scaled

    def _reset(self, seed: int) -> Any:
        try:
            observation, _ = self._env.reset(seed=seed)
        except Exception as error:
            raise TaskError(f"{self._task.id} failed on reset: {_reason(error)}.") from error
        return self._finite(observation)

    def _step(self, action: Any) -> tuple[Any, float, bool]:
        try:
            action = scale_action(self._task, action)
            observation, reward, is_terminal, is_truncated, _ = self._env.step(action)
        except Exception as error:
            raise TaskError(f"{self._task.id} failed in an episode: {_reason(error)}.") from error
        if not isfinite(reward):
            raise TaskError(f"{self._task.id} gave a reward that is NaN or infinite.")
        return self._finite(observation), float(reward), bool(is_terminal or is_truncated)

    def _finite(self, observation: Any) -> Any:
        observation = np.asarray(observation)
        if not isfinite(observation.dot(observation)) and not np.isfinite(observation).all():
            raise TaskError(f"{self._task.id} gave an observation that is NaN or infinite.")
        return observation


def _reason(error: Exception) -> str:
    """Return what an error says, in one line and without a full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
