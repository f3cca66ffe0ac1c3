"""Teachers by name: shipped experts, files and functions, and how records name them again.

A shipped expert and a file of weights are found again by their names.  A function and a file of
Stable-Baselines3 are code: the record has their names, and whoever resumes the run gives them
again.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from smgrnn.errors import ConfigError, ExpertError
from smgrnn.experts.evaluation import check_expert
from smgrnn.experts.files import Record, read_expert
from smgrnn.experts.function import (
    FunctionExpert,
    Teacher,
    function_name,
    import_function,
    is_function_name,
)
from smgrnn.experts.mlp import Expert
from smgrnn.tasks import Task
from smgrnn.tasks.known import KNOWN
from smgrnn.tasks.recording import read_recording
from smgrnn.validation import Settings

ExpertSource = str | Path | Callable[[Any], Any]
"""The name of a shipped expert or of a function, a file of weights, or a function."""
SHIPPED = tuple(sorted(f"{facts.id}-{name}" for facts in KNOWN.values() for name in facts.experts))
"""Names of the trained experts that are shipped."""


@dataclass(frozen=True, kw_only=True)
class TeacherId(Settings):
    """The identity of a teacher, as records keep it."""

    kind: Literal["shipped", "file", "zip", "function", "examples"]
    """An expert of the package; a file of weights; one of Stable-Baselines3; a function; or none,
    where a task consists of examples."""
    name: str
    """Name or absolute path."""
    digest: str
    """SHA-256 of its weights, of its name if it is a function, of the examples if there are any."""


def shipped_experts() -> dict[str, Record]:
    """Return the record of each shipped expert by its name, which is its task, recipe and seed."""
    return {name: _read_shipped(name)[1] for name in SHIPPED}


def shipped_name(name: str) -> str | None:
    """Return the full name of a shipped expert; the id of a task stands for its default one.

    >>> shipped_name("CartPole-v1"), shipped_name("CartPole-v1-plain-2"), shipped_name("elsewhere")
    ('CartPole-v1-smooth', 'CartPole-v1-plain-2', None)
    """
    if name in SHIPPED:
        return name
    facts = KNOWN.get(name)
    if facts is not None and facts.rule is not None:
        return name
    return f"{name}-{facts.experts[0]}" if facts is not None and facts.experts else None


def load_shipped(name: str) -> Expert:
    """Return a shipped expert by its name, or by the id of its task."""
    found = shipped_name(name)
    if found is None:
        raise ExpertError(f"No expert {name!r} is shipped.")
    rule = KNOWN[found].rule if found in KNOWN else None
    return _read_shipped(found)[0] if rule is None else Expert.from_layers([rule])


def _read_shipped(name: str) -> tuple[Expert, Record]:
    with as_file(files("smgrnn.experts").joinpath("weights", f"{name}.safetensors")) as path:
        return read_expert(path)


def load_expert(name_or_path: str | Path) -> Expert:
    """Return a shipped expert by its name, or the expert in a file.

    The id of a task names its default expert.  A file is safetensors, or a zip of
    Stable-Baselines3, which must be one you trust.

    >>> load_expert("CartPole-v1")
    Expert(4-2048-2)
    """
    if shipped_name(str(name_or_path)) is not None:
        return load_shipped(str(name_or_path))
    path = Path(name_or_path)
    if path.suffix == ".zip":
        from smgrnn.experts.sb3 import load_sb3_expert

        return load_sb3_expert(path)
    if not path.is_file():
        raise ExpertError(
            f"There is no expert {str(name_or_path)!r}: it is neither a file nor one of the "
            f"shipped experts, which are {', '.join(SHIPPED)}."
        )
    return read_expert(path)[0]


def find_expert(source: ExpertSource | None, task: Task) -> Teacher:
    """Return an expert as a task needs it; the default one of the task if there is no source.

    A name is that of a function, as `module:function`, or anything that `load_expert` takes.

    >>> from smgrnn.tasks import find_task
    >>> find_expert(None, find_task("CartPole-v1,mirrored,cue=1of2"))
    Expert(6-2048-2)
    """
    if task.is_supervised:
        raise ExpertError(f"{task.id!r} is learned from examples, which are its teacher.")
    if callable(source):
        return FunctionExpert(source, task, function_name(source))
    name = task.base if source is None else str(source)
    if source is not None and is_function_name(name):
        return FunctionExpert(import_function(name), task, name)
    is_shipped = shipped_name(name) is not None
    if source is None and not is_shipped:
        raise ExpertError(f"The package has no expert for {task.id}; give one with --expert.")
    return _suited(load_expert(name), task, is_shipped=is_shipped)


def _suited(expert: Expert, task: Task, *, is_shipped: bool) -> Expert:
    """Return the expert as a variant of a task needs it: blind to the cue, if it has one.

    A shipped expert is made for the task that is not mirrored, so its actions change places too.
    """
    is_mirrored, n_cues = is_shipped and task.is_mirrored, len(task.cue)
    if is_mirrored or n_cues:
        layers = expert.layers()
        if is_mirrored:
            layers[-1] = (layers[-1][0][::-1], layers[-1][1][::-1])
        layers[0] = (np.pad(layers[0][0], ((0, 0), (0, n_cues))), layers[0][1])
        expert = Expert.from_layers(layers, expert.activations)
    check_expert(expert, task)
    return expert


def find_teacher(source: ExpertSource | None, task: Task) -> tuple[TeacherId, Teacher | None]:
    """Return a task's teacher and its identity; without a source it is the default one."""
    if task.is_supervised and source is None:
        digest = "" if task.recording is None else read_recording(Path(task.recording)).digest
        return TeacherId(kind="examples", name=task.recording or task.id, digest=digest), None
    if source is None and task.teacher_score is not None:
        warn_if_weak(task, task.teacher_score[0])
    teacher = find_expert(source, task)
    kind: Any = "shipped"
    if isinstance(teacher, FunctionExpert):
        kind, name = "function", teacher.name
    elif (shipped := shipped_name(task.base if source is None else str(source))) is not None:
        name = shipped
    else:
        path = Path(str(source)).resolve()
        kind, name = "zip" if path.suffix == ".zip" else "file", str(path)
    return TeacherId(kind=kind, name=name, digest=teacher.digest), teacher


