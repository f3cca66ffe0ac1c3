"""The paper's rules of growth and pruning, in the order of Sec. III-C.

Rules only decide; `graph.edit.apply` changes the graph.  The schedule, Eq. (9), is in `module`.
All defaults are those of Table A.III.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.edit import ADD_EDGE, REMOVE_NODE, Cause, EditDraft, GraphEdit, removed_edges
from smgrnn.graph.state import Graph
from smgrnn.rules.rule import BuiltInRule, Evidence, subset
from smgrnn.validation import Count, NonNegative, Positive, Probability, Within

Scale = Literal["update", "variance_to_mean", "weight"]
NewWeights = Literal["gaussian", "sign"]

# --- Sec. III-C1: edge-driven growth -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Unstable(BuiltInRule):
    """Settings of rules that read which edges are unstable -- Eqs. (2)-(4)."""

    interval_width: Positive = 0.5
    """Half-width of the fluctuation interval, in standard deviations (λ)."""
    fluctuation_threshold: Positive = 0.1
    """Least normalized fluctuation of an unstable edge (θ_var)."""
    scale: Scale = "variance_to_mean"
    """Quantity that normalizes the fluctuation; "update" is Eq. (3) as printed."""
    epsilon: Positive = 1e-8
    """Keeps the normalization finite (ε)."""

    def unstable_edges(self, evidence: Evidence) -> Bools:
        """Flag edges with enough updates whose direction is unresolved -- Eqs. (2)-(4).

        The fluctuation is σ²/(|μ|+ε)² on the `scale` "update", as Eq. (3) prints it; σ²/(|μ|+ε) on
        "variance_to_mean"; and σ²/(|w|+ε)² on "weight", which the symbol w̃ of Eq. (3) suggests.
        """
        mean, variance = np.abs(evidence.mean), evidence.variance
        crosses_zero = mean <= self.interval_width * np.sqrt(variance)  # 0 in I_k, Eq. (2)
        if self.scale == "update":
            reference = (mean + self.epsilon) ** 2
        elif self.scale == "variance_to_mean":
            reference = mean + self.epsilon
        else:
            reference = (np.abs(evidence.graph.weight) + self.epsilon) ** 2
        fluctuation = variance / reference  # Eq. (3), squared
        is_unstable = crosses_zero & (fluctuation > self.fluctuation_threshold)  # Eq. (4)
        flags: Bools = is_unstable & evidence.is_watched
        return flags


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
class NewEdges(BuiltInRule):
    """Settings of rules that draw the weights of new edges."""

    initial_weight: NonNegative = 0.01
    """Standard deviation of the zero-mean weights of new edges (w_init)."""
    new_weights: NewWeights = "gaussian"
    """Distribution of the weights of new edges: Gaussian, or ± initial_weight at random."""

    def draw_weights(self, rng: np.random.Generator, n: int) -> Floats:
        """Return the weights of n new edges."""
        drawn = rng.standard_normal(n)
        if self.new_weights == "gaussian":
            return self.initial_weight * drawn
        return np.where(drawn > 0.0, self.initial_weight, -self.initial_weight)


@dataclass(frozen=True, kw_only=True)
class RelayAlone(AddsNodes, NewEdges):
    """Insert relays on unstable edges without exploration -- Sec. III-C1, Fig. 2."""

    name: ClassVar[str] = "relay-alone"
    summary: ClassVar[str] = "relays on unstable edges"

    def choose(self, evidence: Evidence, rng: np.random.Generator, edges: Ints, n: int) -> Ints:
        """Draw the edges that get a relay, as many as for `n` unstable ones."""
        return edges[subset(rng, edges.size, self.count(evidence, n, edges_each=2))]

    def insert(self, rng: np.random.Generator, draft: EditDraft, edges: Ints) -> None:
        """Add i -> h_new -> j beside each edge i -> j, at first too weak to change much."""
        graph, draft.cause = draft.graph, Cause.RELAY
        weights = self.draw_weights(rng, 2 * edges.size).reshape(-1, 2).tolist()
        sources, targets = graph.node_ids[graph.source[edges]], graph.node_ids[graph.target[edges]]
        ends = zip(sources.tolist(), targets.tolist(), weights, strict=True)
        for source, target, (into, out) in ends:
            relay = draft.add_node(source, target)
            draft.add_edge(source, relay, into)
            draft.add_edge(relay, target, out)

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return relays on unstable edges."""
        unstable, draft = np.flatnonzero(self.unstable_edges(evidence)), EditDraft(evidence.graph)
        self.insert(rng, draft, self.choose(evidence, rng, unstable, unstable.size))
        return draft.finish()


