"""Which tasks there are: XOR, and whatever Gymnasium has that a network of this kind can do."""

import importlib
import warnings
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from smgrnn.errors import TaskError
from smgrnn.tasks.compiled import CODES

if TYPE_CHECKING:
    import gymnasium as gym


@dataclass(frozen=True)
class Task:
    """What a network has to know about a task before it meets it."""

    id: str
    """A Gymnasium id, or "xor"."""
    n_inputs: int
    """Values of an observation."""
    n_outputs: int
    """Discrete actions to choose from, or values of a continuous one."""
    is_discrete: bool
    """Whether an action is a choice; otherwise it is a vector."""
    action_low: tuple[float, ...] | None = None
    """Least value of each component of a continuous action."""
    action_high: tuple[float, ...] | None = None
    """Largest value of each component of a continuous action."""
    max_steps: int | None = None
    """Steps after which an episode is cut off."""
    reward_threshold: float | None = None
    """Return at which the task counts as solved."""
    compiled: int | None = None
    """Code of the compiled task, see `tasks.compiled`."""

    @property
    def is_supervised(self) -> bool:
        """Whether the task is a stream of examples and has no environment."""
        return self.id == XOR.id


XOR = Task(
    id="xor",
    n_inputs=2,
    n_outputs=1,
    is_discrete=False,
    action_low=(-1.0,),
    action_high=(1.0,),
    max_steps=4,
    reward_threshold=4.0,
)
"""The supervised task of `tasks.xor`: an episode is the four patterns, its return how many of them
were answered right."""


def find_task(id: str) -> Task:
    """Return the task of this name: "xor", a Gymnasium id, or "module:id" with a module to import.

    >>> find_task("CartPole-v1").n_inputs
    4
    """
    if id == XOR.id:
        return XOR
    _check_registered(id)
    env = _construct(id)
    try:
        return _describe(id, env)
    finally:
        env.close()


def make_env(task: Task) -> "gym.Env[Any, Any]":
    """Return a new environment of the task; it ends an episode after `max_steps` steps."""
    if task.is_supervised:
        raise TaskError(f"The task {task.id!r} is learned from examples and has no environment.")
    return _construct(task.id)


def _check_registered(id: str) -> None:
    import gymnasium as gym

    if not isinstance(id, str):
        raise TaskError(f"A task is named by an id such as 'CartPole-v1'. Got {id!r} instead.")
    module, _, name = id.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise TaskError(
                f"The module {module!r} of the task {id!r} cannot be imported: {_reason(error)}."
            ) from error
    if name not in gym.registry:
        known = {known_id.lower(): known_id for known_id in [*gym.registry, XOR.id]}
        close = get_close_matches(name.lower(), known, n=1)
        hint = f" Did you mean {known[close[0]]!r}?" if close else ""
        raise TaskError(f"There is no task {id!r}.{hint}")


def _construct(id: str) -> "gym.Env[Any, Any]":
    import gymnasium as gym

    try:
        with warnings.catch_warnings():
            # Box2D's bindings warn of their own SWIG types when first imported.
            warnings.filterwarnings("ignore", "builtin type", DeprecationWarning)
            return gym.make(id, disable_env_checker=True)
    except Exception as error:
        raise TaskError(f"The task {id!r} cannot be made: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    """Return what an error says, as the end of a sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first, _, _ = lines[0].partition(" was raised from the environment creator")  # Gymnasium's
    return first.rstrip(".")


def _describe(id: str, env: "gym.Env[Any, Any]") -> Task:
    """Read the task off its environment; raise TaskError if the network cannot do it."""
    from gymnasium.spaces import Box, Discrete

    seen, done, spec = env.observation_space, env.action_space, env.spec
    if not (isinstance(seen, Box) and _is_flat(seen)):
        raise TaskError(
            f"The observations of a task must be a flat Box, of shape (n,). "
            f"{id!r} has {_text(seen)} instead."
        )
    threshold = spec.reward_threshold if spec else None
    low = high = None
    if isinstance(done, Discrete):
        n_outputs = int(done.n)
        if done.start != 0:
            raise TaskError(
                f"Discrete actions must be numbered from 0. {id!r} numbers them from {done.start}."
            )
    elif isinstance(done, Box) and _is_flat(done) and done.dtype.kind == "f":
        n_outputs = done.shape[0]
        low, high = _values(done.low), _values(done.high)
        if not np.isfinite([low, high]).all():
            raise TaskError(
                f"Continuous actions must have finite bounds. {id!r} has {_text(done)} instead."
            )
    else:
        raise TaskError(
            f"The actions of a task must be Discrete or a flat Box of floats, of shape (n,). "
            f"{id!r} has {_text(done)} instead."
        )
    return Task(
        id=id,
        n_inputs=seen.shape[0],
        n_outputs=n_outputs,
        is_discrete=isinstance(done, Discrete),
        action_low=low,
        action_high=high,
        max_steps=spec.max_episode_steps if spec else None,
        reward_threshold=float(threshold) if threshold is not None else None,
        compiled=CODES.get(id),
    )


def _is_flat(space: "gym.spaces.Box") -> bool:
    """Return whether the space is of vectors, of at least one value."""
    return len(space.shape) == 1 and space.shape[0] > 0


def _text(space: object) -> str:
    """Return a space in one line."""
    return " ".join(str(space).split())


def _values(bound: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in bound)
