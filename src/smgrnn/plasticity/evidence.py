"""Evidence: everything that a growth or pruning rule may read, in one tuple.

The update history is always kept, because it is the paper's.  Statistics of nodes and of pairs of
nodes are kept only where a chosen rule reads them.  Their means are over the updates since the last
call of the module, so that all of them are of the graph as it is.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel
from smgrnn.plasticity.history import UpdateHistory, window_statistics
from smgrnn.plasticity.size import Goal

ACTIVITY, SQUARE, ERROR, STRAIN = range(4)  # rows of `Statistics.nodes`


class Memory(NamedTuple):
    """Arrays that a rule owns, saved with the run; a column is one thing that the rule keeps."""

    ids: Ints
    """Whole numbers, such as the nodes that a candidate listens to (rows, columns)."""
    values: Floats
    """Numbers, such as its weights (rows, columns)."""

    @classmethod
    def none(cls) -> Self:
        """Return the memory of a rule that keeps nothing."""
        return cls(np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0)))


class Moment(NamedTuple):
    """One update, as a rule that keeps statistics of its own sees it."""

    trace: Floats
    """Node states before and after each iteration (K + 1, n_nodes)."""
    errors: Floats
    """dL/d(sum into each node) in each iteration (K, n_nodes)."""
    activation: int
    """Activation of hidden nodes, its place in ACTIVATIONS."""


class Statistics(NamedTuple):
    """Sums over the updates since the last call; without columns where no rule reads them."""

    n_updates: Ints
    """Updates since the last call (1,)."""
    nodes: Floats
    """Sums of each node's activity, squared activity, error and squared error (4, n_nodes)."""
    pairs: Ints
    """Positions of the source and the target of each pair that a rule named (2, n_pairs)."""
    products: Floats
    """Of each pair, the sum of error at the target times activity at the source (n_pairs,)."""

    @classmethod
    def start(cls, n_nodes: int, pairs: Ints) -> Self:
        """Return empty statistics of `n_nodes` nodes and of these pairs."""
        n_updates, n_pairs = np.zeros(1, np.int64), pairs.shape[1]
        return cls(n_updates, np.zeros((4, n_nodes)), pairs, np.zeros(n_pairs))


class Evidence(NamedTuple):
    """Everything a rule may read when the module is called."""

    graph: Graph
    """The graph before the call."""
    history: UpdateHistory
    """The last updates of each edge."""
    spared: Bools
    """Edges that must not be removed, because an earlier task needs them (n_edges,)."""
    call: int
    """Number of the call, from 1."""
    goal: Goal
    """The size to aim at now."""
    counts: Ints
    """Updates in each edge's window (n_edges,)."""
    mean: Floats
    """Mean of the updates in each edge's window, μ of Eq. (1) (n_edges,)."""
    variance: Floats
    """Their population variance, σ² of Eq. (1) (n_edges,)."""
    n_updates: int
    """Updates since the last call, over which all means below are."""
    activity: Floats
    """Mean state of each node that the outputs receive, which is the one before the last iteration;
    empty unless kept, as the next three are (n_nodes,)."""
    square: Floats
    """Mean squared state of each node (n_nodes,)."""
    error: Floats
    """Mean of dL/d(sum into each node), summed over iterations (n_nodes,)."""
    strain: Floats
    """Mean square of the same (n_nodes,)."""
    pairs: Ints
    """Positions of the source and the target of each pair that the rule named (2, n_pairs)."""
    product: Floats
    """Mean of the error at the target times the activity at the source: the gradient that an edge
    of weight 0 would have there (n_pairs,)."""
    memory: Memory
    """The arrays that the rule owns; it may change their content."""


@kernel
def gather(
    graph: Graph,
    history: UpdateHistory,
    statistics: Statistics,
    memory: Memory,
    spared: Bools,
    goal: Goal,
    call: int,
) -> Evidence:
    """Return the evidence of a call: the means of all statistics that were kept."""
    counts, mean, variance = window_statistics(history)
    nodes = statistics.nodes / max(statistics.n_updates[0], 1)
    product = statistics.products / max(statistics.n_updates[0], 1)
    return Evidence(
        graph,
        history,
        spared,
        call,
        goal,
        counts,
        mean,
        variance,
        statistics.n_updates[0],
        nodes[ACTIVITY],
        nodes[SQUARE],
        nodes[ERROR],
        nodes[STRAIN],
        statistics.pairs,
        product,
        memory,
    )


@inlined
def note(statistics: Statistics, moment: Moment) -> None:
    """Add one update to the statistics that are kept."""
    trace, errors = moment.trace, moment.errors
    n_iterations = errors.shape[0]
    heard = n_iterations - 1
    nodes, pairs, products = statistics.nodes, statistics.pairs, statistics.products
    statistics.n_updates[0] += 1
    for node in range(nodes.shape[1]):
        state, error = trace[heard, node], 0.0
        for row in range(n_iterations):
            error += errors[row, node]
        nodes[ACTIVITY, node] += state
        nodes[SQUARE, node] += state * state
        nodes[ERROR, node] += error
        nodes[STRAIN, node] += error * error
    for pair in range(pairs.shape[1]):
        source, target = pairs[0, pair], pairs[1, pair]
        for row in range(n_iterations):
            products[pair] += errors[row, target] * trace[row, source]


@kernel
def forget(statistics: Statistics) -> None:
    """Empty the statistics, after a call of the module."""
    statistics.n_updates[0] = 0
    statistics.nodes[:] = 0.0
    statistics.products[:] = 0.0
