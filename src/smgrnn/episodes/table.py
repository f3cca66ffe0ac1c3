"""The tables of a run: one row per episode, and every structural edit with its cause."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.log import EditLog
from smgrnn.storage import write_file


class Episodes(NamedTuple):
    """One column per quantity, one entry per episode; kernels fill the same object."""

    returns: Floats
    """Sum of rewards."""
    steps: Ints
    """Environment steps, which are also weight updates."""
    agreed: Ints
    """Steps on which student and expert chose the same action."""
    loss: Floats
    """Sum of the distillation loss over the steps."""
    n_nodes: Ints
    """Nodes at the end of the episode: inputs, outputs and hidden ones."""
    n_edges: Ints
    """Edges at the end of the episode."""

    @classmethod
    def start(cls, n: int) -> Self:
        """Return room for `n` episodes."""
        floats = ("returns", "loss")
        columns: Any = (np.zeros(n, np.float64 if f in floats else np.int64) for f in cls._fields)
        return cls(*columns)

    @property
    def n(self) -> int:
        """Number of episodes."""
        return self.returns.size

    def followed_by(self, later: Self) -> Self:
        """Return these episodes and then the later ones."""
        columns: Any = map(np.concatenate, zip(self, later, strict=True))
        return type(self)(*columns)


class Edits(NamedTuple):
    """All changes of a run in order, as flat columns of stable ids."""

    update: Ints
    call: Ints
    rows: Ints
    weight: Floats

    @classmethod
    def of(cls, log: EditLog) -> Self:
        """Return the edits that a learner logged."""
        columns: Any = (column[: log.n_changes].copy() for column in log[:4])
        return cls(*columns)

    def followed_by(self, later: Self) -> Self:
        """Return these edits and then the later ones."""
        columns: Any = map(np.concatenate, zip(self, later, strict=True))
        return type(self)(*columns)


def write_episodes(path: Path, episodes: Episodes) -> None:
    """Write the episodes as CSV, numbered from 1."""
    header = ["episode", *Episodes._fields]
    columns = [np.arange(1, episodes.n + 1), *episodes]
    write_table(path, header, columns)


def write_edits(path: Path, edits: Edits) -> None:
    """Write the edits as gzipped CSV, operations and causes in words."""
    operations = np.array([op.name.lower() for op in Operation])[edits.rows[:, 0]]
    causes = np.array([cause.name.lower() for cause in Cause])[edits.rows[:, 1]]
    header = ["update", "call", "operation", "cause", "id", "source", "target", "weight"]
    ids = (edits.rows[:, column] for column in (2, 3, 4))
    write_table(path, header, [edits.update, edits.call, operations, causes, *ids, edits.weight])


def write_table(path: Path, header: list[str], columns: list[Any]) -> None:
    """Write columns of equal length as CSV, gzipped if the name says so."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
    data = text.getvalue().encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # without a time, one run is one file
    write_file(path, data)
