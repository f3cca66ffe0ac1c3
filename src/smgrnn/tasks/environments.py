"""Gymnasium environments of variants of a task, and recall."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from smgrnn.tasks import recall
from smgrnn.tasks.variants import PHYSICS, read_cue, read_physics, split_name


def varied(env: Any, name: str, seen: tuple[int, ...] | None) -> gym.Env[Any, Any]:
    """Return the environment with the settings of a variant; a student sees these places of it.

    >>> env: Any = varied(gym.make("CartPole-v1"), "CartPole-v1,gravity=20", None)
    >>> env.unwrapped.gravity
    20.0
    """
    base, settings = split_name(name)
    physics, cue = read_physics(base, settings), read_cue(settings)
    if set(settings) & set(PHYSICS.get(base, ())):
        _set_physics(env.unwrapped, physics.values)
    if physics.is_mirrored:
        env = Mirrored(env)
    if cue:
        n_own = env.observation_space.shape[0]
        seen = None if seen is None else (*seen, *range(n_own, n_own + len(cue)))
        env = Cued(env, cue)
    found: gym.Env[Any, Any] = env if seen is None else Hidden(env, seen)
    return found


def _set_physics(env: Any, values: dict[str, float]) -> None:
    """Set the attributes of Gymnasium's environment, and those that it derives from them."""
    for name, value in values.items():
        setattr(env, name if hasattr(env, name) else name.upper(), value)
    if "masspole" in values:  # CartPole
        env.total_mass = env.masspole + env.masscart
        env.polemass_length = env.masspole * env.length


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
        self._state = np.array([*recall.start(0), self._n_steps])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode, whose cue the seed decides."""
        super().reset(seed=seed)
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._state = np.array([*recall.start(chosen), self._n_steps])
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Wait or answer."""
        reward, is_over = recall.step(self._state, int(action))
        return self._observe(), reward, is_over, False, {}

    def _observe(self) -> Any:
        observation = np.zeros(recall.N_INPUTS)
        recall.observe(self._state, observation)
        return observation.astype(np.float32)
