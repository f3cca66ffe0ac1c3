"""Candidates: nodes outside the graph that are watched until one of them is worth adding.

A candidate has random weights from a few sources and no outgoing edge.  The statistics keep how its
activation correlates with the errors at the outputs, which is the gradient that an edge from it
would have.  The best one joins the graph; the worse half is redrawn by the call that judges them.

Candidates matter from the second iteration on, so they need K ≥ 2; they have hidden nodes as
sources where K ≥ 3 lets an output depend on it.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.activation import activate
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.history import alike
from smgrnn.rules.rule import subset

N_JOINED, JOINED_BY, REDRAWN, LEAST_WATCHED = 2, 0.1, 0.5, 500
"""Outputs that a new node is joined to, the strength of these edges, the fraction of candidates
that is redrawn when they are judged, and the updates after which one is."""


class Candidates(NamedTuple):
    """Candidate nodes and the sums that judge them, by columns."""

    sources: Ints
    """Positions of the nodes that each has edges from (n_sources, n)."""
    weights: Floats
    """Weights of these edges; 0 is no edge (n_sources, n)."""
    state: Floats
    """Its state in the last iteration (1, n)."""
    square: Floats
    """Sum of its squared state over updates (n,)."""
    n_watched: Ints
    """Updates that it was watched for (n,)."""
    products: Floats
    """Sum of error × state for each output (n_outputs, n)."""
    is_active: Ints
    """1 while growth may still use them (1,)."""

    @classmethod
    def start(cls, graph: Graph, n: int, n_sources: int) -> Self:
        """Return candidates without edges: the first call draws them, knowing the inputs."""
        n_sources = min(n_sources, graph.n_inputs)
        sources, weights = np.zeros((n_sources, n), np.int64), np.zeros((n_sources, n))
        state, square, n_watched = np.zeros((1, n)), np.zeros(n), np.zeros(n, np.int64)
        products, is_active = np.zeros((graph.n_outputs, n)), np.ones(1, np.int64)
        return cls(sources, weights, state, square, n_watched, products, is_active)

    def fits(self, graph: Graph, like: "Candidates") -> bool:
        """Return whether candidates from a file fit a graph and have the form of others."""
        if not alike(self, like):
            return False
        n_sources = len(self.sources)
        heard = np.where(self.weights == 0.0, -1 - np.arange(n_sources)[:, None], self.sources)
        return bool(
            ((self.sources >= 0) & (self.sources < graph.n_nodes)).all()
            and np.isin(self.is_active, (0, 1)).all()
            and (np.diff(np.sort(heard, axis=0), axis=0) > 0).all()  # or an edge would come twice
        )

    @property
    def n_edges(self) -> Ints:
        """Incoming edges of each candidate (n,)."""
        found: Ints = np.count_nonzero(self.weights, axis=0)
        return found

    def scores(self) -> Floats:
        """Return how each correlates with the error at each output (n_outputs, n).

        This is the mean of error × state for a state of mean square 1; 0 for one that was not
        watched long enough, or has no edges left since its source was pruned away.
        """
        is_judged = (self.n_watched >= LEAST_WATCHED) & (self.n_edges > 0) & (self.square > 0.0)
        scale = np.sqrt(np.where(is_judged, self.square * self.n_watched, 1.0))
        return np.where(is_judged, self.products / scale, 0.0)

    def carry(self, graph: Graph, node_origin: Ints) -> "Candidates":
        """Return the candidates after an edit; one that lost a source has no edges any more."""
        n_before = int(max(node_origin.max(), self.sources.max(initial=0))) + 1
        place = np.full(n_before, -1)
        kept = node_origin >= 0
        place[node_origin[kept]] = np.flatnonzero(kept)
        sources = place[self.sources]
        is_lost = sources < 0
        weights = np.where(is_lost.any(axis=0), 0.0, self.weights)
        return self._replace(sources=np.where(is_lost, 0, sources), weights=weights)


@inlined
def step_candidates(
    candidates: Candidates, trace: Floats, errors: Floats, activation: int, n_inputs: int
) -> None:
    """Run the candidates beside the network, and add up how they correlate with the errors."""
    if candidates.is_active[0] == 0:
        return
    sources, weights, state = candidates.sources, candidates.weights, candidates.state
    products = candidates.products
    n_sources, n = sources.shape
    n_iterations = errors.shape[0]
    for row in range(1, n_iterations):
        for candidate in range(n):
            total = 0.0
            for k in range(n_sources):
                total += weights[k, candidate] * trace[row - 1, np.uint64(sources[k, candidate])]
            state[0, candidate] = total
        activate(state, 0, 0, n, activation)
        for output in range(products.shape[0]):
            error = errors[row, n_inputs + output]
            for candidate in range(n):
                products[output, candidate] += error * state[0, candidate]
    for candidate in range(n):
        candidates.square[candidate] += state[0, candidate] ** 2
        candidates.n_watched[candidate] += 1


def best_candidate(scores: Floats) -> tuple[int, Ints]:
    """Return the candidate that would change most at the outputs it is joined to, and these.

    The candidate is -1 if none changes anything.
    """
    size = np.abs(scores)
    n_joined = min(N_JOINED, len(scores))
    order = np.argsort(-size, axis=0, kind="stable")[:n_joined]
    total = np.take_along_axis(size, order, axis=0).sum(axis=0)
    best = int(np.argmax(total))
    return (best, order[:, best]) if total[best] > 0.0 else (-1, order[:0, 0])


def redraw(
    evidence: Evidence, scores: Floats, joined: int, gain: float, rng: np.random.Generator
) -> Candidates:
    """Return the candidates for the next calls: the joined one and the worse half are redrawn.

    All that were judged are watched from zero; others go on being watched, however short the
    interval between calls is.
    """
    candidates, graph = evidence.candidates, evidence.graph
    copies: Any = (each.copy() for each in candidates)
    new = Candidates(*copies)
    if evidence.goal.is_over:
        new.is_active[0] = 0
        return new
    worth = np.abs(scores).sum(axis=0)
    n_sources, n = new.sources.shape
    is_early = (new.n_watched < LEAST_WATCHED) & (new.n_edges > 0)
    n_nodes = graph.n_inputs if evidence.iterations < 3 else graph.n_nodes - graph.n_outputs
    for place, each in enumerate(np.argsort(worth, kind="stable")):
        if is_early[each]:
            continue
        if worth[each] == 0.0 or each == joined or place < REDRAWN * n:
            chosen = subset(rng, n_nodes, n_sources)
            nodes = np.where(chosen < graph.n_inputs, chosen, chosen + graph.n_outputs)
            strength = np.maximum(np.sqrt(evidence.square[nodes]), 1e-3)
            new.sources[:, each] = nodes
            new.weights[:, each] = gain * rng.standard_normal(n_sources) / strength
        new.square[each], new.n_watched[each], new.products[:, each] = 0.0, 0, 0.0
    return new
