"""Gymnasium environments: those of variants of a task, and of compiled tasks of our own."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from smgrnn.tasks.known import observe, step
from smgrnn.tasks.task import Task


class VariantEnv(gym.Wrapper[Any, Any, Any, Any]):
    """The environment of a variant of a task; an expert sees all of it, as `whole`."""

    def __init__(self, env: Any, task: Task) -> None:
        super().__init__(env)
        variant = task.variant
        if variant.facts.set_physics is not None and variant.physics:
            variant.facts.set_physics(env.unwrapped, variant.numbers)
        space, self._places = env.observation_space, [*task.places]
        self._cue = np.array(variant.cue, dtype=space.dtype)
        self._last_action = task.n_outputs - 1 if variant.is_mirrored else None
        low, high = np.append(space.low, 0 * self._cue), np.append(space.high, 0 * self._cue + 1)
        self.observation_space = Box(low[self._places], high[self._places], dtype=space.dtype)
        self.whole = np.zeros(low.size, dtype=space.dtype)

    def reset(self, **settings: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(**settings)
        return self._show(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act; mirrored actions have changed places."""
        taken = action if self._last_action is None else self._last_action - action
        observation, *rest = self.env.step(taken)
        return self._show(observation), *rest

    def _show(self, observation: Any) -> Any:
        self.whole = np.concatenate([observation, self._cue])
        return self.whole[self._places]


class CompiledEnv(gym.Env[Any, Any]):
    """A compiled task that Gymnasium does not have: its whole observation, without a cue."""

    def __init__(self, task: Task) -> None:
        assert task.facts.code is not None
        self._task, self._code = task, task.facts.code
        self.observation_space = Box(-np.inf, np.inf, (len(task.facts.inputs),))
        self.action_space = Discrete(task.n_outputs)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start the episode of this seed."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._state, self._n_steps = self._task.start_states([chosen])[0], 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for one time step."""
        reward, is_over = step(self._code, self._state, int(action))
        self._n_steps += 1
        return self._observe(), reward, bool(is_over), self._n_steps == self._task.max_steps, {}

    def _observe(self) -> Any:
        observation = np.zeros(len(self._task.facts.inputs))
        observe(self._code, self._state, observation)
        return observation.astype(np.float32)