def find_teacher_again(
    recorded: TeacherId, task: Task, source: ExpertSource | Teacher | None = None
) -> Teacher | None:
    """Return the teacher that a record names; one that is code must be given again.

    Nothing that the record names is imported or unpickled.
    """
    if source is None and recorded.kind in ("function", "zip"):
        raise ExpertError(
            f"The expert {recorded.name!r} of this run is code of your own; give it again: as "
            f"--expert on the command line, as expert= in Python."
        )
    found: Teacher | None
    if isinstance(source, Expert | FunctionExpert):
        found, digest = source, source.digest
    elif source is not None or recorded.kind == "examples":
        identity, found = find_teacher(source, task)
        digest = identity.digest
    else:
        is_shipped = recorded.kind == "shipped"
        read = load_shipped(recorded.name) if is_shipped else read_expert(recorded.name)[0]
        found = _suited(read, task, is_shipped=is_shipped)
        digest = found.digest
    if digest != recorded.digest:
        raise ConfigError(
            f"The run was begun with another expert, {recorded.name!r} as it was then; it cannot "
            f"go on with this one."
        )
    return found


def warn_if_weak(task: Task, mean: float) -> None:
    """Warn of a default expert whose mean return is below the task's threshold."""
    if task.reward_threshold is not None and mean < task.reward_threshold:
        warnings.warn(
            f"The teacher of {task.id} returns {mean:.1f} on average, below the threshold of "
            f"{task.reward_threshold:g}.",
            stacklevel=2,
        )
