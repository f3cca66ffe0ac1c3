"""Statistics that rules ask for, updated at every weight update by compiled code.

The paper's update history is always kept; statistics of nodes, of absent edges and of candidates
only if a rule asks for them.  Their means cover the updates since the last call of the module, so
all of them describe the present graph.

A candidate is a node outside the graph, with random weights from a few sources and no outgoing
edge.  Its activation times the error at an output is the gradient that an edge between them would
have.  Candidates need K ≥ 2, and have hidden nodes as sources if K ≥ 3.

In a network that carries its states a candidate may have a twin, which sends its state of the
iteration before back to it.  Such a pair remembers, so a task whose errors come late can reward it.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.activation import activate
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel
from smgrnn.machine import check_memory
from smgrnn.rules.history import UpdateHistory, alike

ACTIVITY, SQUARE, ERROR, STRAIN = range(4)  # rows of `Statistics.nodes`
LEAST_WATCHED = 500  # updates after which a candidate is judged


class Statistics(NamedTuple):
    """Sums over the updates since the last call; without columns where no rule asks for them."""

    n_updates: Ints  # updates since the last call (1,)
    nodes: Floats  # sums of activity, squared activity, error and squared error (4, n_nodes)
    absent: Ints  # indices of the source and the target of each absent edge (2, n_pairs)
    products: Floats  # sums of error at its target × activity at its source (n_pairs,)

    @classmethod
    def start(cls, graph: Graph, *, nodes: bool, absent_edges: bool) -> Self:
        """Return empty statistics of a graph."""
        absent = absent_pairs(graph) if absent_edges else np.zeros((2, 0), np.int64)
        sums = np.zeros((4, graph.n_nodes if nodes else 0))
        return cls(np.zeros(1, np.int64), sums, absent, np.zeros(absent.shape[1]))

    def forget(self) -> None:
        """Empty the statistics, after a call of the module."""
        self.n_updates[0] = 0
        self.nodes[:] = 0.0
        self.products[:] = 0.0


def absent_pairs(graph: Graph) -> Ints:
    """Return absent edges from non-outputs to non-inputs, by target and source (2, n_pairs)."""
    n_inputs, n_outputs = graph.n_inputs, graph.n_outputs
    shape = graph.n_nodes - n_inputs, graph.n_nodes - n_outputs
    check_memory(40.0 * shape[0] * shape[1], f"Statistics of {shape[0] * shape[1]} absent edges")
    is_absent = np.ones(shape, np.bool_)  # by target, without inputs, and source, without outputs
    hidden = np.arange(n_inputs + n_outputs, graph.n_nodes)
    is_absent[hidden - n_inputs, hidden - n_outputs] = False
    inner = (graph.source < n_inputs) | (graph.source >= n_inputs + n_outputs)
    source, target = graph.source[inner], graph.target[inner] - n_inputs
    is_absent[target, source - n_outputs * (source >= n_inputs)] = False
    target, source = is_absent.nonzero()
    return np.stack([source + n_outputs * (source >= n_inputs), target + n_inputs])


class Candidates(NamedTuple):
    """Candidate nodes and the sums that judge them, by columns."""

    sources: Ints  # indices of the nodes that each has edges from (n_sources, n)
    weights: Floats  # of these edges, then of that from its twin, if there are any (…, n)
    state: Floats  # its state in the last iteration, then its twin's, if there are any (…, n)
    square: Floats  # sum of its squared state over updates (n,)
    n_watched: Ints  # updates that it was watched for (n,)
    products: Floats  # sum of error × state for each output (n_outputs, n)
    is_active: Ints  # 1 while growth may still use them (1,)

    @classmethod
    def start(cls, graph: Graph, n: int, n_sources: int, *, carry_state: bool = False) -> Self:
        """Return candidates without edges: the first call draws them, knowing the inputs."""
        n_sources, n_more = min(n_sources, graph.n_inputs), int(carry_state)
        sources, weights = np.zeros((n_sources, n), np.int64), np.zeros((n_sources + n_more, n))
        sums = np.zeros(n), np.zeros(n, np.int64), np.zeros((graph.n_outputs, n))
        return cls(sources, weights, np.zeros((1 + n_more, n)), *sums, np.ones(1, np.int64))

    def fits(self, graph: Graph, like: "Candidates") -> bool:
        """Return whether candidates from a file fit a graph and have the form of others."""
        if not alike(self, like):
            return False
        absent = -1 - np.arange(len(self.sources))[:, None]
        weights = self.weights[: len(self.sources)]
        used = np.sort(np.where(weights == 0.0, absent, self.sources), axis=0)
        return bool(
            ((self.sources >= 0) & (self.sources < graph.n_nodes)).all()
            and np.isin(self.is_active, (0, 1)).all()
            and (np.diff(used, axis=0) > 0).all()  # or an edge would come twice
        )

    @property
    def has_twin(self) -> Bools:
        """Whether each candidate has a twin (n,)."""
        found: Bools = (self.weights[len(self.sources) :] != 0.0).any(axis=0)
        return found

    @property
    def n_edges(self) -> Ints:
        """Edges that each candidate would bring, but for those to outputs (n,)."""
        found: Ints = np.count_nonzero(self.weights, axis=0) + self.has_twin
        return found

    def scores(self) -> Floats:
        """Return how each correlates with the error at each output (n_outputs, n).

        This is the mean of error × state for a state of mean square 1; 0 for one that was not
        watched long enough, or has no edges left since its source was pruned.
        """
        is_judged = (self.n_watched >= LEAST_WATCHED) & (self.n_edges > 0) & (self.square > 0.0)
        scale = np.sqrt(np.where(is_judged, self.square * self.n_watched, 1.0))
        return np.where(is_judged, self.products / scale, 0.0)

    def carry(self, node_origin: Ints) -> "Candidates":
        """Return the candidates after an edit; one that lost a source loses its edges."""
        index = np.full(int(max(node_origin.max(), self.sources.max(initial=0))) + 1, -1)
        kept = np.flatnonzero(node_origin >= 0)
        index[node_origin[kept]] = kept
        sources = index[self.sources]
        is_lost = sources < 0
        weights = np.where(is_lost.any(axis=0), 0.0, self.weights)
        return self._replace(sources=np.where(is_lost, 0, sources), weights=weights)


class Watched(NamedTuple):
    """All that is recorded at every update, for rules to read."""

    history: UpdateHistory
    statistics: Statistics
    candidates: Candidates


@inlined
def note(watched: Watched, trace: Floats, errors: Floats, activation: int, n_inputs: int) -> None:
    """Add one update, of states (K + 1, n_nodes) and dL/d(sum into each node) (K, n_nodes)."""
    n_iterations = errors.shape[0]
    last = n_iterations - 1
    statistics, candidates = watched.statistics, watched.candidates
    nodes, absent, products = statistics.nodes, statistics.absent, statistics.products
    statistics.n_updates[0] += 1
    for node in range(nodes.shape[1]):
        state, error = trace[last, node], 0.0
        for row in range(n_iterations):
            error += errors[row, node]
        nodes[ACTIVITY, node] += state
        nodes[SQUARE, node] += state * state
        nodes[ERROR, node] += error
        nodes[STRAIN, node] += error * error
    for pair in range(absent.shape[1]):
        source, target = absent[0, pair], absent[1, pair]
        for row in range(n_iterations):
            products[pair] += errors[row, target] * trace[row, source]
    if candidates.state.shape[1] > 0:
        step_candidates(candidates, trace, errors, activation, n_inputs)


@inlined
def step_candidates(
    candidates: Candidates, trace: Floats, errors: Floats, activation: int, n_inputs: int
) -> None:
    """Run the candidates beside the network, and sum their products with the errors."""
    if candidates.is_active[0] == 0:
        return
    sources, weights, state = candidates.sources, candidates.weights, candidates.state
    products = candidates.products
    n_sources, n = sources.shape
    n_iterations = errors.shape[0]
    has_twins = state.shape[0] > 1
    if has_twins and not trace[0, n_inputs:].any():  # the first call of an episode
        state[:] = 0.0
    for row in range(1, n_iterations + has_twins):
        for candidate in range(n):
            total = 0.0
            for k in range(n_sources):
                total += weights[k, candidate] * trace[row - 1, np.uint64(sources[k, candidate])]
            if has_twins:
                total += weights[n_sources, candidate] * state[1, candidate]
                state[1, candidate] = state[0, candidate]
            state[0, candidate] = total
        activate(state, 0, 0, n, activation)
        if has_twins:
            activate(state, 1, 0, n, activation)
        if row == n_iterations:  # its states are those that the next call starts from
            break
        for output in range(products.shape[0]):
            error = errors[row, n_inputs + output]
            for candidate in range(n):
                products[output, candidate] += error * state[0, candidate]
        if row == n_iterations - 1:
            for candidate in range(n):
                candidates.square[candidate] += state[0, candidate] ** 2
    for candidate in range(n):
        candidates.n_watched[candidate] += 1


@kernel
def note_all(
    watched: Watched, traces: Floats, errors: Floats, activation: int, n_inputs: int, states: Floats
) -> None:
    """Add several passes, from Python: traces (n, K + 1, n_nodes) and errors (n, K, n_nodes).

    `states` has the candidates' states of each row of a batch, or nothing if there is one row.
    """
    for index in range(len(traces)):
        row = index % max(len(states), 1)
        if len(states):
            watched.candidates.state[:] = states[row]
        note(watched, traces[index], errors[index], activation, n_inputs)
        if len(states):
            states[row] = watched.candidates.state