# --- Sec. III-C2: random exploratory growth ------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Exploration(Unstable, NewEdges):
    """Connect random pairs of nodes, always if no edge is unstable -- Eqs. (5)-(6)."""

    name: ClassVar[str] = "exploration"
    summary: ClassVar[str] = "random edges"

    explore_probability: Probability = 0.25
    """Probability that a growth call explores (p_rand)."""
    explore_ratio: Probability = 0.01
    """New edges per node in a call that explores, at least one edge in all (ρ_rand)."""
    explore_inputs: bool = False
    """Also propose edges into inputs, as Eq. (6) prints; inputs are clamped, so they do nothing."""

    def is_triggered(self, rng: np.random.Generator, n_unstable: int) -> bool:
        """Draw B_t, which is forced to 1 without unstable edges."""
        return rng.random() < self.explore_probability or n_unstable == 0

    def explore(self, evidence: Evidence, rng: np.random.Generator, draft: EditDraft) -> None:
        """Add m_t of the missing edges S_t -- Eqs. (5)-(6).

        S_t is ranked by target and then by source; building it would take memory of order N_t².
        """
        graph, draft.cause = evidence.graph, Cause.EXPLORATION
        n_missing = graph.n_nodes - 1 - np.bincount(graph.target, minlength=graph.n_nodes)
        if not self.explore_inputs:
            n_missing[: graph.n_inputs] = 0
        last = n_missing.cumsum()  # rank after that of the last missing edge into each node
        m = min(max(int(self.explore_ratio * graph.n_nodes), 1), int(last[-1]))  # Eq. (5)
        m = evidence.limits.grant(m, edges=1)
        ranks, weights = subset(rng, int(last[-1]), m), self.draw_weights(rng, m)
        for rank, weight in zip(ranks.tolist(), weights.tolist(), strict=True):
            target = int(last.searchsorted(rank, side="right"))
            is_missing = np.ones(graph.n_nodes, dtype=np.bool_)  # edges into target, Eq. (6)
            into = slice(*graph.target.searchsorted((target, target + 1)))
            is_missing[graph.source[into]] = False
            is_missing[target] = False
            source = np.flatnonzero(is_missing)[rank - last[target]]  # counted from the end
            draft.add_edge(int(graph.node_ids[source]), int(graph.node_ids[target]), weight)

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return random new edges."""
        draft = EditDraft(evidence.graph)
        if self.is_triggered(rng, int(np.count_nonzero(self.unstable_edges(evidence)))):
            self.explore(evidence, rng, draft)
        return draft.finish()


@dataclass(frozen=True, kw_only=True)
class Relay(RelayAlone, Exploration):
    """Insert relays on unstable edges, then explore: the paper's growth."""

    name: ClassVar[str] = "relay"
    summary: ClassVar[str] = "relays on unstable edges, and random edges: the paper's"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return relays and random new edges; N_t and S_t are those before the relays."""
        unstable, draft = np.flatnonzero(self.unstable_edges(evidence)), EditDraft(evidence.graph)
        relayed = self.choose(evidence, rng, unstable, unstable.size)
        explores = self.is_triggered(rng, unstable.size)
        self.insert(rng, draft, relayed)
        if explores:
            self.explore(evidence, rng, draft)
        return draft.finish()


# --- Sec. III-C3: pruning and orphan removal -----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Weak(BuiltInRule):
    """Prune weak, stalled edges -- Eq. (7)."""

    name: ClassVar[str] = "weak"
    summary: ClassVar[str] = "small weights that stopped changing: the paper's"

    weight_threshold: NonNegative = 0.1
    """Largest absolute weight of a weak edge (τ_w)."""
    update_threshold: NonNegative = 1e-4
    """Largest absolute mean update of a weak edge (τ_Δ)."""
    prune_fraction: Annotated[float, Within("(0, 1]")] = 0.8
    """Fraction of the weak edges that one call removes (η_prune)."""

    def weak_edges(self, evidence: Evidence) -> Bools:
        """Flag weak edges W_t -- Eq. (7) -- with enough updates, except protected ones."""
        is_small = np.abs(evidence.graph.weight) <= self.weight_threshold
        is_stalled = np.abs(evidence.mean) <= self.update_threshold
        flags: Bools = is_small & is_stalled & evidence.is_watched & ~evidence.protected
        return flags

    def count(self, n_weak: int) -> int:
        """Return how many edges one call removes: η of the weak ones, rounded, and at least one."""
        return max(int(self.prune_fraction * n_weak + 0.5), min(n_weak, 1))

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Remove a random fraction of the weak edges."""
        weak = np.flatnonzero(self.weak_edges(evidence))
        draft = EditDraft(evidence.graph, Cause.WEAK_EDGE)
        draft.remove_edges_at(weak[subset(rng, weak.size, self.count(weak.size))])
        return draft.finish()


