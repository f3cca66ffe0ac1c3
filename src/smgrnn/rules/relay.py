"""Relay: a node beside each unstable edge, and exploration.  Paper: Sec. III-C1, III-C2, Fig. 2."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.exploration import Exploring
from smgrnn.rules.instability import Unstable
from smgrnn.rules.rule import NewEdges, subset
from smgrnn.validation import Count


@dataclass(frozen=True, kw_only=True)
class AddsNodes(Unstable):
    """Settings of rules that add a node for each unstable edge."""

    max_relays: Count | None = None
    """Most nodes added by one call, drawn from the unstable edges; None is all of them."""

    def count(self, evidence: Evidence, n_unstable: int, edges_each: int) -> int:
        """Return how many nodes one call adds, each with so many edges."""
        n_wanted = n_unstable if self.max_relays is None else min(n_unstable, self.max_relays)
        return evidence.limits.grant(n_wanted, nodes=1, edges=edges_each)


@dataclass(frozen=True, kw_only=True)
class InsertsRelays(AddsNodes, NewEdges):
    """Settings of rules that insert relays."""

    def relays(
        self, evidence: Evidence, rng: np.random.Generator, edges: Ints, n: int
    ) -> GraphEdit:
        """Return relays on some of these edges, as many as for `n` unstable ones."""
        draft, n_relays = EditDraft(evidence.graph), self.count(evidence, n, edges_each=2)
        self.insert(evidence, rng, draft, edges[subset(rng, edges.size, n_relays)])
        return draft.finish()

    def insert(
        self, evidence: Evidence, rng: np.random.Generator, draft: EditDraft, edges: Ints
    ) -> None:
        """Add i -> h_new -> j for each edge i -> j.

        The edge itself stays; the new weights are small, so that the new path disturbs nothing yet.
        """
        graph, draft.cause = evidence.graph, Cause.RELAY
        weights = self.draw_weights(rng, 2 * edges.size).reshape(-1, 2).tolist()
        sources, targets = graph.node_ids[graph.source[edges]], graph.node_ids[graph.target[edges]]
        ends = zip(sources.tolist(), targets.tolist(), weights, strict=True)
        for source, target, (into, out) in ends:
            relay = draft.add_node(source, target)
            draft.add_edge(source, relay, into)
            draft.add_edge(relay, target, out)


@dataclass(frozen=True, kw_only=True)
class Relay(InsertsRelays, Exploring):
    """Insert relays on unstable edges, then explore; defaults are Table A.III."""

    name: ClassVar[str] = "relay"
    summary: ClassVar[str] = "relays on unstable edges, and random edges: the paper's"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return relays and random new edges; N_t and S_t are those before the relays."""
        unstable = np.flatnonzero(self.unstable_edges(evidence))
        n_relays = self.count(evidence, unstable.size, edges_each=2)
        relayed = unstable[subset(rng, unstable.size, n_relays)]
        n_explored = self.plan(evidence, rng, unstable.size)
        draft = EditDraft(evidence.graph)
        self.insert(evidence, rng, draft, relayed)
        self.explore(evidence, rng, draft, n_explored)
        return draft.finish()
