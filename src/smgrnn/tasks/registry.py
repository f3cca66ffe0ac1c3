"""The tasks by name: those that the library knows, recorded examples, any fitting environment."""

import importlib
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smgrnn.errors import TaskError, failure, suggest
from smgrnn.tasks.facts import Facts
from smgrnn.tasks.known import KNOWN
from smgrnn.tasks.recording import RECORDINGS, read_recording
from smgrnn.tasks.task import Task
from smgrnn.tasks.variants import plain_name, read_cue, read_numbers, split_name

if TYPE_CHECKING:
    import gymnasium as gym

WRAPPER = "; register it with gymnasium.wrappers.{} around it, which can {}"
"""Advice for observations and actions of another kind."""
WAY_TO_ACT = WRAPPER.format("TransformAction", "take such actions")
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
        return _describe(getattr(source, "__name__", type(source).__name__), source)
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
    import gymnasium as gym

    module, _, id = base.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise TaskError(
                f"The module {module!r} of the task {base!r} cannot be imported: {failure(error)}."
            ) from error
    if id not in gym.registry:
        hint = suggest(id, [*gym.registry, *KNOWN])
        raise TaskError(f"There is no task {base!r}. {hint}".rstrip())
    task = _describe(base)
    n_inputs = task.n_inputs + len(read_cue(settings))
    return replace(task, id=plain_name(name, task.facts), n_inputs=n_inputs)


def _describe_known(name: str, facts: Facts) -> Task:
    """Return a task that the library knows, as a variant of this name has it."""
    settings, n_outputs, steps = split_name(name)[1], len(facts.outputs), facts.max_steps
    n_whole = len(facts.inputs) + len(read_cue(settings))
    unseen = (*facts.hidden, *(facts.velocities if "hide" in settings else ()))
    seen = tuple(place for place in range(n_whole) if place not in unseen)
    low, high = ((bound,) * n_outputs for bound in facts.action_bounds or (0.0, 0.0))
    return Task(
        id=plain_name(name, facts),
        n_inputs=len(seen),
        n_outputs=n_outputs,
        is_discrete=facts.action_bounds is None,
        action_low=low if facts.action_bounds else None,
        action_high=high if facts.action_bounds else None,
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
        return _open(task.id, task.make)
    from smgrnn.tasks.environments import CompiledEnv, Variant

    env = _open(task.base) if task.facts.in_gymnasium else CompiledEnv(task)
    return env if task.id == task.base and task.seen is None else Variant(env, task)


def close_env(env: Any, name: str) -> None:
    """Close the environment of a task, or raise TaskError with what failed in it."""
    try:
        env.close()
    except Exception as error:
        raise TaskError(f"The task {name!r} cannot be closed: {failure(error)}.") from error


def _describe_recording(path: Path) -> Task:
    """Read the task off its examples; the largest and least actions are the bounds."""
    recording = read_recording(path)
    actions, is_discrete = recording.actions, recording.is_discrete
    bounds = (None, None) if is_discrete else (actions.min(axis=0), actions.max(axis=0))
    low, high = (None if bound is None else tuple(map(float, bound)) for bound in bounds)
    return Task(
        id=path.name,
        n_inputs=recording.observations.shape[1],
        n_outputs=int(actions.max()) + 1 if is_discrete else actions.shape[1],
        is_discrete=is_discrete,
        action_low=low,
        action_high=high,
        recording=str(path),
    )


def _open(name: str, make: Callable[[], Any] | None = None) -> "gym.Env[Any, Any]":
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
    env = _open(name, make)
    try:
        id = name if make is None else type(env.unwrapped).__name__
        spec: Any = env.spec  # None for an environment that was not registered
        threshold = spec and spec.reward_threshold
        return Task(
            id=id,
            **_read_spaces(id, env),
            max_steps=spec and spec.max_episode_steps,
            reward_threshold=None if threshold is None else float(threshold),
            make=make,
            is_made=make is not None,
        )
    finally:
        close_env(env, name)


def _read_spaces(id: str, env: "gym.Env[Any, Any]") -> dict[str, Any]:
    from gymnasium.spaces import Box, Discrete, Space

    seen: Any = getattr(env, "observation_space", None)
    done: Any = getattr(env, "action_space", None)
    flat = [
        isinstance(box, Box) and len(box.shape) == 1 and box.shape[0] > 0 for box in (seen, done)
    ]
    if not flat[0]:
        advice = ""
        if isinstance(seen, Space) and not (isinstance(seen, Box) and 0 in seen.shape):
            name = "FlattenObservation" if seen.is_np_flattenable else "TransformObservation"
            advice = WRAPPER.format(name, "make them one")
        raise TaskError(
            f"The observations of a task must be a flat Box, of shape (n,). "
            f"{id!r} has {_text(seen)} instead{advice}."
        )
    shape: dict[str, Any] = {"n_inputs": seen.shape[0], "is_discrete": isinstance(done, Discrete)}
    if isinstance(done, Discrete) and done.n >= 2 and done.start == 0:
        return shape | {"n_outputs": int(done.n)}
    is_bounded = flat[1] and done.dtype.kind == "f" and np.isfinite([done.low, done.high]).all()
    if not is_bounded or (done.low >= done.high).any():
        raise TaskError(
            f"The actions of a task must be two choices or more, numbered from 0 (Discrete), or a "
            f"flat Box of floats with finite bounds. {id!r} has {_text(done)} instead"
            f"{WAY_TO_ACT if isinstance(done, Space) else ''}."
        )
    low, high = (tuple(map(float, bound)) for bound in (done.low, done.high))
    return shape | {"n_outputs": done.shape[0], "action_low": low, "action_high": high}


def _text(thing: object) -> str:
    """Return a space, or any object given in its place, in one line."""
    return " ".join(str(thing).split())
