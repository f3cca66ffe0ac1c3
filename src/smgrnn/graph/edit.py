"""Edits of a graph: changes as data, and the one function that applies them.

An edit is a table of changes in the order they were decided.  The same rows feed the network, the
log, the metrics and the growth viewer, so they refer only to stable ids.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.errors import GraphError
from smgrnn.graph.state import Graph, check, find_edge, places, rank, row_starts
from smgrnn.interrupts import interrupts_deferred
from smgrnn.kernels import inlined, kernel


class Operation(IntEnum):
    """The kind of a change."""

    ADD_NODE = 0
    ADD_EDGE = 1
    REMOVE_EDGE = 2
    REMOVE_NODE = 3


class Cause(IntEnum):
    """Why a change was decided."""

    RELAY = 0
    EXPLORATION = 1
    WEAK_EDGE = 2
    ORPHAN = 3
    CUSTOM = 4
    CANDIDATE = 5
    GRADIENT = 6
    CONTRIBUTION = 7
    SPLIT = 8
    DUPLICATE = 9
    RANDOM = 10


class Change(NamedTuple):
    """One row of an edit.  A node's source and target are those of the edge it relays, or -1."""

    operation: Operation
    cause: Cause
    id: int
    source: int
    target: int
    weight: float


class GraphEdit(NamedTuple):
    """Changes decided together, applied together; empty when there is nothing to do.

    Examples
    --------
    >>> from smgrnn import EditDraft, Graph, GraphEdit
    >>> from smgrnn.graph import Operation
    >>> draft = EditDraft(Graph.from_edges(1, 1, edges=[(0, 1, 0.5)]))
    >>> draft.remove_edge(0)
    >>> edit = draft.finish()
    >>> edit.count(Operation.REMOVE_EDGE)
    1
    >>> [(change.id, change.weight) for change in edit.changes()]
    [(0, 0.5)]
    >>> bool(edit), bool(GraphEdit.empty())
    (True, False)
    """

    rows: Ints
    """Operation, cause, id, source id and target id of each change (n, 5)."""
    weight: Floats
    """Weight of each added or removed edge, 0 for nodes (n,)."""

    @classmethod
    def empty(cls) -> Self:
        """Return an edit without changes."""
        return cls(np.empty((0, 5), dtype=np.int64), np.empty(0))

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def changes(self) -> Iterator[Change]:
        """Go through the changes in the order they were decided."""
        for row, weight in zip(self.rows.tolist(), self.weight.tolist(), strict=True):
            operation, cause, id, source, target = row
            yield Change(Operation(operation), Cause(cause), id, source, target, weight)

    def count(self, operation: Operation, cause: Cause | None = None) -> int:
        """Return how many changes are of this operation (and cause)."""
        mask = self.rows[:, 0] == operation
        if cause is not None:
            mask &= self.rows[:, 1] == cause
        return int(mask.sum())

    def __repr__(self) -> str:
        names = ("+nodes", "+edges", "-edges", "-nodes")
        counts = (f"{n}={self.count(op)}" for n, op in zip(names, Operation, strict=True))
        return f"GraphEdit({', '.join(counts)})"


class Applied(NamedTuple):
    """The edited graph, and the former position of each of its nodes and edges (-1: it is new)."""

    graph: Graph
    node_origin: Ints
    edge_origin: Ints


