"""Random exploratory growth: edges between nodes that are not connected yet.

Paper: Sec. III-C2, Eqs. (5)-(6).  Decides only; `graph.edit` changes the graph.
"""

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.state import Graph, rank, row_starts
from smgrnn.kernels import kernel


@kernel
def batch_size(n_nodes: int, explore_ratio: float) -> int:
    """Return the number of edges one exploration proposes -- Eq. (5)."""
    return max(int(np.floor(explore_ratio * n_nodes)), 1)


@kernel
def missing_before(graph: Graph, explore_inputs: bool) -> Ints:
    """Count the missing edges S_t -- Eq. (6) -- that end before each node (n_nodes + 1,).

    The last entry is |S_t|.  Inputs count as targets only with `explore_inputs`.
    """
    n_nodes = graph.node_ids.size
    starts = row_starts(graph.target, n_nodes)
    before = np.zeros(n_nodes + 1, dtype=np.int64)
    for target in range(n_nodes):
        missing = 0
        if explore_inputs or target >= graph.n_inputs:
            missing = n_nodes - 1 - (starts[target + 1] - starts[target])
        before[target + 1] = before[target] + missing
    return before


@kernel
def missing_edges(graph: Graph, before: Ints, ranks: Ints) -> Ints:
    """Return the missing edges with these ranks in row order, as position pairs (n, 2).

    The work is that of walking the rows named; nothing the size of V × V is built.
    """
    starts = row_starts(graph.target, graph.node_ids.size)
    pairs = np.empty((ranks.size, 2), dtype=np.int64)
    for k in range(ranks.size):
        target = rank(before, 0, before.size, ranks[k] + 1) - 1
        source = ranks[k] - before[target]  # each taken node up to it, and the target, moves it on
        is_self_passed = False
        for edge in range(starts[target], starts[target + 1]):
            taken = graph.source[edge]
            if not is_self_passed and target < taken:
                is_self_passed = True
                if target <= source:
                    source += 1
            if taken > source:
                break
            source += 1
        if not is_self_passed and target <= source:
            source += 1
        pairs[k, 0], pairs[k, 1] = source, target
    return pairs
