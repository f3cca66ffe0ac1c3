"""Edits of a graph: changes as data, and the one function that applies them.

An edit is a table of changes in the order they were decided, by stable ids.  The same rows feed the
network, the log, the metrics and the growth viewer.
"""

from collections.abc import Iterator, Sequence
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
    >>> from smgrnn import Graph, GraphEdit
    >>> from smgrnn.graph import EditDraft
    >>> draft = EditDraft(Graph.from_edges(1, 1, edges=[(0, 1, 0.5)]))
    >>> draft.remove_edge(0)
    >>> edit = draft.finish()
    >>> [(change.id, change.weight) for change in edit.changes()]
    [(0, 0.5)]
    >>> bool(edit), bool(GraphEdit.empty())
    (True, False)
    """

    rows: Ints  #: Operation, cause, id, source id and target id of each change (n, 5).
    weight: Floats  #: Weight of each added or removed edge, 0 for nodes (n,).

    @classmethod
    def empty(cls) -> Self:
        """Return an edit without changes."""
        return cls(np.empty((0, 5), dtype=np.int64), np.empty(0))

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def changes(self) -> Iterator[Change]:
        """Go through the changes in the order they were decided."""
        for row, weight in zip(self.rows.tolist(), self.weight.tolist(), strict=True):
            yield Change._make((Operation(row[0]), Cause(row[1]), *row[2:], weight))

    def count(self, operation: Operation, cause: Cause | None = None) -> int:
        """Return how many changes are of this operation (and cause)."""
        causes = self.rows[self.rows[:, 0] == operation, 1]
        return causes.size if cause is None else int((causes == cause).sum())

    def ids(self, operation: Operation) -> Ints:
        """Return the ids of the nodes or edges that this operation adds or removes."""
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
    """Collects changes of a graph by stable ids, each with the draft's present `cause`.

    A rule returns the result of `finish`.

    Examples
    --------
    >>> from smgrnn import Graph
    >>> from smgrnn.graph import EditDraft
    >>> draft = EditDraft(Graph.from_edges(1, 1, edges=[(0, 1, 0.5)]))
    >>> node = draft.add_node()
    >>> first, second = draft.add_edge(0, node, 0.01), draft.add_edge(node, 1, 0.01)
    >>> draft.remove_edge(0)
    >>> draft.finish()
    GraphEdit(+nodes=1, +edges=2, -edges=1, -nodes=0)
    """

    def __init__(self, graph: Graph, cause: Cause = Cause.CUSTOM) -> None:
        self.cause = cause
        self.graph = graph
        self._rows: list[Sequence[int]] = []
        self._weights: list[float] = []
        self._removed: set[int] = set()
        self._next_node_id, self._next_edge_id = graph.next_node_id, graph.next_edge_id

    def add_node(self, source: int = -1, target: int = -1) -> int:
        """Add a hidden node, with the ends of the edge that it relays, and return its id."""
        self.note(ADD_NODE, self._next_node_id, source, target, 0.0)
        self._next_node_id += 1
        return self._next_node_id - 1

    def add_edge(self, source: int, target: int, weight: float) -> int:
        """Connect two nodes, old or new, and return the edge's id."""
        self.note(ADD_EDGE, self._next_edge_id, source, target, weight)
        self._next_edge_id += 1
        return self._next_edge_id - 1

    def remove_edge(self, edge: int) -> None:
        """Remove an edge of the graph."""
        place = np.flatnonzero(self.graph.edge_ids == edge)
        if not place.size or edge in self._removed:
            raise GraphError(f"The graph has no edge with id {edge} left to remove.")
        self.remove_edges_at(place)

    def remove_edges_at(self, places: Ints) -> None:
        """Remove the edges at these positions."""
        graph = self.graph
        ends = graph.node_ids[np.stack([graph.source[places], graph.target[places]])].tolist()
        columns = graph.edge_ids[places].tolist(), *ends, graph.weight[places].tolist()
        for row in zip(*columns, strict=True):
            self._removed.add(row[0])
            self.note(REMOVE_EDGE, *row)

    def remove_node(self, node: int) -> None:
        """Remove a hidden node and every edge at it."""
        graph = self.graph
        at = (graph.node_ids[graph.source] == node) | (graph.node_ids[graph.target] == node)
        at &= ~np.isin(graph.edge_ids, list(self._removed))
        self.remove_edges_at(np.flatnonzero(at))
        self.note(REMOVE_NODE, node, -1, -1, 0.0)

    def finish(self) -> GraphEdit:
        """Return the edit; it is checked when it is applied."""
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, 5)
        return GraphEdit(rows, np.array(self._weights, dtype=np.float64))

    def note(self, operation: int, id: int, source: int, target: int, weight: float) -> None:
        """Add one change with the draft's cause, without those that follow from it."""
        self._rows.append((operation, int(self.cause), id, source, target))
        self._weights.append(float(weight))


