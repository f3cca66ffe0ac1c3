"""Backends: the places where the episodes of a run happen, compiled code or Gymnasium."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite, nan
from typing import Any, Protocol

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine import Learner
from smgrnn.episodes.rollout import (
    Course,
    begin_episode,
    learn_steps,
    play_episodes,
    taught_step,
)
from smgrnn.episodes.table import Episodes
from smgrnn.errors import NonFiniteError, SmgrnnError, TaskError, failure
from smgrnn.experts import Expert, Teacher
from smgrnn.policy import Normalisation, Policy, scale_action, scale_target
from smgrnn.tasks import Task, make_env

RESETTING = -1
"""Number of steps in an episode that has not begun."""


class Backend(Protocol):
    """A place where episodes happen."""

    chunk: int
    """Episodes trained in one call, between two reports of progress."""

    def distil(
        self,
        learner: Learner,
        expert: Teacher | None,
        seeds: list[int],
        progress: Floats,
        first: int = 0,
    ) -> Episodes:
        """Train on one episode per seed, each at some share of the run, counted from `first`."""

    def play(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Play one episode per seed."""

    def compare(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Play to compare checkpoints, never on the examples that judge the winner."""
        return self.play(policy, seeds)


def input_scale(n_inputs: int, n_observed: int, gain: float) -> Floats:
    """Return the factor of each input: the gain for those of the task, 1 for a constant."""
    return np.where(np.arange(n_inputs) < n_observed, gain, 1.0)


def find_backend(task: Task) -> Backend:
    """Return the backend of a task's environment: the compiled one if there is one."""
    return GymnasiumBackend(task) if task.compiled is None else CompiledBackend(task)


class CompiledBackend(Backend):
    """Episodes of a compiled task, without Python."""

    chunk = 20

    def __init__(self, task: Task, gain: float = 1.0, bar: float = nan) -> None:
        self._task, self._gain, self._bar = task, gain, bar

    def distil(
        self,
        learner: Learner,
        expert: Teacher | None,
        seeds: list[int],
        progress: Floats,
        first: int = 0,
    ) -> Episodes:
        """Train on one episode per seed, each at some share of the run, counted from `first`."""
        assert isinstance(expert, Expert)  # a function is no compiled code
        episodes = Episodes.start(len(seeds))
        scale = input_scale(learner.config.n_inputs, self._task.n_inputs, self._gain)
        course, scratch = Course.start(self._task, seeds, scale), expert.scratch()

        def stretch(handle: Any, stop: int) -> tuple[float, bool]:
            loss, is_over = learn_steps(handle, course, number, expert, scratch, stop)
            if is_over and isfinite(loss):
                learner.say_return(course.totals[0], self._bar)
            return loss, is_over

        for number in range(len(seeds)):
            learner.progress = progress[number]
            begin_episode(course, number)
            learner.run(stretch)
            episodes.returns[number], episodes.loss[number] = course.totals
            episodes.steps[number], episodes.agreed[number] = course.counts
            episodes.n_nodes[number], episodes.n_edges[number] = learner.shape
        return episodes

    def play(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Play one episode per seed."""
        episodes, scale = Episodes.start(len(seeds)), np.ones(policy.config.n_inputs)
        course = Course.start(self._task, seeds, scale)
        player = policy.player
        play_episodes(player.net, player.new_traces()[0], course, episodes)
        episodes.n_nodes[:], episodes.n_edges[:] = policy.graph.n_nodes, policy.graph.n_edges
        if np.isnan(episodes.returns).any():
            raise NonFiniteError("An output of the student became NaN or infinite in an episode.")
        return episodes


class GymnasiumBackend(Backend):
    """Episodes of any Gymnasium task, with the compiled learner."""

    chunk = 1

    def __init__(
        self,
        task: Task,
        env: Any = None,
        normalisation: Normalisation | None = None,
        gain: float = 1.0,
        bar: float = nan,
    ) -> None:
        self._task = task
        self._env: Any = make_env(task) if env is None else env
        self._normalisation = normalisation
        self._max_steps, self._gain, self._bar = task.most_steps, gain, bar
        self._n_steps = RESETTING

    def distil(
        self,
        learner: Learner,
        expert: Teacher | None,
        seeds: list[int],
        progress: Floats,
        first: int = 0,
    ) -> Episodes:
        """Train on one episode per seed, each at some share of the run, counted from `first`."""
        assert expert is not None
        row = np.ones(learner.config.n_inputs)  # an input beyond the observation is always 1
        scale = input_scale(row.size, self._task.n_inputs, self._gain)
        seen, inputs, normalise = row[: self._task.n_inputs], row.copy(), self._normalisation
        episodes = Episodes.start(len(seeds))
        whole = row if self._task.seen is None else np.zeros(self._task.n_observed)
        teach = self._teacher(learner, expert, whole, inputs)
        for number, seed in enumerate(seeds):
            with self._placed(f"episode {first + number + 1}"):
                learner.progress, observation = progress[number], self._reset(seed)
                total, lost, n_agreed, is_over = 0.0, 0.0, 0, False
                while not is_over and self._n_steps < self._max_steps:
                    seen[:] = observation if normalise is None else normalise(observation)
                    np.multiply(row, scale, out=inputs)
                    if self._task.seen is not None:
                        whole[:] = observation = self._task.read(self._env.whole, is_whole=True)
                    action, has_agreed = teach(observation)
                    observation, reward, is_over = self._step(action)
                    total += reward
                    n_agreed += has_agreed
                    lost += learner.loss
            learner.say_return(total, self._bar)
            learner.end_episode()
            episodes.returns[number], episodes.steps[number] = total, self._n_steps
            episodes.agreed[number], episodes.loss[number] = n_agreed, lost
            episodes.n_nodes[number] = learner.graph.n_nodes
            episodes.n_edges[number] = learner.graph.n_edges
        return episodes

    def play(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Play one episode per seed."""
        episodes = Episodes.start(len(seeds))
        episodes.n_nodes[:], episodes.n_edges[:] = policy.graph.n_nodes, policy.graph.n_edges
        for number, seed in enumerate(seeds):
            policy.reset()
            with self._placed(f"episode {number + 1} of those that judge it"):
                observation, total, is_over = self._reset(seed), 0.0, False
                while not is_over and self._n_steps < self._max_steps:
                    observation, reward, is_over = self._step(policy.answer(observation))
                    total += reward
            episodes.returns[number], episodes.steps[number] = total, self._n_steps
        policy.reset()
        return episodes

    @contextmanager
    def _placed(self, episode: str) -> Iterator[None]:
        """Add to the sentence of an error the step and the episode in which it arose."""
        try:
            yield
        except SmgrnnError as error:
            step = "the reset" if self._n_steps == RESETTING else f"step {self._n_steps + 1}"
            sentence = f"{str(error).removesuffix('.')} ({step} of {episode})."
            raise type(error)(sentence) from error.__cause__

    def _teacher(self, learner: Learner, expert: Teacher, whole: Floats, inputs: Floats) -> Any:
        """Return a function that teaches the learner the expert's answer to an observation.

        It takes the whole observation, which must be in `whole` and, as far as the student sees
        it, in `inputs` by then, and returns the student's action and whether that is the expert's.
        """
        if not self._task.is_discrete:

            def move(observation: Any) -> tuple[Any, bool]:
                wanted = scale_target(self._task, expert.values(observation))
                return learner.learn(inputs, wanted), False

            return move
        if not isinstance(expert, Expert) or self._normalisation is not None:

            def choose(observation: Any) -> tuple[Any, bool]:
                label = expert.action(observation)
                action = learner.learn(inputs, label)
                return action, action == label

            return choose
        question = (*expert, expert.scratch(), whole, inputs, np.empty(0))

        def choose_fast(_: Any) -> tuple[int, bool]:
            action, _, label = learner.learn_by(taught_step, *question)
            return action, action == label

        return choose_fast

    def _reset(self, seed: int) -> Any:
        self._n_steps = RESETTING
        try:
            observation, _ = self._env.reset(seed=seed)
        except Exception as error:
            raise TaskError(f"{self._task.id} failed: {failure(error)}.") from error
        read = self._task.read(observation)
        self._n_steps = 0
        return read

    def _step(self, action: Any) -> tuple[Any, float, bool]:
        try:
            action = scale_action(self._task, action)
            observation, reward, is_terminal, is_truncated, _ = self._env.step(action)
            reward, is_over = float(reward), bool(is_terminal) or bool(is_truncated)
        except Exception as error:
            raise TaskError(f"{self._task.id} failed: {failure(error)}.") from error
        if not isfinite(reward):
            raise TaskError(f"{self._task.id} gave a reward of {reward}.")
        read = self._task.read(observation)
        self._n_steps += 1
        return read, reward, is_over
