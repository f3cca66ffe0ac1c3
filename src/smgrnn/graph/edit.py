"""Edits of a graph: changes as data, and the one function that applies them.

An edit is a table of changes in the order they were decided.  The same rows feed the network, the
log, the metrics and the growth viewer, so they refer only to stable ids.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import GraphError
from smgrnn.graph.state import Graph, check


class Operation(IntEnum):
    """The kind of a change."""

    ADD_NODE = 0
    ADD_EDGE = 1
    REMOVE_EDGE = 2
    REMOVE_NODE = 3


ADD_NODE, ADD_EDGE, REMOVE_EDGE, REMOVE_NODE = (each.value for each in Operation)


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

    def ids(self, operation: Operation) -> Ints:
        """Return the ids of the nodes or edges that this operation adds or removes.

        >>> draft = EditDraft(Graph.from_edges(1, 1))
        >>> node, edge = draft.add_node(), draft.add_edge(0, 1, 0.5)
        >>> draft.finish().ids(Operation.ADD_NODE).tolist()
        [2]
        """
        found: Ints = self.rows[self.rows[:, 0] == operation, 2]
        return found

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
    """Collects changes of a graph by stable ids; a rule returns what `finish` gives.

    Every change has the draft's present `cause`.  It may go on `after` another edit.

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

    def __init__(
        self, graph: Graph, cause: Cause = Cause.CUSTOM, after: GraphEdit | None = None
    ) -> None:
        after = GraphEdit.empty() if after is None else after
        self.cause = cause
        self._graph = graph
        self._rows: list[tuple[int, int, int, int, int]] = [
            tuple(row) for row in after.rows.tolist()
        ]
        self._weights: list[float] = after.weight.tolist()
        self._removed: set[int] = set(after.ids(Operation.REMOVE_EDGE).tolist())
        self._next_node_id = graph.next_node_id + after.count(Operation.ADD_NODE)
        self._next_edge_id = graph.next_edge_id + after.count(Operation.ADD_EDGE)

    def add_node(self, source: int = -1, target: int = -1) -> int:
        """Add a hidden node and return its id; source and target are those of the edge it relays.

        >>> EditDraft(Graph.from_edges(1, 1)).add_node()
        2
        """
        node = self._next_node_id
        self._next_node_id += 1
        self._note(ADD_NODE, node, source, target, 0.0)
        return node

    def add_edge(self, source: int, target: int, weight: float) -> int:
        """Connect two nodes, old or new, and return the edge's id."""
        edge = self._next_edge_id
        self._next_edge_id += 1
        self._note(ADD_EDGE, edge, source, target, weight)
        return edge

    def remove_edge(self, edge: int) -> None:
        """Remove an edge of the graph."""
        place = np.flatnonzero(self._graph.edge_ids == edge)
        if not place.size or edge in self._removed:
            raise GraphError(f"The graph has no edge with id {edge} left to remove.")
        self.remove_edges_at(place)

    def remove_edges_at(self, places: Ints) -> None:
        """Remove the edges at these positions.

        >>> graph = Graph.from_edges(2, 1, edges=[(0, 2, 0.5), (1, 2, 0.5)])
        >>> draft = EditDraft(graph)
        >>> draft.remove_edges_at(np.array([0, 1]))
        >>> draft.finish()
        GraphEdit(+nodes=0, +edges=0, -edges=2, -nodes=0)
        """
        graph = self._graph
        ends = (graph.node_ids[end[places]] for end in (graph.source, graph.target))
        columns = (graph.edge_ids[places], *ends, graph.weight[places])
        for row in zip(*(column.tolist() for column in columns), strict=True):
            self._removed.add(row[0])
            self._note(REMOVE_EDGE, *row)

    def remove_node(self, node: int) -> None:
        """Remove a hidden node and every edge at it.

        >>> graph = Graph.from_edges(1, 1, n_hidden=1, edges=[(0, 2, 0.5), (2, 1, 0.5)])
        >>> draft = EditDraft(graph)
        >>> draft.remove_node(2)
        >>> apply(graph, draft.finish()).graph
        Graph(1 inputs, 0 hidden, 1 outputs, 0 edges)
        """
        graph = self._graph
        at = (graph.node_ids[graph.source] == node) | (graph.node_ids[graph.target] == node)
        at &= ~np.isin(graph.edge_ids, list(self._removed))
        self.remove_edges_at(np.flatnonzero(at))
        self._note(REMOVE_NODE, node, -1, -1, 0.0)

    def finish(self) -> GraphEdit:
        """Return the edit; it is checked when it is applied."""
        if not self._rows:
            return GraphEdit.empty()
        return GraphEdit(np.array(self._rows, dtype=np.int64), np.array(self._weights))

    def _note(self, operation: int, id: int, source: int, target: int, weight: float) -> None:
        self._rows.append((operation, int(self.cause), id, source, target))
        self._weights.append(float(weight))


