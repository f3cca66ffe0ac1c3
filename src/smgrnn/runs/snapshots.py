"""The weights of a run at a few hundred moments, from which a viewer shows how it learned."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from smgrnn.arrays import Bools, Ints
from smgrnn.graph.state import Graph

MOST_MOMENTS = 300
"""Maximum number of moments."""
MOST_WEIGHTS = 1_000_000
"""Maximum number of weights over all moments; a large network has fewer moments."""


class Snapshots(NamedTuple):
    """Weights by moment, all moments in one table, evenly spaced over the run so far."""

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
        columns = {"n_edges": graph.n_edges, "edge_ids": graph.edge_ids, "weight": weight}
        made = self._with(self.spacing, episode=episode, **columns)
        if made.episode.size <= MOST_MOMENTS and made.weight.size <= MOST_WEIGHTS:
            return made
        every_second = made._only(np.arange(made.episode.size) % 2 == 0)
        return every_second._replace(spacing=2 * self.spacing)

    def then(self, later: Self, n_episodes: int) -> Self:
        """Return these moments and those of a later run, which began after so many episodes.

        The first of the later run repeats the last of this one, and is left out.
        """
        rest = later._only(later.episode > 0)
        columns = rest._asdict() | {"episode": rest.episode + n_episodes}
        return self._with(max(self.spacing, columns.pop("spacing")), **columns)

    def until(self, episode: int) -> Self:
        """Return the moments up to the end of an episode."""
        return self._only(self.episode <= episode)

    def _with(self, spacing: int, **columns: Any) -> Self:
        longer: Any = {name: np.append(getattr(self, name), each) for name, each in columns.items()}
        return self._replace(**longer, spacing=spacing)

    def _only(self, stays: Bools) -> Self:
        weight_stays = np.repeat(stays, self.n_edges)
        return self._replace(
            episode=self.episode[stays],
            n_edges=self.n_edges[stays],
            edge_ids=self.edge_ids[weight_stays],
            weight=self.weight[weight_stays],
        )
