"""Teachers by name: shipped experts, files and functions.

A record names its teacher.  A function and a file of Stable-Baselines3 are code: pass them again to
resume the run.
"""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from smgrnn.errors import ConfigError, ExpertError
from smgrnn.experts.evaluation import check_expert
from smgrnn.experts.files import Record, read_expert
from smgrnn.experts.function import FunctionExpert, Teacher, function_name, import_function
from smgrnn.experts.mlp import Expert
from smgrnn.experts.module import ModuleFunction, expert_of_module, is_module
from smgrnn.experts.sb3 import expert_of_model, is_sb3_model, load_sb3_expert
from smgrnn.tasks import Task
from smgrnn.tasks.known import KNOWN, UNKNOWN
from smgrnn.tasks.recording import read_recording
from smgrnn.validation import Settings

Kind = Literal["shipped", "file", "zip", "model", "function", "examples"]
ExpertSource = Any
"""The name of a shipped expert or of a function, a file of weights, a function, an `nn.Module`, or
a model of Stable-Baselines3."""
SHIPPED = tuple(sorted(f"{facts.id}-{name}" for facts in KNOWN.values() for name in facts.experts))
"""Names of the trained experts that are shipped."""


@dataclass(frozen=True, kw_only=True)
class TeacherId(Settings):
    """The identity of a teacher, as records keep it."""

    kind: Kind
    """A shipped expert, a file of weights or of Stable-Baselines3, a model in memory, a function,
    or examples."""
    name: str
    """Name or absolute path."""
    digest: str
    """SHA-256 of its weights, of its name if it is a function, of the examples if there are any."""


def shipped_experts() -> dict[str, Record]:
    """Return the record of each shipped expert by its name, which is its task, recipe and seed."""
    return {name: read_expert(_file_of(name))[1] for name in SHIPPED}


def _file_of(name: str) -> Path:
    return Path(__file__).parent / "weights" / f"{name}.safetensors"


def _identify(source: ExpertSource | None, task: Task | None = None) -> tuple[Kind, str]:
    """Return the kind of an expert, and its full name or absolute path."""
    if callable(source):
        return "function", function_name(source)
    given = task.variant.base if source is None and task is not None else str(source)
    facts = KNOWN.get(given, UNKNOWN)
    if given in SHIPPED or facts.rule is not None:
        return "shipped", given
    if facts.experts:  # the name of a task stands for its default one
        return "shipped", f"{given}-{facts.experts[0]}"
    if source is None and task is not None:
        raise ExpertError(
            f"No bundled expert for {task.id}. Pass --expert policy.zip (Stable-Baselines3), a "
            f"file of weights or module:function."
        )
    if task is not None and re.fullmatch(r"[^\W\d][\w.]*:[\w.<>]+", given):
        return "function", given
    path = Path(given).resolve()
    if path.suffix == ".zip":
        return "zip", str(path)
    if not path.is_file():
        raise ExpertError(
            f"There is no expert {given!r}. Name a file or a bundled expert: {', '.join(SHIPPED)}."
        )
    return "file", str(path)


def _load(kind: str, name: str, task: Task | None = None) -> Expert:
    """Return an expert that is not a function, as a variant of a task needs it."""
    if kind == "zip":
        expert = load_sb3_expert(name)
    elif kind == "file" or name in SHIPPED:
        expert, _ = read_expert(name if kind == "file" else _file_of(name))
    elif (rule := KNOWN.get(name, UNKNOWN).rule) is not None:
        expert = Expert.from_layers([rule])
    else:
        raise ExpertError(f"No expert {name!r} is shipped.")
    if task is None:
        return expert
    return _for_task(expert, task, is_mirrored=kind == "shipped" and task.variant.is_mirrored)


def _for_task(expert: Expert, task: Task, *, is_mirrored: bool = False) -> Expert:
    """Return an expert as a variant of a task needs it; refuse one of another shape."""
    n_cues = len(task.variant.cue)
    if is_mirrored or n_cues:
        layers = expert.layers()
        if is_mirrored:
            layers[-1] = (layers[-1][0][::-1], layers[-1][1][::-1])
        layers[0] = (np.pad(layers[0][0], ((0, 0), (0, n_cues))), layers[0][1])
        expert = Expert.from_layers(layers, expert.activations)
    check_expert(expert, task)
    return expert


def load_expert(name_or_path: str | Path) -> Expert:
    """Return a shipped expert by its name, or the expert in a file.

    The id of a task names its default expert.  A file is safetensors, or a zip of
    Stable-Baselines3, which must be one you trust.

    >>> load_expert("CartPole-v1")
    Expert(4-2048-2)
    """
    return _load(*_identify(name_or_path))


def find_expert(source: ExpertSource | None, task: Task) -> tuple[TeacherId, Teacher]:
    """Return an expert as a task needs it, and its identity; without a source the default one.

    A name is that of a function, as `module:function`, or anything that `load_expert` takes.

    >>> from smgrnn.tasks import find_task
    >>> find_expert(None, find_task("CartPole-v1,mirrored,cue=1of2"))[1]
    Expert(6-2048-2)
    """
    if task.is_supervised:
        raise ExpertError(f"{task.id!r} is learned from examples and takes no expert.")
    found: Teacher
    model = expert_of_model(source) if is_sb3_model(source) else None
    if is_module(source):
        model = expert_of_module(source)
        if model is None:
            source = ModuleFunction(source, is_choice=task.is_discrete)
    if model is not None:
        found = _for_task(model, task)
        return TeacherId(kind="model", name=type(source).__name__, digest=found.digest), found
    kind, name = _identify(source, task)
    if kind == "function":
        found = FunctionExpert(source if callable(source) else import_function(name), task, name)
    else:
        found = _load(kind, name, task)
    return TeacherId(kind=kind, name=name, digest=found.digest), found


def find_teacher(source: ExpertSource | None, task: Task) -> tuple[TeacherId, Teacher | None]:
    """Return a task's teacher and its identity; without a source it is the default one."""
    if task.is_supervised and source is None:
        digest = "" if task.recording is None else read_recording(Path(task.recording)).digest
        return TeacherId(kind="examples", name=task.recording or task.id, digest=digest), None
    if source is None and task.teacher_score is not None:
        warn_if_weak(task, task.teacher_score[0])
    return find_expert(source, task)


def find_teacher_again(
    recorded: TeacherId, task: Task, source: ExpertSource | Teacher | None = None
) -> Teacher | None:
    """Return the teacher that a record names, importing nothing; code must be given again."""
    if source is None and recorded.kind in ("function", "model", "zip"):
        raise ExpertError(
            f"The expert {recorded.name!r} of this run is your own code. Pass it again: as "
            f"--expert on the command line, as expert= in Python."
        )
    found: Teacher | None
    if isinstance(source, Expert | FunctionExpert):
        found, digest = source, source.digest
    elif source is not None or recorded.kind == "examples":
        identity, found = find_teacher(source, task)
        digest = identity.digest
    else:
        found = _load(recorded.kind, recorded.name, task)
        digest = found.digest
    if digest != recorded.digest:
        raise ConfigError(
            f"The run began with another expert, {recorded.name!r} as it was. Pass it."
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
