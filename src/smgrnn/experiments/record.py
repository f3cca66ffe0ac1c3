"""RunRecord: what a finished run leaves for tables and figures, small and without pickle."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import EvolutionConfig, RunConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import FileFormatError, GraphError
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.state import Graph
from smgrnn.runs.evolution import Evolution
from smgrnn.runs.folder import versions
from smgrnn.runs.run import Run
from smgrnn.storage import Arrays

_FIELDS = (
    *("task", "settings", "summary", "started", "changes", "warnings"),
    *("began", "seconds", "versions"),
)
"""The fields that are plain values; the others are arrays."""


@dataclass(frozen=True)
class RunRecord:
    """A finished run as plain values and arrays."""

    task: str
    """The task's id."""
    settings: dict[str, Any]
    """All settings of the run, with its seed."""
    summary: dict[str, Any]
    """Every figure of the run, by the names of `training.metrics`."""
    started: tuple[int, int]
    """Nodes and edges before the first episode; of an evolution, those of the first best."""
    changes: dict[str, int]
    """Structural changes by operation and cause, such as "add_node relay"."""
    warnings: tuple[str, ...]
    """What the run warned of, such as a limit that stopped its growth."""
    began: float
    """When it began, in seconds since 1970."""
    seconds: float
    """Time from first to last, evaluation included; `summary` has the time of the training."""
    versions: dict[str, str]
    """What the run was computed with."""
    episodes: Episodes
    """One row per episode, or per candidate of an evolution."""
    graph: Graph
    """The final graph with its weights, or the champion's."""
    held_out: Floats
    """Returns of the finished student, or of the champion, on held-out episodes."""
    generations: Episodes | None = None
    """The best candidate of each generation, if it was an evolution."""

    @classmethod
    def of(
        cls,
        run: Run | Evolution,
        *,
        started: tuple[int, int],
        warnings: tuple[str, ...],
        began: float,
        seconds: float,
    ) -> Self:
        """Take down what is worth keeping of a finished run."""
        common: dict[str, Any] = {
            "task": run.task.id,
            "settings": run.config.to_dict(),
            "summary": {k: value for k, value in run.summary().items() if k != "run_dir"},
            "started": started,
            "warnings": warnings,
            "began": began,
            "seconds": seconds,
            "versions": versions(),
            "episodes": run.episodes,
            "held_out": run.held_out,
        }
        if isinstance(run, Evolution):
            graph = run.champion.phenotype.graph
            return cls(**common, changes={}, graph=graph, generations=run.generations)
        return cls(**common, changes=_count(run.edits), graph=run.graph)

    @property
    def config(self) -> RunConfig | EvolutionConfig:
        """The settings of the run as they were given."""
        kind = RunConfig if self.generations is None else EvolutionConfig
        return kind.from_dict(self.settings)

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """Return the plain values and the arrays, whole numbers in four bytes each."""
        values = {name: getattr(self, name) for name in _FIELDS}
        columns = {"held_out": self.held_out}
        for part in ("episodes", "graph", "generations"):
            fields = getattr(self, part)
            columns |= {} if fields is None else {f"{part}.{k}": v for k, v in _fields_of(fields)}
        return values, {name: _shorten(np.asarray(value)) for name, value in columns.items()}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild a record from `to_parts`, or raise FileFormatError."""
        try:
            wide = {name: _widen(array) for name, array in arrays.items()}
            evolved = "generations.returns" in wide
            return cls(
                **values
                | {"started": tuple(values["started"]), "warnings": tuple(values["warnings"])},
                episodes=_episodes(wide, "episodes"),
                graph=Graph.from_arrays({name: wide[f"graph.{name}"] for name in Graph._fields}),
                held_out=wide["held_out"],
                generations=_episodes(wide, "generations") if evolved else None,
            )
        except (KeyError, TypeError, ValueError, GraphError) as error:
            raise FileFormatError(f"This is not the record of a run ({error}).") from error


def _count(edits: Edits) -> dict[str, int]:
    pairs = Counter(map(tuple, edits.rows[:, :2].tolist()))
    return {
        f"{Operation(operation).name} {Cause(cause).name}".lower(): n
        for (operation, cause), n in sorted(pairs.items())
    }


def _fields_of(columns: Any) -> Any:
    return columns._asdict().items()


def _episodes(arrays: Arrays, part: str) -> Episodes:
    return Episodes(*(arrays[f"{part}.{name}"] for name in Episodes._fields))


def _shorten(array: Any) -> Any:
    """Store whole numbers in half the room if they all fit."""
    if array.dtype != np.int64 or not array.size or np.abs(array).max() >= 2**31:
        return array
    return array.astype(np.int32)


def _widen(array: Any) -> Any:
    return array.astype(np.int64) if array.dtype == np.int32 else array
