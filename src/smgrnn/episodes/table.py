"""The tables of a run: one row per episode, and every structural edit with its cause."""

import csv
import gzip
import io
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.log import Columns, EditLog


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
        """Return buffers for `n` episodes."""
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


class Edits(Columns):
    """All changes of a run in order, as flat columns of stable ids."""

    @classmethod
    def of(cls, log: EditLog) -> Self:
        """Return the edits that a learner logged."""
        return cls(*log.columns)

    def followed_by(self, later: Self) -> Self:
        """Return these edits and then the later ones."""
        columns: Any = map(np.concatenate, zip(self, later, strict=True))
        return type(self)(*columns)


def episodes_table(episodes: Episodes) -> bytes:
    """Return the episodes as CSV, numbered from 1."""
    header = ["episode", *Episodes._fields]
    columns = [np.arange(1, episodes.n + 1), *episodes]
    return table(header, columns)


def edits_table(edits: Edits) -> bytes:
    """Return the edits as gzipped CSV, operations and causes in words."""
    operations = np.array([op.name.lower() for op in Operation])[edits.rows[:, 0]]
    causes = np.array([cause.name.lower() for cause in Cause])[edits.rows[:, 1]]
    header = ["update", "call", "operation", "cause", "id", "source", "target", "weight"]
    ids = (edits.rows[:, column] for column in (2, 3, 4))
    columns = [edits.update, edits.call, operations, causes, *ids, edits.weight]
    return gzip.compress(table(header, columns), mtime=0)  # without a time, one run is one file


def table(header: list[str], columns: list[Any]) -> bytes:
    """Return columns of equal length as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return text.getvalue().encode()
