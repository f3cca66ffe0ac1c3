"""Frugal rules: grow where the gradient is largest, keep the edges that contribute most.

Growth adds the best of many candidate nodes, and the absent edges with the largest gradient: the
mean of error at the target × activity at the source.  Pruning removes the edges that contribute
least, which is |weight| × the root mean square of the source, until the graph has its size.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.rules.paper import orphans
from smgrnn.rules.rule import BuiltInRule, Evidence, Statistic, subset
from smgrnn.rules.statistics import LEAST_WATCHED, Candidates
from smgrnn.validation import Count, Positive, Probability

YOUTH = 1000  # updates for which an edge is young
N_JOINED, JOINED_BY = 2, 0.1  # outputs that a new node is joined to, and by which strength
REDRAWN = 0.5  # fraction of the candidates that is redrawn when they are judged
REMEMBERING = 0.5  # fraction of the candidates with a twin, in a network that carries its states
MOST_ADDED = 2  # absent edges that one call adds at most
SWAP_FACTOR, SWAP_LEAST = 2.0, 0.01
"""An edge replaces another if it promises this many times the other's worth, and this fraction of
the error at the outputs."""


def weakest(evidence: Evidence, contribution: Floats, can_go: Bools) -> int:
    """Return the edge that contributes least of those that may go, young ones last; -1 if none."""
    old = can_go & (evidence.history.ages() >= YOUTH)
    edges = np.flatnonzero(old if old.any() else can_go)
    return int(edges[np.argmin(contribution[edges])]) if edges.size else -1


def contributions(evidence: Evidence) -> Floats:
    """Return how much each edge contributes (n_edges,); before any update, its absolute weight."""
    size = np.abs(evidence.graph.weight)
    if evidence.n_updates == 0:
        return size
    return size * np.sqrt(evidence.square[evidence.graph.source])


def pulls(evidence: Evidence) -> Floats:
    """Return the gradient of each absent edge for a source of mean square 1 (n_pairs,)."""
    square, pull = evidence.square[evidence.absent[0]], np.abs(evidence.absent_gradient)
    found: Floats = np.divide(pull, np.sqrt(square), out=np.zeros(pull.size), where=square > 0.0)
    return found


def best_swap(evidence: Evidence, pull: Floats) -> int:
    """Return the absent edge that is worth more than the weakest of the graph; -1 without any.

    Both are worth the change in the loss by a step to the minimum, to second order, if the
    curvature were the mean square of the gradient.
    """
    graph, strain = evidence.graph, evidence.strain[evidence.absent[1]]
    worth = np.divide(pull**2, 2.0 * strain, out=np.zeros(pull.size), where=strain > 0.0)
    if not worth.size:
        return -1
    best = int(np.argmax(worth))
    edge, loss = weakest(evidence, contributions(evidence), ~evidence.protected), 0.0
    if edge >= 0:
        square, at_target = evidence.square[graph.source[edge]], evidence.strain[graph.target[edge]]
        loss = 0.5 * graph.weight[edge] ** 2 * square * at_target
    outputs = slice(graph.n_inputs, graph.n_inputs + graph.n_outputs)
    at_outputs = float(sum(evidence.strain[outputs].tolist()))
    least = max(SWAP_FACTOR * loss, SWAP_LEAST * at_outputs, 0.0)
    return best if worth[best] > least else -1


def add_absent(evidence: Evidence, draft: EditDraft, n_added: int) -> None:
    """Add to `n_added` edges those with the largest gradient, with weight 0, or one to swap."""
    graph, goal, draft.cause = evidence.graph, evidence.goal, Cause.GRADIENT
    n_free, pull = evidence.limits.edges - n_added, pulls(evidence)
    chosen: Any = []
    if goal.grows:
        n_wanted = min(MOST_ADDED, max(goal.size - graph.n_edges - n_added, 0) + goal.slack, n_free)
        order = np.argsort(-pull, kind="stable")[: max(n_wanted, 0)]
        chosen = order[pull[order] > 0.0]
    elif goal.swaps and n_free > 0 and (swap := best_swap(evidence, pull)) >= 0:
        chosen = [swap]
    for pair in chosen:
        source, target = graph.node_ids[evidence.absent[:, pair]].tolist()
        draft.add_edge(source, target, 0.0)


@dataclass(frozen=True, kw_only=True)
class Gradient(BuiltInRule):
    """Add the absent edges with the largest gradient."""

    name: ClassVar[str] = "gradient"
    summary: ClassVar[str] = "the absent edges with the largest gradient"
    statistics: ClassVar[tuple[Statistic, ...]] = ("nodes", "absent_edges")
    follows_size: ClassVar[bool] = True

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Return new edges, or one that is to replace another."""
        draft = EditDraft(evidence.graph)
        add_absent(evidence, draft, 0)
        return draft.finish()


