"""Gymnasium environments that need memory: some values of an observation hidden, and recall."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from smgrnn.tasks import recall


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


class Recall(gym.Env[Any, Any]):
    """The task of `tasks.recall`, with its whole observation.

    >>> env = Recall(delay=1)
    >>> env.reset(seed=0)[0].tolist(), env.step(2)[0].tolist(), env.step(2)[0].tolist()
    ([1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    >>> env.step(1)[1:3]
    (1.0, True)
    """

    def __init__(self, delay: int = recall.DELAY) -> None:
        self.observation_space = Box(-1.0, 1.0, (recall.N_INPUTS,))
        self.action_space = Discrete(recall.N_OUTPUTS)
        self._n_steps = delay + 2
        self._state = recall.start(0, self._n_steps)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, whose cue the seed decides."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._state = recall.start(chosen, self._n_steps)
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Wait or answer."""
        reward, is_over = recall.step(self._state, int(action))
        return self._observe(), reward, is_over, False, {}

    def _observe(self) -> Any:
        observation = np.zeros(recall.N_INPUTS)
        recall.observe(self._state, observation)
        return observation.astype(np.float32)
