"""Orphans: hidden nodes without edges in, or without edges out.  Paper: Sec. III-C3, Eq. (8)."""

import numpy as np

from smgrnn.arrays import Bools
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import Graph, places
from smgrnn.kernels import kernel
from smgrnn.plasticity.numbers import RuleNumbers


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


@kernel
def remove_edges(graph: Graph, goes: Bools, cause: int, numbers: RuleNumbers) -> GraphEdit:
    """Return the edit that removes the flagged edges and, with `orphan_removal`, the orphans."""
    n_nodes, n_edges = graph.node_ids.size, graph.source.size
    is_orphan = np.zeros(n_nodes, dtype=np.bool_)
    if numbers.orphan_removal:
        is_orphan = orphans(graph, ~goes)
    is_loose = np.empty(n_edges, dtype=np.bool_)  # by an orphan, not by its own weakness
    for edge in range(n_edges):
        at_orphan = is_orphan[graph.source[edge]] or is_orphan[graph.target[edge]]
        is_loose[edge] = at_orphan and not goes[edge]

    pruned, loosened, orphaned = places(goes), places(is_loose), places(is_orphan)
    n_changes = pruned.size + loosened.size + orphaned.size
    edit = GraphEdit(np.empty((n_changes, 5), dtype=np.int64), np.empty(n_changes))
    row = 0
    for edges, why in ((pruned, cause), (loosened, Cause.ORPHAN.value)):
        for edge in edges:
            source, target = graph.node_ids[graph.source[edge]], graph.node_ids[graph.target[edge]]
            number, weight = graph.edge_ids[edge], graph.weight[edge]
            operation = Operation.REMOVE_EDGE.value
            write_change(edit, row, operation, why, number, source, target, weight)
            row += 1
    for node in orphaned:
        number, operation = graph.node_ids[node], Operation.REMOVE_NODE.value
        write_change(edit, row, operation, Cause.ORPHAN.value, number, -1, -1, 0.0)
        row += 1
    return edit
