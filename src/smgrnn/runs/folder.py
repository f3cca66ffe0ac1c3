"""The run folder: the record in one file, and results for other tools as JSON and CSV.

`model.safetensors` is the record: everything about a run, replaced as a whole.  A run that was
killed is resumed from it, and repeats all it had done since, bit for bit.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.episodes.table import write_edits, write_episodes, write_table
from smgrnn.errors import ConfigError
from smgrnn.runs.plan import EvolutionPlan
from smgrnn.runs.record import Record
from smgrnn.storage import make_folder, write_file, writing

SUMMARY = "run.json"


def check_new(path: Path) -> None:
    """Refuse a folder that exists: a run is never written over."""
    if path.exists():
        raise ConfigError(f"{path} exists; resume it, or choose another folder with --out.")


def create(path: Path) -> None:
    """Make a new run folder."""
    check_new(path)
    try:
        make_folder(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be made: {error.strerror}.") from error


def clear_partial(path: Path) -> None:
    """Remove partial files of a process that was killed while writing."""
    for stale in path.glob(".*.partial"):
        stale.unlink(missing_ok=True)


def folder_summary(record: Record, path: Path | None) -> dict[str, Any]:
    """Return the figures of a run, and the folder it is kept in."""
    return record.summary() | {"run_dir": str(path) if path else None}


def write_results(path: Path, record: Record) -> None:
    """Write the results for other tools: run.json, the episodes and the edits."""
    content = {
        "task": record.plan.task.id,
        "plan": record.plan.to_dict(),
        "summary": folder_summary(record, path),
        "versions": dict(record.versions),
    }
    with writing(path):
        write_episodes(path / "episodes.csv", record.episodes)
        write_edits(path / "edits.csv.gz", record.edits)
        if isinstance(record.plan, EvolutionPlan):
            _write_generations(path / "generations.csv", record)
        write_file(path / SUMMARY, (json.dumps(content, indent=2) + "\n").encode())


def _write_generations(path: Path, record: Record) -> None:
    best = record.generations
    assert best is not None
    mean = record.episodes.returns.reshape(best.n, -1).mean(axis=1)
    header = ["generation", "best_return", "mean_return", "n_nodes", "n_edges"]
    columns = [np.arange(1, best.n + 1), best.returns, mean, best.n_nodes, best.n_edges]
    write_table(path, header, columns)
