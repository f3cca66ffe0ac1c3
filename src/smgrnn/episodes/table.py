"""The tables of a run: its episodes, every structural edit with its cause, and weights at times."""

import csv
import gzip
import io
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.edit import Cause, Operation
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph

MOST_MOMENTS = 300
"""Maximum number of moments."""
MOST_WEIGHTS = 1_000_000
"""Maximum number of weights over all moments; a large network has fewer moments."""


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


class Snapshots(NamedTuple):
    """Weights at a few hundred moments, evenly spaced over the run so far; a viewer shows them."""

    episode: Ints
    """Episodes done at each moment (n_moments,)."""
    n_edges: Ints
    """Number of edges at each moment (n_moments,)."""
    edge_ids: Ints
    """Stable ids of the edges, one moment after the other (n_weights,)."""
    weight: NDArray[np.float32]
    """Their weights (n_weights,)."""
    spacing: int
    """Least number of episodes between two moments."""

    @classmethod
    def start(cls) -> Self:
        """Return snapshots without a moment."""
        none = np.empty(0, dtype=np.int64)
        return cls(none, none, none, np.empty(0, dtype=np.float32), spacing=1)

    def fit(self, n_episodes: int) -> bool:
        """Return whether the columns fit together, and a run of so many episodes."""
        is_ordered = (self.episode <= n_episodes).all() and (np.diff(self.episode) > 0).all()
        n_weights = self.edge_ids.size if self.edge_ids.size == self.weight.size else -1
        has_all = self.episode.size == self.n_edges.size and self.n_edges.sum() == n_weights
        return bool(is_ordered and has_all)

    def followed_by(self, episode: int, graph: Graph) -> Self:
        """Return these moments and then this one, unless it is too close to the last."""
        if self.episode.size and episode < self.episode[-1] + self.spacing:
            return self
        weight = graph.weight.astype(np.float32)
        columns: Any = {"n_edges": graph.n_edges, "edge_ids": graph.edge_ids, "weight": weight}
        columns |= {"episode": episode}
        longer: Any = {name: np.append(getattr(self, name), each) for name, each in columns.items()}
        made = self._replace(**longer)
        if made.episode.size <= MOST_MOMENTS and made.weight.size <= MOST_WEIGHTS:
            return made
        every_second = made._only(np.arange(made.episode.size) % 2 == 0)
        return every_second._replace(spacing=2 * self.spacing)

    def until(self, episode: int) -> Self:
        """Return the moments up to the end of an episode."""
        return self._only(self.episode <= episode)

    def _only(self, stays: Bools) -> Self:
        weight_stays = np.repeat(stays, self.n_edges)
        return self._replace(
            episode=self.episode[stays],
            n_edges=self.n_edges[stays],
            edge_ids=self.edge_ids[weight_stays],
            weight=self.weight[weight_stays],
        )


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
