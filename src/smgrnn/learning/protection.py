"""Protection: edges that matter to what was learned before learn more slowly and are not pruned.

An edge matters by its weight beside the strongest one into the same node.  New edges are free.
"""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel

LEAST = 0.1
"""Share of the strongest weight into a node below which an edge does not matter."""
SHIELD = 1e6
"""The weight that the pruning rule sees of a protected edge, which no edge has."""


def protection(graph: Graph, share: float) -> Floats:
    """Return the share by which updates of each edge are held back (1, n_edges).

    That is `share` for the strongest edge into each node, less for weaker ones, and 0 for those
    that do not matter.

    >>> graph = Graph.from_edges(2, 1, edges=[(0, 2, -2.0), (1, 2, 1.0)])
    >>> protection(graph, 0.9).tolist()
    [[0.9, 0.45]]
    """
    size, strongest = np.abs(graph.weight), np.zeros(graph.n_nodes)
    np.maximum.at(strongest, graph.target, size)
    relative = size / np.where(strongest > 0.0, strongest, 1.0)[graph.target]
    found: Floats = np.where(relative >= LEAST, share * relative, 0.0)[None]
    return found


@inlined
def hold_back(weight: Floats, delta: Floats, protection: Floats, first: int, last: int) -> None:
    """Take a share of the last update back, and out of the changes in `delta`."""
    for edge in range(np.uint64(first), np.uint64(last)):
        taken = protection[0, edge] * delta[edge]
        weight[edge] -= taken
        delta[edge] -= taken


@kernel
def shielded(graph: Graph, protection: Floats) -> Graph:
    """Return the graph as the pruning rule sees it: protected edges carry more than any other."""
    weight = graph.weight.copy()
    for edge in range(weight.size):
        if protection[0, edge] > 0.0:
            weight[edge] = SHIELD
    return Graph(
        graph.n_inputs,
        graph.n_outputs,
        graph.node_ids,
        graph.source,
        graph.target,
        weight,
        graph.edge_ids,
        graph.next_node_id,
        graph.next_edge_id,
    )
