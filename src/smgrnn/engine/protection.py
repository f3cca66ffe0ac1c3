"""Protection: edges that matter to an earlier task learn more slowly and are not removed.

An edge matters by its weight beside the strongest one into the same node, if it lies between inputs
and outputs on edges that matter.  So no rule can orphan it either.  New edges are free.
"""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined
from smgrnn.rules.paper import orphans

LEAST = 0.1  # fraction of the strongest weight into a node below which an edge does not matter


def protection(graph: Graph, fraction: float) -> Floats:
    """Return the fraction by which updates of each edge are reduced (1, n_edges).

    That is `fraction` for the strongest edge into each node, less for weaker ones, and 0 for those
    that do not matter.

    >>> graph = Graph.from_edges(2, 1, edges=[(0, 2, -2.0), (1, 2, 1.0)])
    >>> protection(graph, 0.9).tolist()
    [[0.9, 0.45]]
    """
    size, strongest = np.abs(graph.weight), np.zeros(graph.n_nodes)
    np.maximum.at(strongest, graph.target, size)
    relative = size / np.where(strongest > 0.0, strongest, 1.0)[graph.target]
    is_loose = orphans(graph, relative >= LEAST)
    matters = (relative >= LEAST) & ~is_loose[graph.source] & ~is_loose[graph.target]
    found: Floats = np.where(matters, fraction * relative, 0.0)[None]
    return found


@inlined
def hold_back(weight: Floats, delta: Floats, protection: Floats, first: int, last: int) -> None:
    """Undo a fraction of the last update, in the weights and in `delta`."""
    for edge in range(np.uint64(first), np.uint64(last)):
        taken = protection[0, edge] * delta[edge]
        weight[edge] -= taken
        delta[edge] -= taken
