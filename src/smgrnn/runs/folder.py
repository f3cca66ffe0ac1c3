"""The run folder: settings and figures as JSON, episodes and edits as CSV, all state in one file.

`model.safetensors` is the checkpoint: everything a run is, replaced as a whole.  A run that was
killed goes on from it, and what it had recorded since is recorded again, bit for bit.
"""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smgrnn.config import RunConfig
from smgrnn.engine import Learner
from smgrnn.errors import ConfigError, FileFormatError, SmgrnnError
from smgrnn.graph.state import Graph
from smgrnn.storage import read_arrays, write_arrays
from smgrnn.tasks import Task
from smgrnn.episodes.normalisation import Normalisation
from smgrnn.episodes.table import Edits, Episodes, write_edits, write_episodes
from smgrnn.runs.snapshots import Snapshots

MODEL, SUMMARY, TIMES = "model.safetensors", "run.json", "times.json"
Arrays = dict[str, NDArray[Any]]


class Progress(NamedTuple):
    """How far a run has come, all of it."""

    learner: Arrays
    """What `Learner.arrays` returned."""
    episodes: Episodes
    edits: Edits
    snapshots: Snapshots
    """The weights on the way; none in a run without a folder."""
    best: Graph
    """The graph that scored best among the checkpoints."""
    best_score: float
    started: tuple[int, int]
    """Nodes and edges before the first episode."""
    expert: str
    """Digest of the expert, or of the examples; a run never goes on with another teacher."""
    seconds: float
    """Time spent so far."""
    normalisation: Normalisation | None = None
    """What the student's observations are normalised by."""


def check_new(path: Path) -> None:
    """Refuse a folder that exists: a run is never written over."""
    if path.exists():
        raise ConfigError(f"{path} exists; resume it, or choose another folder with --out.")


def create(path: Path) -> None:
    """Make a new run folder."""
    check_new(path)
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be made: {error.strerror}.") from error


def clear_partial(path: Path) -> None:
    """Remove what a process that was killed while writing left behind."""
    for stale in path.glob(".*.partial"):
        stale.unlink(missing_ok=True)


def save_progress(path: Path, task: Task, config: RunConfig, progress: Progress) -> None:
    """Write the checkpoint, whole or not at all."""
    arrays: Arrays = {f"learner.{name}": value for name, value in progress.learner.items()}
    for part in ("episodes", "edits", "snapshots", "best", "normalisation"):
        columns = getattr(progress, part)
        columns = {} if columns is None else columns._asdict()
        arrays |= {f"{part}.{name}": np.asarray(value) for name, value in columns.items()}
    arrays["best_score"] = np.array(progress.best_score)
    arrays["started"] = np.array(progress.started)
    try:
        settings = {"task": task.to_dict(), "settings": config.to_dict(), "expert": progress.expert}
        write_arrays(path / MODEL, "run", settings, arrays)
        (path / TIMES).write_text(json.dumps({"seconds": progress.seconds}), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path / MODEL} cannot be written: {error.strerror}.") from error


def load_progress(path: Path) -> tuple[Task, RunConfig, Progress]:
    """Read the checkpoint of a run: its task, its settings and how far it has come.

    The task is as it was described; to play it, find it again.
    """
    if not path.is_dir():
        raise FileFormatError(f"There is no run folder {path}.")
    settings, arrays = read_arrays(path / MODEL, "run")
    try:
        task, config = Task.from_dict(settings["task"]), RunConfig.from_dict(settings["settings"])
        learner = {
            name.removeprefix("learner."): value
            for name, value in arrays.items()
            if name.startswith("learner.")
        }
        nodes, edges = arrays["started"].tolist()
        progress = Progress(
            learner,
            Episodes(*(arrays[f"episodes.{name}"] for name in Episodes._fields)),
            Edits(*(arrays[f"edits.{name}"] for name in Edits._fields)),
            _read_snapshots(arrays),
            Graph.from_arrays({name: arrays[f"best.{name}"] for name in Graph._fields}),
            float(arrays["best_score"]),
            (nodes, edges),
            str(settings["expert"]),
            _read_seconds(path / TIMES),
            _read_normalisation(arrays, task.n_inputs) if config.normalise else None,
        )
    except (SmgrnnError, KeyError, ValueError, TypeError) as error:
        raise FileFormatError(f"{path / MODEL} does not describe a run ({error}).") from error
    return task, config, progress


def _read_snapshots(arrays: Arrays) -> Snapshots:
    """Return the weights on the way; runs of before they were kept have none."""
    if "snapshots.episode" not in arrays:
        return Snapshots.start()
    columns: Any = (arrays[f"snapshots.{name}"] for name in Snapshots._fields)
    found = Snapshots(*columns)
    return found._replace(spacing=int(found.spacing))


def _read_normalisation(arrays: Arrays, n_observed: int) -> Normalisation:
    """Return the normalisation in a checkpoint, or raise ValueError or KeyError."""
    found = Normalisation(*(arrays[f"normalisation.{name}"] for name in Normalisation._fields))
    for values in found:
        if values.shape != (n_observed,) or not np.isfinite(values.astype(np.float64)).all():
            raise ValueError("its normalisation does not fit the observations")
    return found


def _read_seconds(path: Path) -> float:
    """Return the time spent so far, kept apart so that equal runs have equal checkpoints."""
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def restore_learner(learner: Learner, progress: Progress, path: Path) -> None:
    """Put a learner into the state of a checkpoint."""
    try:
        learner.restore(progress.learner)
    except (SmgrnnError, KeyError, ValueError, TypeError) as error:
        raise FileFormatError(f"{path / MODEL} does not describe a run ({error}).") from error


def write_results(
    path: Path, task: str, config: RunConfig, progress: Progress, summary: dict[str, Any]
) -> None:
    """Write what a finished run leaves for other tools: run.json and the two tables."""
    content = {
        "task": task,
        "settings": config.to_dict(),
        "summary": summary,
        "versions": versions(),
    }
    partial = path / f".{SUMMARY}.partial"
    try:
        write_episodes(path / "episodes.csv", progress.episodes)
        write_edits(path / "edits.csv.gz", progress.edits)
        partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        partial.replace(path / SUMMARY)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error


def versions() -> dict[str, str]:
    """Return the versions of all that a result depends on."""
    found = {name: version(name) for name in ("smgrnn", "numpy", "numba", "gymnasium")}
    return found | {"python": platform.python_version()}
