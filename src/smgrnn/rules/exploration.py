"""Random exploratory growth between unconnected nodes.  Paper: Sec. III-C2, Eqs. (5)-(6)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.graph.state import Graph
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.instability import Unstable
from smgrnn.rules.rule import NewEdges, subset
from smgrnn.validation import Probability


def missing_before(graph: Graph, explore_inputs: bool) -> Ints:
    """Count the missing edges S_t -- Eq. (6) -- that end before each node (n_nodes + 1,).

    The last entry is |S_t|.  Inputs count as targets only with `explore_inputs`.
    """
    before = np.zeros(graph.n_nodes + 1, dtype=np.int64)
    missing = graph.n_nodes - 1 - np.bincount(graph.target, minlength=graph.n_nodes)
    if not explore_inputs:
        missing[: graph.n_inputs] = 0
    missing.cumsum(out=before[1:])
    return before


def missing_edge(graph: Graph, before: Ints, rank: int) -> tuple[int, int]:
    """Return the missing edge with this rank in row order, as positions of source and target."""
    target = int(np.searchsorted(before, rank, side="right")) - 1
    is_free = np.ones(graph.n_nodes, dtype=np.bool_)
    first, last = np.searchsorted(graph.target, (target, target + 1))
    is_free[graph.source[first:last]] = False
    is_free[target] = False
    return int(np.flatnonzero(is_free)[rank - before[target]]), target


@dataclass(frozen=True, kw_only=True)
class Exploring(NewEdges):
    """Settings of rules that try random edges; defaults are Table A.III."""

    explore_probability: Probability = 0.25
    """Probability that a growth call explores (p_rand)."""
    explore_ratio: Probability = 0.01
    """New edges per node in a call that explores, at least one edge in all (ρ_rand)."""
    explore_inputs: bool = False
    """Also propose edges into inputs, as Eq. (6) prints; inputs are clamped, so they do nothing."""

    def plan(self, evidence: Evidence, rng: np.random.Generator, n_unstable: int) -> int:
        """Draw B_t, which is forced to 1 without unstable edges; return the edges to explore."""
        explores = rng.random() < self.explore_probability
        if not explores and n_unstable > 0:
            return 0
        graph, n_nodes = evidence.graph, evidence.graph.n_nodes
        first = 0 if self.explore_inputs else graph.n_inputs  # of the nodes that are targets
        n_present = graph.n_edges - int(graph.target.searchsorted(first))
        n_missing = (n_nodes - first) * (n_nodes - 1) - n_present
        n_wanted = min(max(int(self.explore_ratio * n_nodes), 1), n_missing)  # Eq. (5)
        return evidence.limits.grant(n_wanted, edges=1)

    def explore(
        self, evidence: Evidence, rng: np.random.Generator, draft: EditDraft, n_edges: int
    ) -> None:
        """Add n_edges of the missing edges -- Eq. (6)."""
        if n_edges == 0:
            return
        graph, draft.cause = evidence.graph, Cause.EXPLORATION
        before = missing_before(graph, self.explore_inputs)
        ranks = subset(rng, int(before[-1]), n_edges)
        weights = self.draw_weights(rng, n_edges)
        for rank, weight in zip(ranks.tolist(), weights.tolist(), strict=True):
            source, target = missing_edge(graph, before, rank)
            draft.add_edge(int(graph.node_ids[source]), int(graph.node_ids[target]), weight)


@dataclass(frozen=True, kw_only=True)
class Exploration(Unstable, Exploring):
    """Explore at random, and always if no edge is unstable; defaults are Table A.III."""

    name: ClassVar[str] = "exploration"
    summary: ClassVar[str] = "random edges"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return random new edges."""
        n_unstable = int(np.count_nonzero(self.unstable_edges(evidence)))
        draft = EditDraft(evidence.graph)
        self.explore(evidence, rng, draft, self.plan(evidence, rng, n_unstable))
        return draft.finish()
