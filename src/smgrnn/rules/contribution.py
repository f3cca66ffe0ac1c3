"""Pruning by contribution: the edges that contribute least go, until the graph has its size.

An edge contributes |weight| × the root mean square of its source.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.orphans import orphans
from smgrnn.rules.rule import BuiltInRule, Statistic
from smgrnn.validation import Probability


def contributions(evidence: Evidence) -> Floats:
    """Return how much each edge contributes (n_edges,); before any update, its absolute weight."""
    size = np.abs(evidence.graph.weight)
    if evidence.n_updates == 0:
        return size
    return size * np.sqrt(evidence.square[evidence.graph.source])


def weakest(evidence: Evidence, contribution: Floats, can_go: Bools) -> int:
    """Return the edge that contributes least of those that may go; -1 if none may.

    Young edges are taken last.
    """
    old = can_go & ~evidence.is_young
    places = np.flatnonzero(old if old.any() else can_go)
    return int(places[np.argmin(contribution[places])]) if places.size else -1


def release(evidence: Evidence, stays: Bools) -> Bools:
    """Return the edges that stay, without those of hidden nodes that do nothing any more.

    These are nodes without edges in or out, and nodes all of whose sources are constant.
    """
    graph, square = evidence.graph, evidence.square
    is_constant = np.zeros(graph.n_nodes, dtype=np.bool_)
    if evidence.n_updates > 1:  # it takes two updates to tell
        is_constant = square - evidence.activity**2 <= 1e-12 * square
    is_driven = np.zeros(graph.n_nodes, dtype=np.bool_)
    is_driven[graph.target[stays & ~is_constant[graph.source]]] = True
    is_driven[: graph.n_inputs + graph.n_outputs] = True
    stays = stays & (is_driven[graph.target] | evidence.protected)
    is_orphan = orphans(graph, stays)
    left: Bools = stays & ~is_orphan[graph.source] & ~is_orphan[graph.target]
    return left


@dataclass(frozen=True, kw_only=True)
class Contribution(BuiltInRule):
    """Prune the edges that contribute least, down to the size."""

    name: ClassVar[str] = "contribution"
    summary: ClassVar[str] = "the edges that contribute least, down to the size"
    statistics: ClassVar[tuple[Statistic, ...]] = ("nodes",)
    follows_size: ClassVar[bool] = True

    dense_until: Probability = 0.0
    """Fraction of a run before which nothing is pruned."""

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Remove the edge that contributes least, one after the other."""
        contribution = contributions(evidence)
        stays = np.ones(evidence.graph.n_edges, dtype=np.bool_)
        while np.count_nonzero(stays) > evidence.goal.size:
            edge = weakest(evidence, contribution, stays & ~evidence.protected)
            if edge < 0:
                break
            stays[edge] = False
            stays = release(evidence, stays)
        draft = EditDraft(evidence.graph, Cause.CONTRIBUTION)
        draft.remove_edges_at(np.flatnonzero(~stays))
        return draft.finish()