@dataclass(frozen=True, kw_only=True)
class BestCandidate(BuiltInRule):
    """Add the best of many candidate nodes, and redraw the worse half of the others."""

    name: ClassVar[str] = "candidates"
    summary: ClassVar[str] = "the best of many candidate nodes"
    statistics: ClassVar[tuple[Statistic, ...]] = ("nodes", "candidates")
    follows_size: ClassVar[bool] = True

    n_candidates: Count = 32
    """Candidate nodes that are watched."""
    candidate_sources: Count = 3
    """Nodes that a candidate has edges from."""
    candidate_gain: Positive = 2.0
    """Standard deviation of a candidate's weights, for sources with a mean square of 1."""

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> tuple[GraphEdit, Candidates]:
        """Return a new node and new edges, and the candidates for the next calls."""
        draft, scores = EditDraft(evidence.graph), evidence.candidates.scores()
        joined, n_added = self._join(evidence, draft, scores)
        if "absent_edges" in self.statistics:
            add_absent(evidence, draft, n_added)
        return draft.finish(), self._redraw(evidence, scores, joined, rng)

    def _join(self, evidence: Evidence, draft: EditDraft, scores: Floats) -> tuple[int, int]:
        """Add the candidate that would change the outputs most, if size and limits allow it.

        Return it, or -1, and the number of its edges.  Those out of it are weak, and of the sign
        that lowers the loss.
        """
        graph, goal, candidates = evidence.graph, evidence.goal, evidence.candidates
        size = np.abs(scores)
        order = np.argsort(-size, axis=0, kind="stable")[: min(N_JOINED, len(scores))]
        total = np.take_along_axis(size, order, axis=0).sum(axis=0)
        joined = int(np.argmax(total))
        outputs = order[:, joined]
        n_edges = int(candidates.n_edges[joined]) + outputs.size
        n_free = min(max(goal.size - graph.n_edges, 0) + goal.slack, evidence.limits.edges)
        has_twin = bool(candidates.has_twin[joined])
        may_add = goal.grows and n_edges <= n_free and evidence.limits.nodes > has_twin
        if not (may_add and total[joined] > 0.0):
            return -1, 0
        draft.cause = Cause.CANDIDATE
        targets = graph.node_ids[graph.n_inputs + outputs].tolist()
        node = draft.add_node(-1, targets[0])
        twin = draft.add_node(-1, node) if has_twin else -1
        sources, weights = candidates.sources[:, joined], candidates.weights[:, joined]
        for source, weight in zip(graph.node_ids[sources].tolist(), weights.tolist(), strict=False):
            if weight != 0.0:
                draft.add_edge(source, node, weight)
        if has_twin:
            draft.add_edge(node, twin, 1.0)
            draft.add_edge(twin, node, float(weights[-1]))
        strength = JOINED_BY / np.sqrt(candidates.square[joined] / candidates.n_watched[joined])
        for target, score in zip(targets, scores[outputs, joined].tolist(), strict=True):
            draft.add_edge(node, target, -np.sign(score) * strength)
        return joined, n_edges

    def _redraw(
        self, evidence: Evidence, scores: Floats, joined: int, rng: np.random.Generator
    ) -> Candidates:
        """Return the candidates for the next calls: the joined one and the worse half are redrawn.

        All that were judged are watched from zero; the others continue, however short the interval
        between calls is.
        """
        graph = evidence.graph
        copies: Any = (each.copy() for each in evidence.candidates)
        new = Candidates(*copies)
        if evidence.goal.is_over:
            new.is_active[0] = 0
            return new
        worth = np.abs(scores).sum(axis=0)
        n_sources, n = new.sources.shape
        is_early = (new.n_watched < LEAST_WATCHED) & (new.n_edges > 0)
        n_nodes = graph.n_inputs if evidence.iterations < 3 else graph.n_nodes - graph.n_outputs
        for rank, each in enumerate(np.argsort(worth, kind="stable")):
            if is_early[each]:
                continue
            if worth[each] == 0.0 or each == joined or rank < REDRAWN * n:
                chosen = subset(rng, n_nodes, n_sources)
                nodes = np.where(chosen < graph.n_inputs, chosen, chosen + graph.n_outputs)
                strength = np.maximum(np.sqrt(evidence.square[nodes]), 1e-3)
                new.sources[:, each] = nodes
                drawn = rng.standard_normal(n_sources)
                new.weights[:n_sources, each] = self.candidate_gain * drawn / strength
                if len(new.state) > 1:
                    new.weights[n_sources, each], new.state[:, each] = 0.0, 0.0
                    if rng.random() < REMEMBERING:  # one source, by a mean over 2 to 32 calls
                        new.weights[:n_sources, each] *= np.arange(n_sources) == rng.integers(
                            n_sources
                        )
                        new.weights[n_sources, each] = 1.0 - 2.0 ** -rng.uniform(1.0, 5.0)
            new.square[each], new.n_watched[each], new.products[:, each] = 0.0, 0, 0.0
        return new


@dataclass(frozen=True, kw_only=True)
class Frugal(BestCandidate):
    """Add the best of many candidate nodes, and the absent edges with the largest gradient."""

    name: ClassVar[str] = "frugal"
    summary: ClassVar[str] = "the best of many candidate nodes, and of the absent edges"
    statistics: ClassVar[tuple[Statistic, ...]] = ("nodes", "absent_edges", "candidates")


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


def release(evidence: Evidence, stays: Bools) -> Bools:
    """Return the edges that stay, without those of hidden nodes that have no effect any more.

    These are nodes without edges in or out, and nodes all of whose sources are constant.
    """
    graph, square = evidence.graph, evidence.square
    is_constant = np.zeros(graph.n_nodes, dtype=np.bool_)
    if evidence.n_updates > 1:  # one update has no variance
        is_constant = square - evidence.activity**2 <= 1e-12 * square
    is_driven = np.zeros(graph.n_nodes, dtype=np.bool_)
    is_driven[graph.target[stays & ~is_constant[graph.source]]] = True
    is_driven[: graph.n_inputs + graph.n_outputs] = True
    stays = stays & (is_driven[graph.target] | evidence.protected)
    is_orphan = orphans(graph, stays)
    left: Bools = stays & ~is_orphan[graph.source] & ~is_orphan[graph.target]
    return left
