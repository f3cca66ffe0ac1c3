"""Frugal growth: candidate nodes, and the absent edges with the largest gradient.

The mean of error at the target × activity at the source is the gradient that an absent edge would
have.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.rules.candidates import JOINED_BY, Candidates, best_candidate, redraw
from smgrnn.rules.contribution import contributions, weakest
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.rule import BuiltInRule, Statistic
from smgrnn.validation import Count, Positive

MOST_ADDED = 2
"""Absent edges that one call adds at most."""
SWAP_FACTOR, SWAP_LEAST = 2.0, 0.01
"""An edge takes another's place if it promises this many times the other's worth, and this fraction
of the error at the outputs."""


def pulls(evidence: Evidence) -> Floats:
    """Return the gradient of each absent edge for a source of mean square 1 (n_pairs,)."""
    square = evidence.square[evidence.absent[0]]
    scale = np.sqrt(np.where(square > 0.0, square, 1.0))
    return np.where(square > 0.0, np.abs(evidence.absent_gradient) / scale, 0.0)


def best_swap(evidence: Evidence, pull: Floats) -> int:
    """Return the absent edge that is worth more than the weakest of the graph; -1 if none is.

    Both are worth what a step to the minimum would change in the loss, to second order, if the
    curvature were the mean square of the gradient.
    """
    graph = evidence.graph
    strain = evidence.strain[evidence.absent[1]]
    worth = np.where(strain > 0.0, pull**2 / np.where(strain > 0.0, 2.0 * strain, 1.0), 0.0)
    if not worth.size:
        return -1
    best = int(np.argmax(worth))
    edge, loss = weakest(evidence, contributions(evidence), ~evidence.protected), 0.0
    if edge >= 0:
        square, at_target = evidence.square[graph.source[edge]], evidence.strain[graph.target[edge]]
        loss = 0.5 * graph.weight[edge] ** 2 * square * at_target
    least = max(SWAP_FACTOR * loss, SWAP_LEAST * evidence.output_strain, 0.0)
    return best if worth[best] > least else -1


def choose_absent(evidence: Evidence, n_taken: int) -> Ints:
    """Return the absent edges to add in this call; `n_taken` edges are added already."""
    goal, n_edges = evidence.goal, evidence.graph.n_edges + n_taken
    room, pull = evidence.limits.edges - n_taken, pulls(evidence)
    if not goal.grows:
        swap = best_swap(evidence, pull) if goal.swaps and room > 0 else -1
        return np.array([swap] if swap >= 0 else [], dtype=np.int64)
    n_wanted = min(MOST_ADDED, max(goal.size - n_edges, 0) + goal.slack, room)
    order = np.argsort(-pull, kind="stable")[: max(n_wanted, 0)]
    return order[pull[order] > 0.0]


def add_absent(evidence: Evidence, draft: EditDraft, n_taken: int) -> None:
    """Add the absent edges with the largest gradient, with weight 0."""
    graph, draft.cause = evidence.graph, Cause.GRADIENT
    for pair in choose_absent(evidence, n_taken):
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
        """Return new edges, or one that is to take the place of another."""
        draft = EditDraft(evidence.graph)
        add_absent(evidence, draft, 0)
        return draft.finish()


@dataclass(frozen=True, kw_only=True)
class FromCandidates(BuiltInRule):
    """Settings of rules that watch candidate nodes."""

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
        joined, n_taken = self.join(evidence, draft, scores)
        if "absent_edges" in self.statistics:
            add_absent(evidence, draft, n_taken)
        return draft.finish(), redraw(evidence, scores, joined, self.candidate_gain, rng)

    def join(self, evidence: Evidence, draft: EditDraft, scores: Floats) -> tuple[int, int]:
        """Add the best candidate if there is room; return it, or -1, and the edges it brings.

        The edges out of it are weak, and of the sign that lowers the loss.
        """
        graph, goal, candidates = evidence.graph, evidence.goal, evidence.candidates
        joined, outputs = best_candidate(scores) if goal.grows else (-1, scores[:0, 0])
        if joined < 0:
            return -1, 0
        n_edges = int(candidates.n_edges[joined]) + outputs.size
        room = min(max(goal.size - graph.n_edges, 0) + goal.slack, evidence.limits.edges)
        if n_edges > room or evidence.limits.nodes == 0:
            return -1, 0
        draft.cause = Cause.CANDIDATE
        targets = graph.node_ids[graph.n_inputs + outputs].tolist()
        node = draft.add_node(-1, targets[0])
        sources, weights = candidates.sources[:, joined], candidates.weights[:, joined]
        for source, weight in zip(graph.node_ids[sources].tolist(), weights.tolist(), strict=True):
            if weight != 0.0:
                draft.add_edge(source, node, weight)
        strength = JOINED_BY / np.sqrt(candidates.square[joined] / candidates.n_watched[joined])
        for target, score in zip(targets, scores[outputs, joined].tolist(), strict=True):
            draft.add_edge(node, target, -np.sign(score) * strength)
        return joined, n_edges


@dataclass(frozen=True, kw_only=True)
class BestCandidate(FromCandidates):
    """Add the best of many candidate nodes."""

    name: ClassVar[str] = "candidates"
    summary: ClassVar[str] = "the best of many candidate nodes"
    statistics: ClassVar[tuple[Statistic, ...]] = ("nodes", "candidates")


@dataclass(frozen=True, kw_only=True)
class Frugal(FromCandidates):
    """Add the best of many candidate nodes, and the absent edges with the largest gradient."""

    name: ClassVar[str] = "frugal"
    summary: ClassVar[str] = "the best of many candidate nodes, and of the absent edges"
    statistics: ClassVar[tuple[Statistic, ...]] = ("nodes", "absent_edges", "candidates")
