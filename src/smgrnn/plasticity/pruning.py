"""Pruning: drop weak, stalled edges and the hidden nodes they orphan.

Paper: Sec. III-C3, Eqs. (7)-(8).  Decides only; `graph.edit` changes the graph.
"""

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel


@inlined
def is_weak(mean: float, weight: float, weight_threshold: float, update_threshold: float) -> bool:
    """Return whether an edge has a small weight and a stalled update -- Eq. (7)."""
    return abs(weight) <= weight_threshold and abs(mean) <= update_threshold


@kernel
def weak_edges(
    mean: Floats, weight: Floats, weight_threshold: float, update_threshold: float
) -> Bools:
    """Flag the weak edges, W_t."""
    flags = np.empty(mean.size, dtype=np.bool_)
    for edge in range(mean.size):
        flags[edge] = is_weak(mean[edge], weight[edge], weight_threshold, update_threshold)
    return flags


@kernel
def prune_count(n_weak: int, prune_fraction: float) -> int:
    """Return how many of the weak edges one call removes: η of them, rounded, and at least one."""
    return max(int(np.floor(prune_fraction * n_weak + 0.5)), min(n_weak, 1))


@kernel
def orphans(graph: Graph, edge_stays: Bools) -> Bools:
    """Flag hidden nodes left without incoming or without outgoing edges -- Eq. (8).

    Removing an orphan can orphan its neighbours; this goes on until none is left.
    """
    n_nodes, first_hidden = graph.node_ids.size, graph.n_inputs + graph.n_outputs
    is_orphan = np.zeros(n_nodes, dtype=np.bool_)
    found = True
    while found:
        incoming, outgoing = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
        for edge in range(graph.source.size):
            u, v = graph.source[edge], graph.target[edge]
            if edge_stays[edge] and not is_orphan[u] and not is_orphan[v]:
                outgoing[u] += 1
                incoming[v] += 1
        found = False
        for node in range(first_hidden, n_nodes):
            if not is_orphan[node] and (incoming[node] == 0 or outgoing[node] == 0):
                is_orphan[node] = True
                found = True
    return is_orphan
