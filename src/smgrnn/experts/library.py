"""The experts by name: those shipped with the package, any file, any function."""

import tomllib
import warnings
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from smgrnn.errors import ExpertError
from smgrnn.experts.evaluation import FIRST_SEED, Score, check_expert
from smgrnn.experts.files import Record, read_expert
from smgrnn.experts.function import FunctionExpert, Teacher, import_function, is_function_name
from smgrnn.experts.mlp import Expert
from smgrnn.tasks import Task, recall
from smgrnn.tasks.registry import RECALL

_SUFFIX = ".safetensors"
_USUAL = "-smooth"
_DATA = tomllib.loads(files("smgrnn.experts").joinpath("variants.toml").read_text(encoding="utf-8"))
VARIANTS = {
    id: Score(**row, episodes=100, first_seed=FIRST_SEED["held_out"], disturbance=0.0)
    for id, row in _DATA.items()
}
"""The held-out scores of the teachers that variants of tasks have, by the variants' names."""


def shipped_experts() -> dict[str, Record]:
    """Return the record of each shipped expert by its name, which is its task, recipe and seed."""
    return {name: _read_shipped(name)[1] for name in shipped_names()}


def find_expert(name: str | None, task: Task) -> Teacher:
    """Return the expert of this name, or the smooth one of the task if there is no name.

    A name is that of a function, as `module:function`, or anything that `load_expert` takes.

    >>> from smgrnn.tasks import find_task
    >>> find_expert(None, find_task("CartPole-v1,mirrored,cue=1of2"))
    Expert(6-2048-2)
    """
    if task.is_supervised:
        raise ExpertError(f"{task.id!r} is learned from examples, which are its teacher.")
    if name is not None and is_function_name(name):
        return FunctionExpert(import_function(name), task, name)
    given = task.base if name is None else name
    if name is None and shipped_name(given) is None:
        raise ExpertError(f"The package has no expert for {task.id}; give one with --expert.")
    expert = suited(load_expert(given), task, is_shipped=shipped_name(given) is not None)
    check_expert(expert, task)
    return expert


def warn_if_weak(task: Task, mean: float | None = None) -> None:
    """Warn of a usual expert below the task's threshold: as measured now, or as on record.

    Of other variants than those on record nothing is known before somebody measures.
    """
    if mean is None and task.physics_id in VARIANTS:
        mean = VARIANTS[task.physics_id].mean
    threshold = task.reward_threshold
    if mean is not None and threshold is not None and mean < threshold:
        warnings.warn(
            f"The teacher of {task.id} returns {mean:.1f} on average, below the threshold of "
            f"{threshold:g}.",
            stacklevel=2,
        )


def suited(expert: Expert, task: Task, *, is_shipped: bool) -> Expert:
    """Return the expert as a variant of a task needs it: blind to the cue, if it has one.

    A shipped expert is made for the task that is not mirrored, so its actions change places too.
    """
    is_mirrored, n_cues = is_shipped and task.is_mirrored, len(task.cue)
    if not (is_mirrored or n_cues):
        return expert
    layers = expert.layers()
    if is_mirrored:
        layers[-1] = (layers[-1][0][::-1], layers[-1][1][::-1])
    layers[0] = (np.pad(layers[0][0], ((0, 0), (0, n_cues))), layers[0][1])
    return Expert.from_layers(layers, expert.activations)


def load_expert(name_or_path: str | Path) -> Expert:
    """Return a shipped expert by its name, or the expert in a file.

    The id of a task names its smooth expert.  A file is safetensors, or a zip of Stable-Baselines3,
    which must be one you trust.

    >>> load_expert("CartPole-v1")
    Expert(4-2048-2)
    """
    if (name := shipped_name(str(name_or_path))) is not None:
        return load_shipped(name)
    path = Path(name_or_path)
    if path.suffix == ".zip":
        from smgrnn.experts.sb3 import load_sb3_expert

        return load_sb3_expert(path)
    if not path.is_file():
        raise ExpertError(
            f"There is no expert {str(name_or_path)!r}: it is neither a file nor one of the "
            f"shipped experts, which are {', '.join(shipped_names())}."
        )
    return read_expert(path)[0]


def load_shipped(name: str) -> Expert:
    """Return a shipped expert by its name; the id of a task names its smooth expert."""
    found = shipped_name(name)
    if found is None:
        raise ExpertError(f"No expert {name!r} is shipped.")
    return Expert.from_layers([recall.RULE]) if found == RECALL.id else _read_shipped(found)[0]


def shipped_name(name: str) -> str | None:
    """Return the full name of a shipped expert, which the id of its task may stand for.

    The expert of recall is the rule itself.

    >>> shipped_name("CartPole-v1"), shipped_name("CartPole-v1-plain-2"), shipped_name("elsewhere")
    ('CartPole-v1-smooth', 'CartPole-v1-plain-2', None)
    """
    names = (RECALL.id, *shipped_names())
    return next((each for each in (name, name + _USUAL) if each in names), None)


@cache
def shipped_names() -> tuple[str, ...]:
    """Return the names of the trained experts that are shipped."""
    found = [item.name for item in files("smgrnn.experts").joinpath("weights").iterdir()]
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


def _read_shipped(name: str) -> tuple[Expert, Record]:
    with as_file(files("smgrnn.experts").joinpath("weights", name + _SUFFIX)) as path:
        return read_expert(path)
