"""The tasks by name: those that the library knows, recorded examples, any fitting environment."""

import importlib
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smgrnn.config import RECORDINGS
from smgrnn.errors import TaskError, failure, suggest
from smgrnn.tasks.facts import Facts
from smgrnn.tasks.known import KNOWN
from smgrnn.tasks.recording import read_recording
from smgrnn.tasks.task import Task
from smgrnn.tasks.variants import plain_name, read_cue, read_numbers, split_name

if TYPE_CHECKING:
    import gymnasium as gym

WAY_TO_ACT = (
    "; register it with gymnasium.wrappers.TransformAction around it, which can take such actions"
)
"""Advice for actions of another kind."""
TaskSource = str | Path | Callable[[], Any]
"""The name of a task, a file of recorded examples, or a function that makes an environment."""


def find_task(source: TaskSource) -> Task:
    """Return a task by its name, or the task of the environment that a function makes.

    A name is "xor", "recall", a Gymnasium id, "module:id" with a module to import, or a file of
    recorded examples.  Settings of a variant follow after commas.

    >>> find_task("CartPole-v1").n_inputs, find_task("CartPole-v1,hide=velocities").n_inputs
    (4, 2)
    >>> find_task("recall,delay=4").max_steps
    6
    """
    if callable(source):
        return _find_made(source)
    if not isinstance(source, str | Path):
        raise TaskError(
            f"A task is named by an id such as 'CartPole-v1', or is a function that makes an "
            f"environment. Got {_text(source)} instead."
        )
    name = str(source)
    if name.endswith(RECORDINGS):
        return _describe_recording(Path(name).absolute())
    base, settings = split_name(name)
    if base in KNOWN:
        return _describe_known(name, KNOWN[base])
    task = _find_registered(base)
    n_inputs = task.n_inputs + len(read_cue(settings))
    return replace(task, id=plain_name(name, task.facts), n_inputs=n_inputs)


def _describe_known(name: str, facts: Facts) -> Task:
    """Return a task that the library knows, as a variant of this name has it."""
    id, settings = plain_name(name, facts), split_name(name)[1]
    n_whole, n_outputs = len(facts.inputs) + len(read_cue(settings)), len(facts.outputs)
    unseen = (*facts.hidden, *(facts.velocities if "hide" in settings else ()))
    seen = tuple(place for place in range(n_whole) if place not in unseen)
    low, high = facts.action_bounds or (None, None)
    steps = facts.max_steps
    return Task(
        id=id,
        n_inputs=len(seen),
        n_outputs=n_outputs,
        is_discrete=facts.action_bounds is None,
        action_low=None if low is None else (low,) * n_outputs,
        action_high=None if high is None else (high,) * n_outputs,
        max_steps=steps(read_numbers(settings, facts)) if callable(steps) else steps,
        reward_threshold=facts.reward_threshold,
        seen=seen if unseen else None,
        n_whole=n_whole if unseen else None,
    )


XOR = _describe_known("xor", KNOWN["xor"])
"""The supervised task of `tasks.xor`."""


def find_again(recorded: Task, source: TaskSource | Task | None = None) -> Task:
    """Return the task that a record is about; one that is code must be given again.

    Nothing that the record names is imported.

    >>> find_again(find_task("CartPole-v1")).max_steps
    500
    """
    if source is None and recorded.is_own_code:
        raise TaskError(
            f"The task {recorded.id!r} of this run is code of your own; give it again: as TASK or "
            f"--task on the command line, as task= in Python."
        )
    if isinstance(source, Task):
        found = source
    elif source is not None:
        found = find_task(source)
    elif recorded.recording is not None:
        found = _describe_recording(Path(recorded.recording))
    else:
        found = find_task(recorded.id)
    if found.digest != recorded.digest:
        raise TaskError(f"The run was made with the task {recorded.id!r}, which this is not.")
    return found


def make_env(task: Task) -> "gym.Env[Any, Any]":
    """Return a new environment of the task; it ends an episode after `max_steps` steps."""
    if task.is_supervised:
        raise TaskError(f"The task {task.id!r} is learned from examples and has no environment.")
    if task.make is not None:
        made: gym.Env[Any, Any] = task.make()
        return made
    from smgrnn.tasks.environments import CompiledEnv, Variant

    env = _make_registered(task.base) if task.facts.in_gymnasium else CompiledEnv(task)
    return env if task.id == task.base and task.seen is None else Variant(env, task)


def close_env(env: Any, name: str) -> None:
    """Close the environment of a task, or raise TaskError with what failed in it."""
    try:
        env.close()
    except Exception as error:
        raise TaskError(f"The task {name!r} cannot be closed: {failure(error)}.") from error


