"""The tasks by name: those that the library knows, recorded examples, any fitting environment."""

import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smgrnn.errors import TaskError, failure, suggest
from smgrnn.tasks.known import KNOWN
from smgrnn.tasks.recording import RECORDINGS, read_recording
from smgrnn.tasks.task import Task, read_variant

if TYPE_CHECKING:
    import gymnasium as gym

TaskSource = Any
"""The name of a task, a file of recorded examples, an environment or a function that makes one."""


def find_task(source: TaskSource) -> Task:
    """Return a task by its name, or the task of the environment that a function makes.

    A name is "xor", "recall", a Gymnasium id, "module:id" with a module to import, or a file of
    recorded examples.  Settings of a variant follow after commas.

    >>> find_task("CartPole-v1").n_inputs, find_task("CartPole-v1,hide=velocities").n_inputs
    (4, 2)
    >>> find_task("recall,delay=4").max_steps
    6
    """
    if isinstance(source, Task):
        return source
    if hasattr(source, "observation_space"):
        source = _source_of(source)
    if callable(source):
        return _describe(getattr(source, "__name__", type(source).__name__), source)
    if not isinstance(source, str | Path):
        raise TaskError(
            f"A task is an id such as 'CartPole-v1', a Gymnasium environment, or a function that "
            f"makes one. Got {_text(source)} instead."
        )
    name = str(source)
    if name.endswith(RECORDINGS):
        return _describe_recording(Path(name).absolute())
    base = name.partition(",")[0]
    if base not in KNOWN:
        import gymnasium as gym

        module, _, id = base.rpartition(":")
        try:
            if module:
                importlib.import_module(module)
        except Exception as error:
            raise TaskError(
                f"The module {module!r} of the task {base!r} cannot be imported: {failure(error)}."
            ) from error
        if id not in gym.registry:
            hint = suggest(id, [*gym.registry, *KNOWN])
            raise TaskError(f"There is no task {base!r}. {hint}".rstrip())
        variant, task = read_variant(name), _describe(base)
        return replace(task, id=variant.id, n_inputs=task.n_inputs + len(variant.cue))
    variant = read_variant(name)
    facts, n_outputs, steps = variant.facts, len(variant.facts.outputs), variant.facts.max_steps
    n_whole = len(facts.inputs) + len(variant.cue)
    unseen = (*facts.hidden, *(facts.velocities if variant.hides else ()))
    seen = tuple(place for place in range(n_whole) if place not in unseen)
    low, high = facts.action_bounds or (None, None)
    return Task(
        id=variant.id,
        n_inputs=len(seen),
        n_outputs=n_outputs,
        is_discrete=low is None,
        action_low=None if low is None else (low,) * n_outputs,
        action_high=None if high is None else (high,) * n_outputs,
        max_steps=steps(variant.numbers) if callable(steps) else steps,
        reward_threshold=facts.reward_threshold,
        seen=seen if unseen else None,
        n_whole=n_whole if unseen else None,
    )


def _source_of(env: Any) -> TaskSource:
    """Return the id of a made environment, or a function that makes it again as it is."""
    import gymnasium as gym

    spec = env.spec if isinstance(env, gym.Env) else None
    if spec is None:
        raise TaskError(
            f"{_text(env)} cannot be made again, because it has no Gymnasium spec. Pass a function "
            f"that makes it, such as lambda: MyEnv()."
        )
    known = gym.registry.get(spec.id)
    kwargs = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
    if known is not None and not spec.additional_wrappers:
        is_usual = spec.max_episode_steps == known.max_episode_steps and kwargs == known.kwargs
        if is_usual:
            return spec.id

    def make() -> Any:
        return gym.make(spec, disable_env_checker=True)

    make.__name__ = spec.id
    return make


def find_again(recorded: Task, source: TaskSource | Task | None = None) -> Task:
    """Return the task that a record is about, importing nothing; code must be given again."""
    if source is None and recorded.is_own_code:
        raise TaskError(
            f"The task {recorded.id!r} of this run is your own code. Pass it again: as TASK or "
            f"--task on the command line, as task= in Python."
        )
    if source is None and recorded.recording is not None:
        found = _describe_recording(Path(recorded.recording))
    else:
        found = source if isinstance(source, Task) else find_task(source or recorded.id)
    if found.digest != recorded.digest:
        raise TaskError(f"The run was made with the task {recorded.id!r}, which this is not.")
    return found


def make_env(task: Task) -> "gym.Env[Any, Any]":
    """Return a new environment of the task; it ends an episode after `max_steps` steps."""
    if task.is_supervised:
        raise TaskError(f"The task {task.id!r} is learned from examples and has no environment.")
    if task.make is not None:
        return _make(task.id, task.make)
    from smgrnn.tasks.environments import CompiledEnv, VariantEnv

    env = _make(task.variant.base) if task.facts.in_gymnasium else CompiledEnv(task)
    return env if task.id == task.variant.base and task.seen is None else VariantEnv(env, task)


