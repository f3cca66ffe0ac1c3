"""The file of a record: plain values, and arrays that are checked against `SCHEMA`.

A file may be forged: it holds no code, and loading runs none that it names.
"""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Arrays, from_arrays
from smgrnn.config import NetworkConfig
from smgrnn.episodes.table import Episodes, Snapshots
from smgrnn.errors import ConfigError, FileFormatError, plain
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.runs.checkpoints import Checkpoint
from smgrnn.runs.metrics import Comparison
from smgrnn.runs.plan import Plan, find_plan, require
from smgrnn.runs.polish import Polish
from smgrnn.runs.smallest import Search
from smgrnn.runs.stage_scores import check_stage_scores
from smgrnn.storage import describing, read_arrays
from smgrnn.validation import Finite, NonNegative, Whole, checked

MODEL = "model.safetensors"
"""File name of the record in a run folder."""
KIND = "run"
ROLES = {"final", "best"}
"""Roles of a record's students."""


class Times(NamedTuple):
    """When a run began, and what it took."""

    began: float = 0.0
    """Seconds since 1970."""
    training: float = 0.0
    """Seconds of training."""
    choosing: float = 0.0
    """Seconds of selection."""
    polishing: float = 0.0
    """Seconds of polishing."""
    choosing_episodes: float = 0.0
    """Episodes that were played for selection."""
    choosing_steps: float = 0.0
    """Environment steps of selection."""
    total: float = 0.0
    """Seconds from first to last, evaluation included."""


class Spent(NamedTuple):
    """The effort of earlier stages, in a sequence of which only the last is kept."""

    steps: int = 0
    """Environment steps of training."""
    seconds: float = 0.0
    """Seconds from first to last, evaluation included."""


class Column(NamedTuple):
    """Type, number of axes and least value of an array; all values are finite."""

    dtype: Any
    n_axes: int = 1
    least: float = -np.inf


COUNTS, VALUES, COUNT = Column(np.int64, 1, 0), Column(np.float64), Column(np.int64, 0, 0)
SCHEMA = {
    "episodes.returns": VALUES,
    "episodes.loss": VALUES,
    "episodes.*": COUNTS,
    "edits.rows": Column(np.int64, 2, -1),
    "edits.weight": VALUES,
    "edits.*": COUNTS,
    "snapshots.weight": Column(np.float32),
    "snapshots.spacing": Column(np.int64, 0, 1),
    "snapshots.*": COUNTS,
    "*.graph.weight": VALUES,
    "*.graph.n_*": COUNT,
    "*.graph.next_*": COUNT,
    "*.graph.*": COUNTS,
    "*.normalisation.*": VALUES,
    "checkpoints.*.returns": VALUES,
    "held_out": VALUES,
    "polish.generation": COUNT,
    "polish.step": Column(np.float64, 0, 0.0),
    "polish.offered": Column(np.float64, 2),
    "polish.compared": Column(np.float64, 2),
    "polish.judged": Column(np.float64, 2),
    "polish.*": VALUES,
    "search.chance": Column(np.float64, 0),
    "search.target": Column(np.float64, 0),
    "search.failed": Column(np.float64, 2),
    "search.judged": VALUES,
    "stage_scores": Column(np.float64, 2),
}
"""The arrays of a record; the first pattern that matches a name applies."""
RESUME = "resume."
"""Prefix of the arrays that a learner is restored from; it checks them itself."""
FACTS = {
    "started": tuple[Whole, ...],
    "best_score": Finite | None,
    "warnings": tuple[str, ...],
}
"""The plain values of a record."""


def read_record(path: Path) -> dict[str, Any]:
    """Return the fields of the record in a run folder or in a file."""
    file = record_file(path)
    if file != path and not path.is_dir():
        raise FileFormatError(f"There is no run folder {path}.")
    if file != path and not file.is_file():
        where = "here" if path == Path() else f"in {path}"
        raise FileFormatError(f"There is no run {where}.")
    content, arrays = read_arrays(file, KIND)
    with describing(file, "run"):
        return _read_fields(content, arrays)


