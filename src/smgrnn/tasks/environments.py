"""Gymnasium environments: those of variants of a task, and of compiled tasks of our own."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from smgrnn.kernels import as_python
from smgrnn.tasks.known import observe, step
from smgrnn.tasks.task import Task


def as_variant(env: Any, task: Task) -> gym.Env[Any, Any]:
    """Return the environment of a task as its variant has it.

    >>> from smgrnn.tasks import find_task
    >>> env: Any = as_variant(gym.make("CartPole-v1"), find_task("CartPole-v1,gravity=20"))
    >>> env.unwrapped.gravity
    20.0
    """
    if task.facts.set_physics is not None and task.physics_id != task.base:
        task.facts.set_physics(env.unwrapped, task.numbers)
    if task.is_mirrored:
        env = Mirrored(env)
    if task.cue:
        env = Cued(env, task.cue)
    if task.seen is not None:
        env = Hidden(env, task.seen)
    found: gym.Env[Any, Any] = env
    return found


class Hidden(gym.ObservationWrapper[Any, Any, Any]):
    """Shows some values of each observation only; `whole` is all of the last one.

    >>> env = Hidden(gym.make("CartPole-v1"), (0, 2))
    >>> shown, _ = env.reset(seed=0)
    >>> shown.shape, env.whole.shape
    ((2,), (4,))
    """

    def __init__(self, env: Any, seen: tuple[int, ...]) -> None:
        super().__init__(env)
        space, self.seen = env.observation_space, seen
        self.observation_space = Box(space.low[[*seen]], space.high[[*seen]])
        self.whole = np.zeros(space.shape)

    def observation(self, observation: Any) -> Any:
        """Return the values that are not hidden."""
        self.whole = observation
        return observation[[*self.seen]]


class Mirrored(gym.ActionWrapper[Any, Any, Any]):
    """Takes the actions in the reverse order.

    >>> env = Mirrored(gym.make("CartPole-v1"))
    >>> int(env.action(0)), int(env.action(1))
    (1, 0)
    """

    def action(self, action: Any) -> Any:
        """Return the action that the environment takes."""
        space: Any = self.action_space
        return space.n - 1 - action


class Cued(gym.ObservationWrapper[Any, Any, Any]):
    """Shows values that do not change, behind those of each observation.

    >>> env = Cued(gym.make("CartPole-v1"), (0.0, 1.0))
    >>> env.reset(seed=0)[0][4:].tolist()
    [0.0, 1.0]
    """

    def __init__(self, env: Any, cue: tuple[float, ...]) -> None:
        super().__init__(env)
        space, self.cue = env.observation_space, np.array(cue, dtype=env.observation_space.dtype)
        none, one = np.zeros_like(self.cue), np.ones_like(self.cue)
        low, high = np.concatenate([space.low, none]), np.concatenate([space.high, one])
        self.observation_space = Box(low, high, dtype=space.dtype)

    def observation(self, observation: Any) -> Any:
        """Return the observation and the cue."""
        return np.concatenate([observation, self.cue])


class CompiledEnv(gym.Env[Any, Any]):
    """A compiled task that Gymnasium does not have, with its whole observation and without a cue.

    >>> from smgrnn.tasks import find_task
    >>> env = CompiledEnv(find_task("recall,delay=1"))
    >>> env.reset(seed=0)[0].tolist(), env.step(2)[0].tolist(), env.step(2)[0].tolist()
    ([1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    >>> env.step(1)[1:3]
    (1.0, True)
    """

    def __init__(self, task: Task) -> None:
        assert task.compiled is not None
        self._task, self._code, self._n_values = task, task.compiled, len(task.facts.inputs)
        self.observation_space = Box(-np.inf, np.inf, (self._n_values,))
        self.action_space = Discrete(task.n_outputs)
        self._state, self._n_steps = task.start_states([0])[0], 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start the episode of this seed."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._state, self._n_steps = self._task.start_states([chosen])[0], 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for one time step."""
        reward, is_over = as_python(step)(self._code, self._state, int(action))
        self._n_steps += 1
        return self._observe(), reward, is_over, self._n_steps == self._task.max_steps, {}

    def _observe(self) -> Any:
        observation = np.zeros(self._n_values)
        as_python(observe)(self._code, self._state, observation)
        return observation.astype(np.float32)