def apply(graph: Graph, edit: GraphEdit, *, is_trusted: bool = False) -> Applied:
    """Return the graph after `edit`, or raise GraphError where the edit does not fit it.

    A trusted edit, one that the rules of this package made for this graph, is known to fit.
    """
    if not is_trusted:
        check_fits(graph, edit)
    applied = apply_edit(graph, edit)
    if not is_trusted:
        check(applied.graph)
    return applied


def check_fits(graph: Graph, edit: GraphEdit) -> None:
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
    removed = np.flatnonzero(operation == Operation.REMOVE_EDGE)
    known_edges = {edge.id: (edge.source, edge.target) for edge in graph.edges()}
    for row in removed:
        if known_edges.get(int(ids[row])) != (source[row], target[row]):
            raise GraphError(f"The graph has no edge {source[row]} -> {target[row]} to remove.")
    if np.unique(ids[removed]).size < removed.size:
        raise GraphError("An edit removes one edge twice.")
    cut = np.isin(graph.edge_ids, ids[removed])
    loose = np.isin(graph.node_ids[graph.source], removed_nodes)
    loose |= np.isin(graph.node_ids[graph.target], removed_nodes)
    if (loose & ~cut).any():
        raise GraphError("A node is removed while an edge at it stays.")


def removed_places(graph: Graph, edit: GraphEdit) -> Ints:
    """Return the positions of the edges that an edit removes."""
    rows = edit.rows[edit.rows[:, 0] == REMOVE_EDGE]
    ends = graph.node_ids.searchsorted(rows[:, 3:])
    keys = graph.target * graph.n_nodes + graph.source  # ascending, as edges stand in row order
    places: Ints = keys.searchsorted(ends[:, 1] * graph.n_nodes + ends[:, 0])
    return places


def apply_edit(graph: Graph, edit: GraphEdit) -> Applied:
    """Apply an edit that is known to fit."""
    operation, ids = edit.rows[:, 0], edit.rows[:, 2]
    node_stays = np.ones(graph.n_nodes, dtype=np.bool_)
    node_stays[graph.node_ids.searchsorted(ids[operation == REMOVE_NODE])] = False
    edge_stays = np.ones(graph.n_edges, dtype=np.bool_)
    edge_stays[removed_places(graph, edit)] = False
    old_nodes, old_edges = node_stays.nonzero()[0], edge_stays.nonzero()[0]

    n_new_nodes = int((operation == ADD_NODE).sum())
    n_old, n_nodes = old_nodes.size, old_nodes.size + n_new_nodes
    node_ids, node_origin = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    node_ids[:n_old], node_origin[:n_old] = graph.node_ids[old_nodes], old_nodes
    node_ids[n_old:] = np.arange(graph.next_node_id, graph.next_node_id + n_new_nodes)
    node_origin[n_old:] = -1
    position = node_stays.cumsum() - 1

    added = edit.rows[operation == ADD_EDGE]
    ends = node_ids.searchsorted(added[:, 3:])
    source = np.concatenate([position[graph.source[old_edges]], ends[:, 0]])
    target = np.concatenate([position[graph.target[old_edges]], ends[:, 1]])
    order = (target * n_nodes + source).argsort(kind="stable")
    n_kept = old_edges.size
    edge_origin = np.empty(order.size, np.int64)
    edge_origin[:n_kept], edge_origin[n_kept:] = old_edges, -1
    edited = Graph(
        graph.n_inputs,
        graph.n_outputs,
        node_ids,
        source[order],
        target[order],
        np.concatenate([graph.weight[old_edges], edit.weight[operation == ADD_EDGE]])[order],
        np.concatenate([graph.edge_ids[old_edges], added[:, 2]])[order],
        graph.next_node_id + n_new_nodes,
        graph.next_edge_id + len(added),
    )
    return Applied(edited, node_origin, edge_origin[order])


def carry(values: Floats, origin: Ints) -> Floats:
    """Rearrange the columns by `origin`; columns without an origin (-1) become 0."""
    carried = np.zeros((values.shape[0], origin.size))
    if values.size:
        is_old = origin >= 0
        carried[:, is_old] = values[:, origin[is_old]]
    return carried
