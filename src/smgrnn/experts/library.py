"""The experts by name: those shipped with the package, any file, any function."""

from importlib.resources import as_file, files
from pathlib import Path

from smgrnn.errors import ExpertError
from smgrnn.experts.evaluation import check_expert
from smgrnn.experts.files import Record, read_expert
from smgrnn.experts.function import FunctionExpert, Teacher, import_function, is_function_name
from smgrnn.experts.mlp import Expert
from smgrnn.tasks import Task, recall
from smgrnn.tasks.registry import RECALL

_SUFFIX = ".safetensors"


def shipped_experts() -> dict[str, Record]:
    """Return the record of each shipped expert, by the id of its task."""
    return {name: _read_shipped(name)[1] for name in shipped_names()}


def find_expert(name: str | None, task: Task) -> Teacher:
    """Return the expert of this name, or the one shipped for the task if there is no name.

    A name is that of a function, as `module:function`, or anything that `load_expert` takes.
    """
    if task.is_supervised:
        raise ExpertError(f"{task.id!r} is learned from examples, which are its teacher.")
    if name is not None and is_function_name(name):
        return FunctionExpert(import_function(name), task, name)
    expert = load_expert(task.base if name is None else name)
    check_expert(expert, task)
    return expert


def load_expert(name_or_path: str | Path) -> Expert:
    """Return a shipped expert by the id of its task, or the expert in a file.

    A file is safetensors, or a zip of Stable-Baselines3, which must be one you trust.

    >>> load_expert("CartPole-v1")
    Expert(4-2048-2)
    """
    if is_shipped(str(name_or_path)):
        return load_shipped(str(name_or_path))
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
    """Return the expert that is shipped for a task; that of recall is the rule itself."""
    if name == RECALL.id:
        return Expert.from_layers([recall.RULE])
    if not is_shipped(name):
        raise ExpertError(f"No expert is shipped for {name!r}.")
    return _read_shipped(name)[0]


def is_shipped(name: str) -> bool:
    """Return whether there is an expert for the task of this name."""
    return name == RECALL.id or name in shipped_names()


def shipped_names() -> list[str]:
    """Return the tasks that a trained expert is shipped for."""
    found = [item.name for item in files("smgrnn.experts").joinpath("weights").iterdir()]
    return sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))


def _read_shipped(name: str) -> tuple[Expert, Record]:
    with as_file(files("smgrnn.experts").joinpath("weights", name + _SUFFIX)) as path:
        return read_expert(path)
