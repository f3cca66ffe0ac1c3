"""Backends: where the episodes of a run happen."""

from math import isfinite
from typing import Any, Protocol

import numpy as np

from smgrnn.engine import Learner
from smgrnn.errors import NonFiniteError, TaskError
from smgrnn.experts import Expert
from smgrnn.graph.state import Floats
from smgrnn.tasks import Task, compiled, make_env
from smgrnn.tasks.xor import PATTERNS, TARGETS
from smgrnn.training.record import Episodes
from smgrnn.training.rollout import distill_episodes, play_episodes, taught_step

LONGEST_EPISODE = 10_000
"""Steps after which an episode is cut off in a task that sets no limit of its own."""
RIGHT = 0.25
"""An answer to an example is right below this squared error: nearer to it than to its opposite."""


class Backend(Protocol):
    """Where episodes happen."""

    chunk: int
    """Episodes that are trained at a stretch, between two looks at the progress."""

    def distil(self, learner: Learner, expert: Expert | None, seeds: list[int]) -> Episodes:
        """Train on one episode per seed."""

    def play(self, learner: Learner, seeds: list[int]) -> Episodes:
        """Play one episode per seed with the greedy student as it is."""


def find_backend(task: Task, env_backend: str) -> Backend:
    """Return where a task runs: compiled if it can be and nothing else was asked for."""
    if task.is_supervised:
        return ExamplesBackend(PATTERNS, TARGETS)
    if env_backend == "compiled" and task.compiled is not None:
        return CompiledBackend(task)
    return GymnasiumBackend(task)


def scale_action(task: Task, outputs: Any) -> Any:
    """Return the action that a student's outputs mean: as they are, or from ±1 to the bounds."""
    if task.is_discrete:
        return outputs
    low, high = np.asarray(task.action_low), np.asarray(task.action_high)
    return (low + (np.clip(outputs, -1, 1) + 1) / 2 * (high - low)).astype(np.float32)


def widen(observation: Any, n_inputs: int) -> Floats:
    """Return the observation with a 1 for each input beyond it: the bias of a network."""
    row = np.ones(n_inputs)
    row[: len(observation)] = observation
    return row


class CompiledBackend:
    """Episodes of a compiled task, without Python."""

    chunk = 20

    def __init__(self, task: Task) -> None:
        assert task.compiled is not None
        assert task.max_steps is not None
        self._code, self._max_steps = task.compiled, task.max_steps

    def distil(self, learner: Learner, expert: Expert | None, seeds: list[int]) -> Episodes:
        """Train on one episode per seed."""
        assert expert is not None
        worlds = compiled.start_states(self._code, seeds)
        episodes = Episodes.start(len(seeds))
        learner.advance(
            lambda state, settings, log, rng: distill_episodes(
                state, settings, self._code, worlds, self._max_steps, expert, episodes, log, rng
            )
        )
        return episodes

    def play(self, learner: Learner, seeds: list[int]) -> Episodes:
        """Play one episode per seed with the greedy student as it is."""
        worlds, episodes = compiled.start_states(self._code, seeds), Episodes.start(len(seeds))
        learner.look(
            lambda state, settings: play_episodes(
                state, settings, self._code, worlds, self._max_steps, episodes
            )
        )
        if np.isnan(episodes.returns).any():
            raise NonFiniteError("An output of the student became NaN or infinite in an episode.")
        return episodes