def _find_made(make: Callable[[], Any]) -> Task:
    """Return the task of the environment that a function makes, named after the class of that."""
    import gymnasium as gym

    name = getattr(make, "__name__", type(make).__name__)
    try:
        env = make()
    except Exception as error:
        raise TaskError(f"The task {name!r} cannot be made: {failure(error)}.") from error
    if not isinstance(env, gym.Env):
        raise TaskError(f"{name!r} makes no Gymnasium environment, but {_text(env)}.")
    try:
        return replace(_describe(type(env.unwrapped).__name__, env), make=make, is_made=True)
    finally:
        close_env(env, name)


def _describe_recording(path: Path) -> Task:
    """Read the task off its examples; the largest and least actions are the bounds."""
    recording = read_recording(path)
    actions, is_discrete = recording.actions, recording.is_discrete
    return Task(
        id=path.name,
        n_inputs=recording.observations.shape[1],
        n_outputs=int(actions.max()) + 1 if is_discrete else actions.shape[1],
        is_discrete=is_discrete,
        action_low=None if is_discrete else tuple(map(float, actions.min(axis=0))),
        action_high=None if is_discrete else tuple(map(float, actions.max(axis=0))),
        recording=str(path),
    )


def _find_registered(id: str) -> Task:
    """Return the task of any environment that is registered with Gymnasium."""
    import gymnasium as gym

    module, _, name = id.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise TaskError(
                f"The module {module!r} of the task {id!r} cannot be imported: {failure(error)}."
            ) from error
    if name not in gym.registry:
        raise TaskError(
            f"There is no task {id!r}. {suggest(name, [*gym.registry, *KNOWN])}".rstrip()
        )
    env = _make_registered(id)
    try:
        return _describe(id, env)
    finally:
        close_env(env, id)


def _make_registered(id: str) -> "gym.Env[Any, Any]":
    import gymnasium as gym

    try:
        with warnings.catch_warnings():
            # Box2D's bindings warn of their own SWIG types when first imported.
            warnings.filterwarnings("ignore", "builtin type", DeprecationWarning)
            return gym.make(id, disable_env_checker=True)
    except Exception as error:
        why, _, _ = failure(error).partition(" was raised from the environment creator")
        raise TaskError(f"The task {id!r} cannot be made: {why}.") from error


def _describe(id: str, env: "gym.Env[Any, Any]") -> Task:
    """Read the task off its environment; raise TaskError if the network cannot do it."""
    from gymnasium.spaces import Box, Discrete, Space

    seen, done = (getattr(env, name, None) for name in ("observation_space", "action_space"))
    if not (isinstance(seen, Box) and _is_flat(seen)):
        advice = ""
        if isinstance(seen, Space) and not (isinstance(seen, Box) and 0 in seen.shape):
            name = "FlattenObservation" if seen.is_np_flattenable else "TransformObservation"
            advice = (
                f"; register it with gymnasium.wrappers.{name} around it, which can make them one"
            )
        raise TaskError(
            f"The observations of a task must be a flat Box, of shape (n,). "
            f"{id!r} has {_text(seen)} instead{advice}."
        )
    low = high = None
    if isinstance(done, Discrete):
        n_outputs = int(done.n)
        if n_outputs < 2:
            raise TaskError(f"There must be two actions at least to choose from. {id!r} has one.")
        if done.start != 0:
            raise TaskError(
                f"Discrete actions must be numbered from 0. {id!r} numbers them from {done.start}"
                f"{WAY_TO_ACT}."
            )
    elif isinstance(done, Box) and _is_flat(done) and done.dtype.kind == "f":
        n_outputs = done.shape[0]
        low, high = (tuple(map(float, bound)) for bound in (done.low, done.high))
        if not (np.isfinite([low, high]).all() and (done.low < done.high).all()):
            raise TaskError(
                f"Continuous actions must have finite bounds, the lower below the upper. "
                f"{id!r} has {_text(done)} instead{WAY_TO_ACT}."
            )
    else:
        raise TaskError(
            f"The actions of a task must be Discrete or a flat Box of floats, of shape (n,). "
            f"{id!r} has {_text(done)} instead{WAY_TO_ACT if isinstance(done, Space) else ''}."
        )
    spec: Any = env.spec  # None for an environment that was not registered
    threshold = spec and spec.reward_threshold
    return Task(
        id=id,
        n_inputs=seen.shape[0],
        n_outputs=n_outputs,
        is_discrete=isinstance(done, Discrete),
        action_low=low,
        action_high=high,
        max_steps=spec and spec.max_episode_steps,
        reward_threshold=None if threshold is None else float(threshold),
    )


def _is_flat(space: "gym.spaces.Box") -> bool:
    """Return whether the space is of vectors, of at least one value."""
    return len(space.shape) == 1 and space.shape[0] > 0


def _text(thing: object) -> str:
    """Return a space, or any object given in its place, in one line."""
    return " ".join(str(thing).split())