class EditDraft:
    """Collects changes of a graph by stable ids; for rules written outside this package.

    Examples
    --------
    >>> from smgrnn import EditDraft, Graph
    >>> from smgrnn.graph import apply
    >>> draft = EditDraft(Graph.from_edges(1, 1, edges=[(0, 1, 0.5)]))
    >>> node = draft.add_node()
    >>> first, second = draft.add_edge(0, node, 0.01), draft.add_edge(node, 1, 0.01)
    >>> draft.remove_edge(0)
    >>> draft.finish()
    GraphEdit(+nodes=1, +edges=2, -edges=1, -nodes=0)
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._edges = {edge.id: edge for edge in graph.edges()}
        self._changes: list[Change] = []
        self._next_node_id = graph.next_node_id
        self._next_edge_id = graph.next_edge_id

    def add_node(self) -> int:
        """Add a hidden node and return its id."""
        node = self._next_node_id
        self._next_node_id += 1
        self._note(Operation.ADD_NODE, node)
        return node

    def add_edge(self, source: int, target: int, weight: float) -> int:
        """Connect two nodes, old or new, and return the edge's id."""
        edge = self._next_edge_id
        self._next_edge_id += 1
        self._note(Operation.ADD_EDGE, edge, source, target, weight)
        return edge

    def remove_edge(self, edge: int) -> None:
        """Remove an edge of the graph."""
        if edge not in self._edges:
            raise GraphError(f"The graph has no edge with id {edge} left to remove.")
        found = self._edges.pop(edge)
        self._note(Operation.REMOVE_EDGE, *found)

    def remove_node(self, node: int) -> None:
        """Remove a hidden node and every edge at it.

        >>> graph = Graph.from_edges(1, 1, n_hidden=1, edges=[(0, 2, 0.5), (2, 1, 0.5)])
        >>> draft = EditDraft(graph)
        >>> draft.remove_node(2)
        >>> apply(graph, draft.finish()).graph
        Graph(1 inputs, 0 hidden, 1 outputs, 0 edges)
        """
        for edge in [e for e in self._edges.values() if node in (e.source, e.target)]:
            self.remove_edge(edge.id)
        self._note(Operation.REMOVE_NODE, node)

    def finish(self) -> GraphEdit:
        """Return the edit; it is checked when it is applied."""
        if not self._changes:
            return GraphEdit.empty()
        rows = np.array([change[:5] for change in self._changes], dtype=np.int64)
        return GraphEdit(rows, np.array([change.weight for change in self._changes]))

    def _note(
        self, operation: Operation, id: int, source: int = -1, target: int = -1, weight: float = 0.0
    ) -> None:
        self._changes.append(Change(operation, Cause.CUSTOM, id, source, target, float(weight)))


def apply(graph: Graph, edit: GraphEdit, *, is_trusted: bool = False) -> Applied:
    """Return the graph after `edit`, or raise GraphError where the edit does not fit it.

    A trusted edit, one that the rules of this package made for this graph, is known to fit.
    """
    if not is_trusted:
        _check_fits(graph, edit)
    with interrupts_deferred():
        applied = apply_edit(graph, edit)
    check(applied.graph)
    return applied