class CheckedEnv:
    """An environment of a task that gives checked numbers, and errors as sentences."""

    def __init__(self, env: Any, task: Task) -> None:
        self._env, self._task = env, task
        self.n_steps = -1
        """Steps of the episode so far; -1 before its first observation."""

    @property
    def actions(self) -> Any:
        """The space of its actions."""
        return self._env.action_space

    @property
    def whole(self) -> Any:
        """The whole observation, which an expert sees."""
        return self._shown if self._task.seen is None else self._env.whole

    def reset(self, seed: int) -> Any:
        """Start an episode; return the observation."""
        self.n_steps = -1
        try:
            observation, _ = self._env.reset(seed=seed)
        except Exception as error:
            raise TaskError(f"{self._task.id} failed: {failure(error)}.") from error
        self._shown = self._task.read(observation)
        self.n_steps = 0
        return self._shown

    def step(self, action: Any) -> tuple[Any, float, bool]:
        """Act; return the observation, the reward, and whether the episode is over."""
        task = self._task
        try:
            observation, reward, is_terminal, is_truncated, _ = self._env.step(action)
            reward, is_over = float(reward), bool(is_terminal) or bool(is_truncated)
        except Exception as error:
            raise TaskError(f"{task.id} failed: {failure(error)}.") from error
        if not isfinite(reward):
            raise TaskError(f"{task.id} gave a reward of {reward}.")
        self._shown = task.read(observation)
        self.n_steps += 1
        return self._shown, reward, is_over or self.n_steps >= task.most_steps


@contextmanager
def closing_env(env: Any, name: str) -> Iterator[Any]:
    """Close the environment of a task at the end of a block; raise TaskError where that fails."""
    try:
        yield env
    finally:
        try:
            env.close()
        except Exception as error:
            raise TaskError(f"The task {name!r} cannot be closed: {failure(error)}.") from error


def _describe_recording(path: Path) -> Task:
    """Read the task off its examples; the largest and least actions are the bounds."""
    recording = read_recording(path)
    actions, is_discrete = recording.actions, recording.is_discrete
    return Task(
        id=path.name,
        n_inputs=recording.observations.shape[1],
        n_outputs=int(actions.max()) + 1 if is_discrete else actions.shape[1],
        is_discrete=is_discrete,
        action_low=None if is_discrete else tuple(actions.min(axis=0).tolist()),
        action_high=None if is_discrete else tuple(actions.max(axis=0).tolist()),
        recording=str(path),
    )


def _make(name: str, make: Callable[[], Any] | None = None) -> "gym.Env[Any, Any]":
    """Return the environment that a function makes, or that Gymnasium has by its name."""
    import gymnasium as gym

    try:
        with warnings.catch_warnings():
            # Box2D's bindings warn of their own SWIG types when first imported.
            warnings.filterwarnings("ignore", "builtin type", DeprecationWarning)
            env = gym.make(name, disable_env_checker=True) if make is None else make()
    except Exception as error:
        why, _, _ = failure(error).partition(" was raised from the environment creator")
        raise TaskError(f"The task {name!r} cannot be made: {why}.") from error
    if not isinstance(env, gym.Env):
        raise TaskError(f"{name!r} makes no Gymnasium environment, but {_text(env)}.")
    return env


def _describe(name: str, make: Callable[[], Any] | None = None) -> Task:
    """Read a task off its environment; raise TaskError if the network cannot do it."""
    from gymnasium.spaces import Box, Discrete

    with closing_env(_make(name, make), name) as env:
        named = _names_of(env)
        id, spec = name if make is None else type(env.unwrapped).__name__, env.spec
        seen: Any = getattr(env, "observation_space", None)
        done: Any = getattr(env, "action_space", None)
    wrapper = "Register it inside a wrapper, such as gymnasium.wrappers."
    if not (isinstance(seen, Box) and len(seen.shape) == 1 and seen.shape[0] > 0):
        raise TaskError(
            f"The observations of a task must be a flat Box, of shape (n,). "
            f"{id!r} has {_text(seen)} instead. {wrapper}FlattenObservation."
        )
    low = high = None
    n_outputs = done.n if isinstance(done, Discrete) and done.n >= 2 and done.start == 0 else 0
    is_flat = isinstance(done, Box) and len(done.shape) == 1 and done.dtype.kind == "f"
    if is_flat and np.isfinite([done.low, done.high]).all() and (done.low < done.high).all():
        n_outputs, low, high = done.shape[0], tuple(done.low.tolist()), tuple(done.high.tolist())
    if not n_outputs:
        raise TaskError(
            f"The actions of a task must be two choices or more, numbered from 0 (Discrete), or a "
            f"flat Box of floats with finite bounds. {id!r} has {_text(done)} instead. "
            f"{wrapper}TransformAction."
        )
    threshold = spec and spec.reward_threshold  # no spec: it was not registered
    return Task(
        id=id,
        n_inputs=seen.shape[0],
        n_outputs=int(n_outputs),
        is_discrete=isinstance(done, Discrete),
        action_low=low,
        action_high=high,
        max_steps=spec and spec.max_episode_steps,
        reward_threshold=None if threshold is None else float(threshold),
        input_names=named,
        make=make,
        is_made=make is not None,
    )


def _names_of(env: Any) -> tuple[str, ...]:
    """Return the names of a flattened Dict observation: its keys, numbered where one is longer."""
    from gymnasium.spaces import Dict, flatdim

    while env is not None:
        seen = getattr(env, "observation_space", None)
        if isinstance(seen, Dict):
            break
        env = getattr(env, "env", None)
    else:
        return ()
    names = []
    for key, space in seen.spaces.items():
        n = flatdim(space)
        names += [str(key)] if n == 1 else [f"{key} {place}" for place in range(n)]
    return tuple(names)


def _text(thing: object) -> str:
    """Return a space, or any object given in its place, in one line."""
    return " ".join(str(thing).split())