def _read_fields(content: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the fields of a record; raise an error for any that is wrong."""
    resume = {name: each for name, each in arrays.items() if name.startswith(RESUME)}
    _check_arrays({name: each for name, each in arrays.items() if name not in resume})
    facts = {name: checked(content[name], hint, name) for name, hint in FACTS.items()}
    texts = (*facts["warnings"], *content["versions"], *content["versions"].values())
    require(all(plain(text) == text for text in texts), "a text has invalid characters")
    require(len(facts["started"]) == 2, "it has no size at the start")
    times = {name: checked(each, NonNegative, name) for name, each in content["times"].items()}
    compared = {
        name: checked(each, Whole | Finite | None, name)
        for name, each in content.get("comparison", {}).items()
    }
    steps, seconds = content["before"]["steps"], content["before"]["seconds"]
    plan = find_plan(content["run"]).from_dict(content["plan"])
    episodes = from_arrays(Episodes, arrays, "episodes.")
    require(plan.admits(episodes.n), "its last generation is incomplete")
    snapshots = from_arrays(Snapshots, arrays, "snapshots.")
    require(snapshots.fit(episodes.n), "its snapshots do not fit together")
    check_stage_scores(plan, arrays["stage_scores"])

    normalises = isinstance(plan, Plan) and plan.normalise

    def policy(place: str, network: dict[str, Any]) -> Policy:
        config, scales = NetworkConfig.from_dict(network), None
        if normalises:
            scales = from_arrays(Normalisation, arrays, f"{place}.normalisation.")
        graph = from_arrays(Graph, arrays, f"{place}.graph.")
        about: Any = {"student": plan.student, "normalisation": scales}
        return Policy(graph, config, plan.task, **about, names=getattr(plan, "names", None))

    students = {role: policy(f"students.{role}", it) for role, it in content["students"].items()}
    require(students.keys() <= ROLES, "it has a student of an unknown role")
    require("final" in students or not isinstance(plan, Plan), "it has no student")
    checkpoints = []
    for number, each in enumerate(content["checkpoints"]):
        place, episode = f"checkpoints.{number}", checked(each["episode"], Whole, "The episode")
        returns = arrays[f"{place}.returns"]
        has_played = returns.size > 0 and 0 < episode <= episodes.n
        require(has_played, "one of its checkpoints did not play")
        checkpoints.append(Checkpoint(policy(place, each["network"]), episode, returns))
    polish = from_arrays(Polish, arrays, "polish.") if "polish.weight" in arrays else None
    require(polish is None or polish.is_valid, "the arrays of its polish do not fit together")
    search = from_arrays(Search, arrays, "search.") if "search.target" in arrays else None
    require(search is None or search.failed.shape[1] == 4, "its search has other columns")
    return facts | {
        "plan": plan,
        "episodes": episodes,
        "edits": from_arrays(Edits, arrays, "edits."),
        "snapshots": snapshots,
        "students": students,
        "checkpoints": tuple(checkpoints),
        "held_out": arrays["held_out"],
        "polish": polish,
        "search": search,
        "stage_scores": arrays["stage_scores"],
        "versions": content["versions"],
        "times": Times(**times),
        "comparison": Comparison(**compared),
        "before": Spent(checked(steps, Whole, "steps"), checked(seconds, NonNegative, "seconds")),
        "resume": {name.removeprefix(RESUME): each for name, each in resume.items()} or None,
    }


def _check_arrays(arrays: Arrays) -> None:
    """Refuse an array that does not match `SCHEMA`, and a table with columns of unequal length."""
    for name, array in arrays.items():
        column = next((c for pattern, c in SCHEMA.items() if fnmatchcase(name, pattern)), None)
        if column is None:
            raise ConfigError(f"no run has an array {name}")
        is_like = array.dtype == column.dtype and array.ndim == column.n_axes
        is_right = is_like and np.isfinite(array).all() and (array >= column.least).all()
        require(is_right, f"{name} has a wrong type, shape or value")
    for table in ("episodes", "edits"):
        lengths = {len(each) for name, each in arrays.items() if name.startswith(f"{table}.")}
        require(len(lengths) == 1, f"the columns of its {table} differ in length")
    rows = arrays["edits.rows"]
    require(rows.shape[1] == 5, "its edits have not five columns")
    is_known = (rows[:, :2] >= 0) & (rows[:, :2] < (len(Operation), len(Cause)))
    require(is_known.all(), "its edits have an unknown operation or cause")


def record_file(path: Path) -> Path:
    """Return the file of a record: `path` if it has its suffix, else the one in that folder."""
    return path if path.suffix == Path(MODEL).suffix and not path.is_dir() else path / MODEL