def _check_fits(graph: Graph, edit: GraphEdit) -> None:
    """Refuse an edit whose rows name nodes or edges that are not there, or are there already."""
    n_changes = edit.weight.size
    if edit.rows.shape != (n_changes, 5) or edit.weight.ndim != 1:
        raise GraphError(
            f"An edit needs five numbers and a weight per change. "
            f"Got {edit.rows.shape} and {edit.weight.shape} instead."
        )
    unknown = edit.rows[~np.isin(edit.rows[:, 0], list(Operation)), 0]
    if unknown.size:
        raise GraphError(f"An edit has an unknown operation {unknown[0]}.")
    operation, ids = edit.rows[:, 0], edit.rows[:, 2]
    source, target = edit.rows[:, 3], edit.rows[:, 4]
    added_nodes, removed_nodes = (
        ids[operation == op] for op in (Operation.ADD_NODE, Operation.REMOVE_NODE)
    )
    fresh_nodes = graph.next_node_id + np.arange(added_nodes.size)
    if not np.array_equal(added_nodes, fresh_nodes):
        raise GraphError(f"New nodes must be numbered from {graph.next_node_id} upwards.")
    added_edges = ids[operation == Operation.ADD_EDGE]
    if not np.array_equal(added_edges, graph.next_edge_id + np.arange(added_edges.size)):
        raise GraphError(f"New edges must be numbered from {graph.next_edge_id} upwards.")
    hidden = graph.node_ids[graph.n_inputs + graph.n_outputs :]
    removable = np.isin(removed_nodes, hidden)
    if not removable.all():
        raise GraphError(f"Node {removed_nodes[~removable][0]} is not a hidden node of the graph.")
    if np.unique(removed_nodes).size < removed_nodes.size:
        raise GraphError("An edit removes one node twice.")
    remaining = np.setdiff1d(np.concatenate([graph.node_ids, fresh_nodes]), removed_nodes)
    for mask, known, what in (
        (operation == Operation.ADD_EDGE, remaining, "added"),
        (operation == Operation.REMOVE_EDGE, graph.node_ids, "removed"),
    ):
        ends = np.concatenate([source[mask], target[mask]])
        missing = ends[~np.isin(ends, known)]
        if missing.size:
            raise GraphError(f"An edge is {what} at node {missing[0]}, which does not exist.")
    starts = row_starts(graph.target, graph.n_nodes)
    removed = np.flatnonzero(operation == Operation.REMOVE_EDGE)
    for row in removed:
        u, v = np.searchsorted(graph.node_ids, edit.rows[row, 3:])
        edge = find_edge(graph, starts, u, v)
        if edge < 0 or graph.edge_ids[edge] != ids[row]:
            raise GraphError(f"The graph has no edge {source[row]} -> {target[row]} to remove.")
    if np.unique(ids[removed]).size < removed.size:
        raise GraphError("An edit removes one edge twice.")
    cut = np.isin(graph.edge_ids, ids[removed])
    loose = np.isin(graph.node_ids[graph.source], removed_nodes)
    loose |= np.isin(graph.node_ids[graph.target], removed_nodes)
    if (loose & ~cut).any():
        raise GraphError("A node is removed while an edge at it stays.")


@inlined
def write_change(
    edit: GraphEdit,
    row: int,
    operation: int,
    cause: int,
    id: int,
    source: int,
    target: int,
    weight: float,
) -> None:
    """Fill one row of an edit."""
    edit.rows[row, 0] = operation
    edit.rows[row, 1] = cause
    edit.rows[row, 2] = id
    edit.rows[row, 3] = source
    edit.rows[row, 4] = target
    edit.weight[row] = weight


@kernel
def sorted_order(keys: Ints | Floats) -> Ints:
    """Return the order that sorts keys, equal ones as they come; NumPy's takes 3 s to compile.

    >>> sorted_order(np.array([30, 10, 20, 10])).tolist()
    [1, 3, 2, 0]
    """
    order = np.arange(keys.size)
    gap = keys.size // 2
    while gap > 0:
        for last in range(gap, keys.size):
            moved, place = order[last], last
            while place >= gap:  # Shell's method
                other = order[place - gap]
                is_after = keys[other] > keys[moved] or (
                    keys[other] == keys[moved] and other > moved
                )
                if not is_after:
                    break
                order[place] = other
                place -= gap
            order[place] = moved
        gap //= 2
    return order


@kernel
def _survivors(graph: Graph, edit: GraphEdit) -> tuple[Bools, Bools]:
    """Flag the nodes and the edges that an edit leaves."""
    n_nodes = graph.node_ids.size
    starts = row_starts(graph.target, n_nodes)
    node_stays = np.ones(n_nodes, dtype=np.bool_)
    edge_stays = np.ones(graph.source.size, dtype=np.bool_)
    for row in range(edit.weight.size):
        operation = edit.rows[row, 0]
        if operation == Operation.REMOVE_NODE.value:
            node_stays[rank(graph.node_ids, 0, n_nodes, edit.rows[row, 2])] = False
        elif operation == Operation.REMOVE_EDGE.value:
            u = rank(graph.node_ids, 0, n_nodes, edit.rows[row, 3])
            v = rank(graph.node_ids, 0, n_nodes, edit.rows[row, 4])
            edge_stays[find_edge(graph, starts, u, v)] = False
    return node_stays, edge_stays


