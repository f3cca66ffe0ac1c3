"""Evidence: everything that a growth or pruning rule may read, in one tuple.

The update history is always kept, because it is the paper's.  Statistics of nodes and of pairs of
nodes are kept only where a chosen rule reads them.  Their means forget slowly: after `horizon`
updates an observation weighs about a third of a new one.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel
from smgrnn.plasticity.history import UpdateHistory, window_statistics

COUNT, ACTIVITY, SQUARE, ERROR = range(4)  # rows of `Statistics.nodes`


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


class Statistics(NamedTuple):
    """Running sums over recent updates; tables without columns where no rule reads them."""

    nodes: Floats
    """Of each node, the number of updates and the sums of its activity, squared activity and error,
    all decayed (4, n_nodes)."""
    pairs: Ints
    """Positions of the source and the target of each pair that a rule named (2, n_pairs)."""
    products: Floats
    """Of each pair, the number of updates and the sum of error at the target times activity at the
    source, both decayed (2, n_pairs)."""

    @classmethod
    def start(cls, n_nodes: int, pairs: Ints) -> Self:
        """Return empty statistics of `n_nodes` nodes and of these pairs."""
        return cls(np.zeros((4, n_nodes)), pairs, np.zeros((2, pairs.shape[1])))


class Evidence(NamedTuple):
    """Everything a rule may read when the module is called."""

    graph: Graph
    """The graph before the call."""
    history: UpdateHistory
    """The last updates of each edge."""
    call: int
    """Number of the call, from 1."""
    counts: Ints
    """Updates in each edge's window (n_edges,)."""
    mean: Floats
    """Mean of the updates in each edge's window, μ of Eq. (1) (n_edges,)."""
    variance: Floats
    """Their population variance, σ² of Eq. (1) (n_edges,)."""
    activity: Floats
    """Mean state of each node that the outputs receive, which is the one before the last iteration;
    empty unless kept (n_nodes,)."""
    square: Floats
    """Mean squared state of each node; empty unless kept (n_nodes,)."""
    error: Floats
    """Mean of dL/d(sum into each node), summed over iterations; empty unless kept (n_nodes,)."""
    pairs: Ints
    """Positions of the source and the target of each pair that the rule named (2, n_pairs)."""
    product: Floats
    """Mean of the error at the target times the activity at the source: the gradient that an edge
    of weight 0 would have there (n_pairs,)."""
    memory: Memory
    """The arrays that the rule owns; it may change their values."""


@kernel
def gather(
    graph: Graph, history: UpdateHistory, statistics: Statistics, memory: Memory, call: int
) -> Evidence:
    """Return the evidence of a call: the means of all statistics that were kept."""
    counts, mean, variance = window_statistics(history)
    n_nodes, n_pairs = statistics.nodes.shape[1], statistics.pairs.shape[1]
    activity, square, error = np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes)
    for node in range(n_nodes):
        past = max(statistics.nodes[COUNT, node], 1e-300)  # a new node has no past, and sums of 0
        activity[node] = statistics.nodes[ACTIVITY, node] / past
        square[node] = statistics.nodes[SQUARE, node] / past
        error[node] = statistics.nodes[ERROR, node] / past
    product = np.empty(n_pairs)
    for pair in range(n_pairs):
        past = max(statistics.products[0, pair], 1e-300)
        product[pair] = statistics.products[1, pair] / past
    return Evidence(
        graph,
        history,
        call,
        counts,
        mean,
        variance,
        activity,
        square,
        error,
        statistics.pairs,
        product,
        memory,
    )


@inlined
def note(statistics: Statistics, moment: Moment, horizon: int) -> None:
    """Add one update to the statistics that are kept."""
    trace, errors = moment.trace, moment.errors
    n_iterations = errors.shape[0]
    heard, keep = n_iterations - 1, 1.0 - 1.0 / horizon
    nodes, pairs, products = statistics.nodes, statistics.pairs, statistics.products
    for node in range(nodes.shape[1]):
        state, error = trace[heard, node], 0.0
        for row in range(n_iterations):
            error += errors[row, node]
        nodes[COUNT, node] = nodes[COUNT, node] * keep + 1.0
        nodes[ACTIVITY, node] = nodes[ACTIVITY, node] * keep + state
        nodes[SQUARE, node] = nodes[SQUARE, node] * keep + state * state
        nodes[ERROR, node] = nodes[ERROR, node] * keep + error
    for pair in range(pairs.shape[1]):
        source, target = pairs[0, pair], pairs[1, pair]
        product = 0.0
        for row in range(n_iterations):
            product += errors[row, target] * trace[row, source]
        products[0, pair] = products[0, pair] * keep + 1.0
        products[1, pair] = products[1, pair] * keep + product


@kernel
def carry_statistics(statistics: Statistics, node_origin: Ints, pairs: Ints) -> Statistics:
    """Return the statistics after an edit: nodes keep theirs, and so do pairs named once more.

    Pairs stand in row order, by target and then by source, and an edit keeps the order of the nodes
    that stay, so the two lists of pairs are walked side by side.
    """
    n_kept, n_nodes = statistics.nodes.shape[1], node_origin.size
    nodes = np.zeros((4, n_nodes if n_kept > 0 else 0))
    for node in range(nodes.shape[1]):
        if node_origin[node] >= 0:
            for row in range(4):
                nodes[row, node] = statistics.nodes[row, node_origin[node]]
    products, former, old = np.zeros((2, pairs.shape[1])), statistics.pairs, 0
    for pair in range(pairs.shape[1]):
        source, target = node_origin[pairs[0, pair]], node_origin[pairs[1, pair]]
        if source < 0 or target < 0:
            continue
        while old < former.shape[1] and (
            former[1, old] < target or (former[1, old] == target and former[0, old] < source)
        ):
            old += 1
        if old < former.shape[1] and former[1, old] == target and former[0, old] == source:
            products[0, pair] = statistics.products[0, old]
            products[1, pair] = statistics.products[1, old]
    return Statistics(nodes, pairs, products)
