"""Orphans: hidden nodes without edges in, or without edges out.  Paper: Sec. III-C3, Eq. (8)."""

import numpy as np

from smgrnn.arrays import Bools
from smgrnn.graph.edit import (
    ADD_EDGE,
    REMOVE_EDGE,
    REMOVE_NODE,
    Cause,
    GraphEdit,
    removed_places,
)
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
    kept = edit.rows[edit.rows[:, 0] == ADD_EDGE, 3:].ravel()  # or a new edge would end nowhere
    is_orphan[graph.node_ids.searchsorted(kept[np.isin(kept, graph.node_ids)])] = False
    gone = edit.rows[edit.rows[:, 0] == REMOVE_NODE, 2]
    is_orphan[graph.node_ids.searchsorted(gone)] = False
    edges = np.flatnonzero(stays & (is_orphan[graph.source] | is_orphan[graph.target]))
    nodes, n = graph.node_ids[is_orphan], edges.size
    rows = np.full((n + nodes.size, 5), -1)
    rows[:, 1], rows[:n, 0], rows[n:, 0] = Cause.ORPHAN, REMOVE_EDGE, REMOVE_NODE
    rows[:n, 2], rows[n:, 2] = graph.edge_ids[edges], nodes
    rows[:n, 3], rows[:n, 4] = (
        graph.node_ids[graph.source[edges]],
        graph.node_ids[graph.target[edges]],
    )
    weight = np.append(graph.weight[edges], np.zeros(nodes.size))
    return GraphEdit(np.concatenate([edit.rows, rows]), np.append(edit.weight, weight))
