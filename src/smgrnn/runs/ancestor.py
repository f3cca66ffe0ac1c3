"""Ancestor: the student of an earlier run that another run goes on from.

It is part of the plan, weights and all: a run is repeated or resumed from its own record, wherever
the folder of its ancestor may be by then.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from smgrnn.errors import ConfigError, plain
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.validation import Count, Finite, Settings, Whole

_COLUMNS = ("node_ids", "source", "target", "weight", "edge_ids")


@dataclass(frozen=True, kw_only=True)
class Ancestor(Settings):
    """Where a run goes on from: which run, and its student as it was."""

    run: str
    """Key of the plan of the run."""
    task: str
    """Task of the run."""
    seed: Whole
    """Seed of the run."""
    episode: Whole
    """Episode after which the student was as it is taken over."""
    n_inputs: Count
    n_outputs: Count
    node_ids: tuple[Whole, ...]
    source: tuple[Whole, ...]
    target: tuple[Whole, ...]
    weight: tuple[Finite, ...]
    """The graph, see `Graph`; its weights take observations as they are."""
    edge_ids: tuple[Whole, ...]
    next_node_id: Whole
    next_edge_id: Whole
    mean: tuple[Finite, ...] | None = None
    scale: tuple[Finite, ...] | None = None
    """How the student normalises observations, if it does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(plain(text) != text for text in (self.run, self.task)):
            raise ConfigError("The ancestor of a run has a name with characters that are no text.")
        _ = self.graph  # or a wrong one would be met in the middle of a run

    @classmethod
    def of(cls, policy: Policy, *, run: str, seed: int, episode: int) -> Self:
        """Return a student as an ancestor."""
        graph = policy.graph._asdict()
        columns = {name: tuple(graph[name].tolist()) for name in _COLUMNS}
        scales = {} if policy.normalisation is None else policy.normalisation._asdict()
        values: dict[str, Any] = {name: tuple(array.tolist()) for name, array in scales.items()}
        return cls(
            run=run,
            task=policy.task.id,
            seed=seed,
            episode=episode,
            **graph | columns | values,
        )

    @cached_property
    def graph(self) -> Graph:
        """The student's graph."""
        fields = {name: getattr(self, name) for name in Graph._fields}
        kinds = dict.fromkeys(_COLUMNS, np.int64) | {"weight": np.float64}
        columns = {name: np.array(fields[name], kind) for name, kind in kinds.items()}
        return Graph.from_arrays(fields | columns)

    @property
    def normalisation(self) -> Normalisation | None:
        """How the student normalises observations, if it does."""
        if self.mean is None or self.scale is None:
            return None
        return Normalisation(np.array(self.mean), np.array(self.scale))
