"""Orphans: hidden nodes without edges in, or without edges out.  Paper: Sec. III-C3, Eq. (8)."""

import numpy as np

from smgrnn.arrays import Bools
from smgrnn.graph.edit import Cause, GraphEdit, Operation, removed_places
from smgrnn.graph.state import Graph


def orphans(graph: Graph, edge_stays: Bools) -> Bools:
    """Flag hidden nodes left without incoming or without outgoing edges -- Eq. (8).

    Removing an orphan can orphan its neighbours, so this repeats until there are none.
    """
    is_orphan = np.zeros(graph.n_nodes, dtype=np.bool_)
    first_hidden = graph.n_inputs + graph.n_outputs
    if first_hidden == graph.n_nodes:
        return is_orphan
    while True:
        joins = edge_stays & ~is_orphan[graph.source] & ~is_orphan[graph.target]
        n_out = np.bincount(graph.source[joins], minlength=graph.n_nodes)
        n_in = np.bincount(graph.target[joins], minlength=graph.n_nodes)
        found = (n_in == 0) | (n_out == 0)
        found[:first_hidden] = False
        if found.sum() == is_orphan.sum():
            return is_orphan
        is_orphan |= found


def with_orphans(graph: Graph, edit: GraphEdit) -> GraphEdit:
    """Return a pruning edit that also removes the orphans it leaves, and the edges at them."""
    stays = np.ones(graph.n_edges, dtype=np.bool_)
    stays[removed_places(graph, edit)] = False
    is_orphan = orphans(graph, stays)
    if not is_orphan.any():
        return edit
    loose = np.flatnonzero(stays & (is_orphan[graph.source] | is_orphan[graph.target]))
    nodes = graph.node_ids[is_orphan]
    n, cause = loose.size + nodes.size, Cause.ORPHAN
    rows = np.full((n, 5), -1, dtype=np.int64)
    rows[: loose.size, 0], rows[loose.size :, 0] = Operation.REMOVE_EDGE, Operation.REMOVE_NODE
    rows[:, 1] = cause
    rows[: loose.size, 2], rows[loose.size :, 2] = graph.edge_ids[loose], nodes
    rows[: loose.size, 3] = graph.node_ids[graph.source[loose]]
    rows[: loose.size, 4] = graph.node_ids[graph.target[loose]]
    weights = np.concatenate([graph.weight[loose], np.zeros(nodes.size)])
    return GraphEdit(np.concatenate([edit.rows, rows]), np.concatenate([edit.weight, weights]))