def orphans(graph: Graph, edge_stays: Bools) -> Bools:
    """Flag the orphans U_t: hidden nodes without incoming or without outgoing edges -- Eq. (8)."""
    is_orphan = np.zeros(graph.n_nodes, dtype=np.bool_)
    first_hidden = graph.n_inputs + graph.n_outputs
    if first_hidden == graph.n_nodes:
        return is_orphan
    while True:  # removing an orphan can orphan its neighbors
        stays = edge_stays & ~is_orphan[graph.source] & ~is_orphan[graph.target]
        n_out = np.bincount(graph.source[stays], minlength=graph.n_nodes)
        n_in = np.bincount(graph.target[stays], minlength=graph.n_nodes)
        found = (n_in == 0) | (n_out == 0)
        found[:first_hidden] = False
        if found.sum() == is_orphan.sum():
            return is_orphan
        is_orphan |= found


def with_orphans(graph: Graph, edit: GraphEdit) -> GraphEdit:
    """Return a pruning edit that also removes the orphans it leaves, and the edges at them."""
    stays = np.ones(graph.n_edges, dtype=np.bool_)
    stays[removed_edges(graph, edit)] = False
    is_orphan = orphans(graph, stays)
    if not is_orphan.any():
        return edit
    kept = edit.rows[edit.rows[:, 0] == ADD_EDGE, 3:].ravel()  # ends of edges that a rule adds
    gone = edit.rows[edit.rows[:, 0] == REMOVE_NODE, 2]
    for nodes in (kept[np.isin(kept, graph.node_ids)], gone):
        is_orphan[graph.node_ids.searchsorted(nodes)] = False
    draft = EditDraft(graph, Cause.ORPHAN)
    is_loose = stays & (is_orphan[graph.source] | is_orphan[graph.target])
    draft.remove_edges_at(np.flatnonzero(is_loose))
    for node in graph.node_ids[is_orphan].tolist():
        draft.note(REMOVE_NODE, node, -1, -1, 0.0)
    rows, weight = draft.finish()
    return GraphEdit(np.concatenate([edit.rows, rows]), np.append(edit.weight, weight))
