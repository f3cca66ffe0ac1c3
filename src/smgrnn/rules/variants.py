"""Variants of the paper's rules, to compare with: other edits, and random choices of edges."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.graph.state import row_starts
from smgrnn.rules.paper import AddsNodes, NewEdges, RelayAlone, Weak
from smgrnn.rules.rule import Evidence, subset


@dataclass(frozen=True, kw_only=True)
class RandomRelay(RelayAlone):
    """Insert as many relays as RelayAlone, on random edges: without Eqs. (2)-(4) only."""

    name: ClassVar[str] = "relay-random"
    summary: ClassVar[str] = "as many relays, on random edges"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return relays on random edges."""
        edges, draft = np.arange(evidence.graph.n_edges), EditDraft(evidence.graph)
        n_unstable = int(np.count_nonzero(self.unstable_edges(evidence)))
        self.insert(rng, draft, self.choose(evidence, rng, edges, n_unstable))
        return draft.finish()


@dataclass(frozen=True, kw_only=True)
class Split(AddsNodes):
    """Split unstable edges, as NEAT adds a node (Stanley and Miikkulainen, 2002).

    i -> j of weight w becomes i -> h of weight 1 and h -> j of weight w.
    """

    name: ClassVar[str] = "split"
    summary: ClassVar[str] = "unstable edges split in two, as NEAT does"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return splits of some of the unstable edges."""
        graph, flags = evidence.graph, self.unstable_edges(evidence)
        unstable = np.flatnonzero(flags & ~evidence.protected)
        n_wanted = self.count(evidence, int(np.count_nonzero(flags)), edges_each=1)
        n_splits = min(n_wanted, unstable.size)
        draft = EditDraft(graph, Cause.SPLIT)
        for old in unstable[subset(rng, unstable.size, n_splits)]:
            source, target = (int(graph.node_ids[end[old]]) for end in (graph.source, graph.target))
            node = draft.add_node(source, target)
            draft.add_edge(source, node, 1.0)
            draft.add_edge(node, target, graph.weight[old])
            draft.remove_edges_at(np.array([old]))
        return draft.finish()


@dataclass(frozen=True, kw_only=True)
class Duplicate(AddsNodes, NewEdges):
    """Copy the source of each unstable edge, so that the copy can take part of the work.

    The copy has the edges into the source, with their weights, and one weak edge to where the
    unstable edge leads.  The copy of an input has an edge of weight 1 from that input.
    """

    name: ClassVar[str] = "duplicate"
    summary: ClassVar[str] = "copies of the nodes that unstable edges leave"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return copies of the sources of some unstable edges, as far as the limits allow."""
        graph = evidence.graph
        unstable = np.flatnonzero(self.unstable_edges(evidence))
        n_copies = self.count(evidence, unstable.size, edges_each=0)
        starts = row_starts(graph.target, graph.n_nodes)
        draft = EditDraft(graph, Cause.DUPLICATE)
        for old in unstable[subset(rng, unstable.size, n_copies)]:
            source, target = graph.source[old], int(graph.node_ids[graph.target[old]])
            is_input = source < graph.n_inputs
            into = range(starts[source], starts[source + 1])
            if evidence.limits.grant(1, edges=2 if is_input else len(into) + 1) == 0:
                break
            same = int(graph.node_ids[source])
            node = draft.add_node(same, target)
            if is_input:
                draft.add_edge(same, node, 1.0)
            else:
                for edge in into:
                    sender = int(graph.node_ids[graph.source[edge]])
                    draft.add_edge(sender, node, graph.weight[edge])
            draft.add_edge(node, target, float(self.draw_weights(rng, 1)[0]))
        return draft.finish()


@dataclass(frozen=True, kw_only=True)
class RandomPruning(Weak):
    """Prune as many edges as Weak, drawn from all: without Eq. (7) only."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "as many as are weak, drawn from all"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Remove random edges."""
        free, n_weak = np.flatnonzero(~evidence.protected), self.weak_edges(evidence).sum()
        draft = EditDraft(evidence.graph, Cause.RANDOM)
        draft.remove_edges_at(free[subset(rng, free.size, self.count(int(n_weak)))])
        return draft.finish()
