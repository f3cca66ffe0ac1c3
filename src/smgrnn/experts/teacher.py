"""Teachers: the experts or examples of a run, and how its record names them without naming code.

A shipped expert and a file of weights are found again by their names.  A function and a file of
Stable-Baselines3 are code: the record has their names, and whoever resumes the run gives them
again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from smgrnn.errors import ConfigError, ExpertError
from smgrnn.experts.evaluation import check_expert
from smgrnn.experts.files import read_expert
from smgrnn.experts.function import FunctionExpert, Teacher, function_name
from smgrnn.experts.library import (
    find_expert,
    load_shipped,
    shipped_name,
    suited,
    warn_if_weak,
)
from smgrnn.experts.mlp import Expert
from smgrnn.tasks import Task
from smgrnn.tasks.recording import read_recording
from smgrnn.validation import Settings

ExpertSource = str | Path | Callable[[Any], Any]
"""The name of a shipped expert or of a function, a file of weights, or a function."""


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


def find_teacher(source: ExpertSource | None, task: Task) -> tuple[TeacherId, Teacher | None]:
    """Return the identity of a task's teacher, and the teacher; its smooth one by default."""
    if task.is_supervised and source is None:
        return _examples(task), None
    if callable(source) and not task.is_supervised:
        name = function_name(source)
        function = FunctionExpert(source, task, name)
        return TeacherId(kind="function", name=name, digest=function.digest), function
    if source is None:
        warn_if_weak(task)
    given = task.base if source is None else str(source)
    teacher = find_expert(None if source is None else given, task)
    if isinstance(teacher, FunctionExpert):
        return TeacherId(kind="function", name=given, digest=teacher.digest), teacher
    if (shipped := shipped_name(given)) is not None:
        return TeacherId(kind="shipped", name=shipped, digest=teacher.digest), teacher
    path = Path(given).resolve()
    kind: Any = "zip" if path.suffix == ".zip" else "file"
    return TeacherId(kind=kind, name=str(path), digest=teacher.digest), teacher


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
        name, is_shipped = recorded.name, recorded.kind == "shipped"
        read = load_shipped(name) if is_shipped else read_expert(name)[0]
        found = suited(read, task, is_shipped=is_shipped)
        check_expert(found, task)
        digest = found.digest
    if digest != recorded.digest:
        raise ConfigError(
            f"The run was begun with another expert, {recorded.name!r} as it was then; it cannot "
            f"go on with this one."
        )
    return found


def _examples(task: Task) -> TeacherId:
    digest = "" if task.recording is None else read_recording(Path(task.recording)).digest
    return TeacherId(kind="examples", name=task.recording or task.id, digest=digest)