def check_fits(graph: Graph, edit: GraphEdit) -> None:
    """Refuse an edit whose rows name nodes or edges that are not there, or are there already."""
    shapes = edit.rows.shape, edit.weight.shape
    if shapes != ((edit.weight.size, 5), (edit.weight.size,)):
        raise GraphError(
            "An edit needs five numbers and a weight per change. "
            f"Got {shapes[0]} and {shapes[1]} instead."
        )
    unknown = edit.rows[~np.isin(edit.rows[:, 0], list(Operation)), 0]
    if unknown.size:
        raise GraphError(f"An edit has an unknown operation {unknown[0]}.")
    new_nodes, new_edges, gone_edges, gone_nodes = (
        edit.rows[edit.rows[:, 0] == operation, 2:].tolist() for operation in Operation
    )
    nexts = (new_nodes, graph.next_node_id, "nodes"), (new_edges, graph.next_edge_id, "edges")
    for rows, first, what in nexts:
        if [row[0] for row in rows] != list(range(first, first + len(rows))):
            raise GraphError(f"New {what} must be numbered from {first} upwards.")
    n_fixed = graph.n_inputs + graph.n_outputs
    hidden = set(graph.node_ids[n_fixed:].tolist())
    for node, _, _ in gone_nodes:
        if node not in hidden:
            raise GraphError(f"Node {node} is not a hidden node of the graph.")
        hidden.remove(node)
    nodes = {*range(n_fixed), *hidden, *(row[0] for row in new_nodes)}
    edges = {edge.id: [edge.source, edge.target] for edge in graph.edges()}
    for id, *ends in gone_edges:
        if edges.pop(id, None) != ends:
            raise GraphError(f"The graph has no edge {ends[0]} -> {ends[1]} to remove.")
    for _, *ends in new_edges:
        for node in {*ends} - nodes:
            raise GraphError(f"An edge is added at node {node}, which does not exist.")
        if ends in edges.values():
            raise GraphError(f"The edge {ends[0]} -> {ends[1]} is added, but exists already.")
    if any({*ends} - nodes for ends in edges.values()):
        raise GraphError("A node is removed while an edge at it stays.")


def removed_edges(graph: Graph, edit: GraphEdit) -> Ints:
    """Return the positions of the edges that an edit removes."""
    rows = edit.rows[edit.rows[:, 0] == REMOVE_EDGE]
    ends = graph.node_ids.searchsorted(rows[:, 3:])
    keys = graph.target * graph.n_nodes + graph.source  # ascending, as edges stand in row order
    places: Ints = keys.searchsorted(ends[:, 1] * graph.n_nodes + ends[:, 0])
    return places


def apply(graph: Graph, edit: GraphEdit, *, is_trusted: bool = False) -> Applied:
    """Return the graph after `edit`; raise GraphError if it does not fit, unless it is trusted."""
    if not is_trusted:
        check_fits(graph, edit)
    operation, ids = edit.rows[:, 0], edit.rows[:, 2]
    old_nodes = position = np.arange(graph.n_nodes)
    old_edges = np.arange(graph.n_edges)
    if (operation >= REMOVE_EDGE).any():
        node_stays = np.ones(graph.n_nodes, dtype=np.bool_)
        node_stays[graph.node_ids.searchsorted(ids[operation == REMOVE_NODE])] = False
        old_nodes, position = node_stays.nonzero()[0], node_stays.cumsum() - 1
        old_edges = np.delete(old_edges, removed_edges(graph, edit))

    new_nodes, added = ids[operation == ADD_NODE], edit.rows[operation == ADD_EDGE]
    node_ids = np.concatenate([graph.node_ids[old_nodes], new_nodes])
    ends = node_ids.searchsorted(added[:, 3:])
    source = np.concatenate([position[graph.source[old_edges]], ends[:, 0]])
    target = np.concatenate([position[graph.target[old_edges]], ends[:, 1]])
    order = (target * node_ids.size + source).argsort(kind="stable")
    edited = Graph(
        graph.n_inputs,
        graph.n_outputs,
        node_ids,
        source[order],
        target[order],
        np.concatenate([graph.weight[old_edges], edit.weight[operation == ADD_EDGE]])[order],
        np.concatenate([graph.edge_ids[old_edges], added[:, 2]])[order],
        graph.next_node_id + new_nodes.size,
        graph.next_edge_id + len(added),
    )
    if not is_trusted:
        check(edited)
    node_origin, edge_origin = np.full(node_ids.size, -1), np.full(order.size, -1)
    node_origin[: old_nodes.size], edge_origin[: old_edges.size] = old_nodes, old_edges
    return Applied(edited, node_origin, edge_origin[order])


def carry(values: Floats, origin: Ints) -> Floats:
    """Rearrange the columns by `origin`; columns without an origin (-1) become 0."""
    if not values.size:
        return np.zeros((values.shape[0], origin.size))
    carried: Floats = values.take(origin, axis=1)
    carried[:, origin < 0] = 0.0
    return carried