class GymnasiumBackend:
    """Episodes of any Gymnasium task, with the compiled learner."""

    chunk = 1

    def __init__(self, task: Task, env: Any = None) -> None:
        self._task = task
        self._env = make_env(task) if env is None else env
        self._max_steps = task.max_steps or LONGEST_EPISODE

    def distil(self, learner: Learner, expert: Expert | None, seeds: list[int]) -> Episodes:
        """Train on one episode per seed."""
        assert expert is not None
        row = np.ones(learner.config.n_inputs)  # an input beyond the observation is always 1
        seen = row[: self._task.n_inputs]
        episodes = Episodes.start(len(seeds))
        teach = self._teacher(learner, expert, row)
        for number, seed in enumerate(seeds):
            observation = self._reset(seed)
            total, lost, n_steps, n_agreed, is_over = 0.0, 0.0, 0, 0, False
            while not is_over and n_steps < self._max_steps:
                seen[:] = observation
                action, has_agreed = teach()
                observation, reward, is_over = self._step(action)
                total += reward
                n_steps += 1
                n_agreed += has_agreed
                lost += learner.loss
            learner.end_episode()
            episodes.returns[number], episodes.steps[number] = total, n_steps
            episodes.agreed[number], episodes.loss[number] = n_agreed, lost
            episodes.n_nodes[number] = learner.graph.n_nodes
            episodes.n_edges[number] = learner.graph.n_edges
        return episodes

    def play(self, learner: Learner, seeds: list[int]) -> Episodes:
        """Play one episode per seed with the greedy student as it is."""
        player = Learner.from_network(learner, learner.learning)
        episodes = Episodes.start(len(seeds))
        episodes.n_nodes[:], episodes.n_edges[:] = player.graph.n_nodes, player.graph.n_edges
        for number, seed in enumerate(seeds):
            observation, total, n_steps, is_over = self._reset(seed), 0.0, 0, False
            while not is_over and n_steps < self._max_steps:
                row = widen(observation, learner.config.n_inputs)
                observation, reward, is_over = self._step(player.act(row))
                total += reward
                n_steps += 1
            player.end_episode()
            episodes.returns[number], episodes.steps[number] = total, n_steps
        return episodes

    def _teacher(self, learner: Learner, expert: Expert, row: Floats) -> Any:
        """Return what learns the expert's label for `row`; it gives the action and if it agreed."""
        question = (expert.sizes, expert.parameters, expert.scratch(), row, np.empty(0))
        if self._task.is_discrete:

            def choose() -> tuple[int, bool]:
                action, _, label = learner.learn_by(taught_step, *question)
                return action, action == label

            return choose
        low, high = np.asarray(self._task.action_low), np.asarray(self._task.action_high)
        n_inputs = self._task.n_inputs

        def move() -> tuple[Any, bool]:
            wanted = np.clip(expert.values(row[:n_inputs]), low, high)
            scaled = 2 * (wanted - low) / (high - low) - 1  # from the bounds to -1 and 1
            return learner.learn(row, scaled), False

        return move

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


class ExamplesBackend:
    """Supervised learning: an episode is one round through the examples in random order.

    Its return is the number of examples that were answered right.
    """

    chunk = 1

    def __init__(self, observations: Floats, targets: Floats) -> None:
        self._observations, self._targets = observations, targets

    def distil(self, learner: Learner, expert: Expert | None, seeds: list[int]) -> Episodes:
        """Train on one round per seed; the targets are the teacher."""
        episodes, n = Episodes.start(len(seeds)), len(self._targets)
        n_inputs = learner.config.n_inputs
        rows = np.array([widen(observation, n_inputs) for observation in self._observations])
        is_last = np.arange(1, n + 1) == n
        learner.learn_stream(rows[:0], self._targets[:0])  # compiles, even for no round at all
        for number, seed in enumerate(seeds):
            order = np.random.default_rng(seed).permutation(n)
            losses = learner.learn_stream(rows[order], self._targets[order], is_last).losses
            n_right = np.count_nonzero(losses < RIGHT)
            episodes.returns[number] = episodes.agreed[number] = n_right
            episodes.steps[number], episodes.loss[number] = n, losses.sum()
            episodes.n_nodes[number] = learner.graph.n_nodes
            episodes.n_edges[number] = learner.graph.n_edges
        return episodes

    def play(self, learner: Learner, seeds: list[int]) -> Episodes:
        """Answer all examples, once per seed."""
        player = Learner.from_network(learner, learner.learning)
        episodes = Episodes.start(len(seeds))
        episodes.n_nodes[:], episodes.n_edges[:] = player.graph.n_nodes, player.graph.n_edges
        episodes.steps[:] = len(self._targets)
        for observation, target in zip(self._observations, self._targets, strict=True):
            outputs = player.act(widen(observation, learner.config.n_inputs))
            player.end_episode()
            episodes.agreed[:] += bool(np.mean((outputs - target) ** 2) < RIGHT)
        episodes.returns[:] = episodes.agreed
        return episodes


def _reason(error: Exception) -> str:
    """Return what an error says, in one line and without a full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
