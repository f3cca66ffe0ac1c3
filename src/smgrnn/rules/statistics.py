"""Statistics that rules ask for, updated at every weight update by compiled code.

The update history is always kept, because it is the paper's.  Statistics of nodes, of absent edges
and of candidates are kept only where a rule asks for them.  Their means are over the updates since
the last call of the module, so that all of them are of the present graph.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel
from smgrnn.machine import check_memory
from smgrnn.rules.candidates import Candidates, step_candidates
from smgrnn.rules.history import UpdateHistory

ACTIVITY, SQUARE, ERROR, STRAIN = range(4)  # rows of `Statistics.nodes`


class StepTrace(NamedTuple):
    """One update, as statistics see it."""

    trace: Floats
    """Node states before and after each iteration (K + 1, n_nodes)."""
    errors: Floats
    """dL/d(sum into each node) in each iteration (K, n_nodes)."""
    activation: int
    """Activation of hidden nodes, its index in ACTIVATIONS."""
    n_inputs: int
    """Inputs of the network."""


class Statistics(NamedTuple):
    """Sums over the updates since the last call; without columns where no rule asks for them."""

    n_updates: Ints
    """Updates since the last call (1,)."""
    nodes: Floats
    """Sums of each node's activity, squared activity, error and squared error (4, n_nodes)."""
    absent: Ints
    """Positions of the source and the target of each absent edge (2, n_pairs)."""
    products: Floats
    """Of each absent edge, the sum of error at the target times activity at the source."""

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
    """Return all pairs without an edge, from any node but outputs to any but inputs (2, n_pairs).

    They stand by target and then by source.
    """
    n_nodes, n_inputs, n_outputs = graph.n_nodes, graph.n_inputs, graph.n_outputs
    n_targets, n_sources = n_nodes - n_inputs, n_nodes - n_outputs
    n_pairs = n_targets * n_sources
    check_memory(40.0 * n_pairs, f"Statistics of {n_pairs} absent edges")
    column = np.arange(n_nodes)  # of each source; that of outputs comes last, and is not read
    column[n_inputs + n_outputs :] -= n_outputs
    column[n_inputs : n_inputs + n_outputs] = n_sources
    is_absent: Bools = np.ones((n_targets, n_sources + 1), dtype=np.bool_)
    is_absent[:, n_sources] = False
    np.fill_diagonal(is_absent[n_outputs:, n_inputs:], False)
    first = np.searchsorted(graph.target, n_inputs)  # edges into inputs stand before
    is_absent[graph.target[first:] - n_inputs, column[graph.source[first:]]] = False
    target, source = np.nonzero(is_absent)
    source[source >= n_inputs] += n_outputs
    return np.stack([source, target + n_inputs])


class Watched(NamedTuple):
    """All that is noted at every update, for rules to read."""

    history: UpdateHistory
    statistics: Statistics
    candidates: Candidates


@inlined
def note(statistics: Statistics, candidates: Candidates, step: StepTrace) -> None:
    """Add one update to the statistics that are kept."""
    trace, errors = step.trace, step.errors
    n_iterations = errors.shape[0]
    last = n_iterations - 1
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
        step_candidates(candidates, trace, errors, step.activation, step.n_inputs)


@kernel
def note_all(
    statistics: Statistics,
    candidates: Candidates,
    traces: Floats,
    errors: Floats,
    activation: int,
    n_inputs: int,
) -> None:
    """Add several updates, from Python: traces (n, K + 1, n_nodes) and errors (n, K, n_nodes)."""
    for row in range(len(traces)):
        note(statistics, candidates, StepTrace(traces[row], errors[row], activation, n_inputs))