@kernel
def _renumber(graph: Graph, edit: GraphEdit, node_stays: Bools) -> tuple[Ints, Ints, Ints]:
    """Return ids and origins of the new graph's nodes, and where each old node stands there."""
    n_new = 0
    for row in range(edit.weight.size):
        n_new += edit.rows[row, 0] == Operation.ADD_NODE.value
    old_nodes = places(node_stays)
    n_old, n_total = old_nodes.size, old_nodes.size + n_new
    position = np.empty(graph.node_ids.size, dtype=np.int64)
    node_ids, node_origin = np.empty(n_total, np.int64), np.empty(n_total, np.int64)
    for node in range(n_old):
        position[old_nodes[node]] = node
        node_ids[node], node_origin[node] = graph.node_ids[old_nodes[node]], old_nodes[node]
    for node in range(n_new):
        node_ids[n_old + node], node_origin[n_old + node] = graph.next_node_id + node, -1
    return node_ids, node_origin, position


@kernel
def apply_edit(graph: Graph, edit: GraphEdit) -> Applied:
    """Apply an edit that is known to fit, in time proportional to nodes + edges."""
    node_stays, edge_stays = _survivors(graph, edit)
    node_ids, node_origin, position = _renumber(graph, edit, node_stays)
    n_edges, n_nodes = graph.source.size, node_ids.size
    n_new_nodes = n_nodes - places(node_stays).size

    added = places(edit.rows[:, 0] == Operation.ADD_EDGE.value)
    new_source, new_target = np.empty(added.size, np.int64), np.empty(added.size, np.int64)
    for k in range(added.size):
        new_source[k] = rank(node_ids, 0, n_nodes, edit.rows[added[k], 3])
        new_target[k] = rank(node_ids, 0, n_nodes, edit.rows[added[k], 4])
    order = sorted_order(new_target * n_nodes + new_source)

    n_new_edges = added.size
    n_total = n_new_edges + places(edge_stays).size
    source, target = np.empty(n_total, dtype=np.int64), np.empty(n_total, dtype=np.int64)
    weight, edge_ids = np.empty(n_total), np.empty(n_total, dtype=np.int64)
    edge_origin = np.empty(n_total, dtype=np.int64)
    old = new = 0
    for edge in range(n_total):  # merge two sorted sequences: the edges that stay and the new ones
        while old < n_edges and not edge_stays[old]:
            old += 1
        take_new = old == n_edges
        if not take_new and new < n_new_edges:
            u, v = position[graph.source[old]], position[graph.target[old]]
            k = order[new]
            take_new = new_target[k] < v or (new_target[k] == v and new_source[k] < u)
        if take_new:
            k = order[new]
            source[edge], target[edge] = new_source[k], new_target[k]
            weight[edge], edge_ids[edge] = edit.weight[added[k]], edit.rows[added[k], 2]
            edge_origin[edge] = -1
            new += 1
        else:
            source[edge], target[edge] = position[graph.source[old]], position[graph.target[old]]
            weight[edge], edge_ids[edge] = graph.weight[old], graph.edge_ids[old]
            edge_origin[edge] = old
            old += 1
    edited = Graph(
        graph.n_inputs,
        graph.n_outputs,
        node_ids,
        source,
        target,
        weight,
        edge_ids,
        graph.next_node_id + n_new_nodes,
        graph.next_edge_id + n_new_edges,
    )
    return Applied(edited, node_origin, edge_origin)


@kernel
def carry(values: Floats, origin: Ints) -> Floats:
    """Rearrange the columns by `origin`; columns without an origin (-1) become 0."""
    carried = np.zeros((values.shape[0], origin.size))
    for row in range(values.shape[0]):
        for column in range(origin.size):
            if origin[column] >= 0:
                carried[row, column] = values[row, origin[column]]
    return carried
