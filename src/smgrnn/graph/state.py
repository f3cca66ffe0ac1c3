"""The graph G = (V, E): the network at one moment.

Paper: Sec. III-B.  Nodes stand in the order inputs, outputs, hidden, each by ascending id; edges
stand by target and then by source, the row order of an adjacency matrix.  So the edges into a node
are contiguous, and a binary search finds an edge.  Ids are given once; positions change with edits.
"""

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints, from_arrays
from smgrnn.errors import GraphError, short
from smgrnn.graph.settings import NetworkConfig


class Edge(NamedTuple):
    """One edge, named by stable ids."""

    id: int
    source: int
    target: int
    weight: float


class Graph(NamedTuple):
    """A directed weighted graph over flat arrays; kernels read the same object.

    Examples
    --------
    >>> from smgrnn import Graph
    >>> edges = [(0, 3, 0.5), (3, 2, -1.0), (1, 2, 0.2)]  # source, target, weight
    >>> graph = Graph.from_edges(n_inputs=2, n_outputs=1, n_hidden=1, edges=edges)
    >>> graph
    Graph(2 inputs, 1 hidden, 1 outputs, 3 edges)
    >>> next(graph.edges())
    Edge(id=0, source=1, target=2, weight=0.2)
    >>> Graph.from_arrays(graph._asdict()) == graph
    True
    """

    n_inputs: int  #: Inputs are the nodes at positions 0 … n_inputs - 1.
    n_outputs: int  #: Outputs are the nodes at the n_outputs positions after them.
    node_ids: Ints  #: Stable id of each node (n_nodes,).
    source: Ints  #: Position of the node each edge leaves (n_edges,).
    target: Ints  #: Position of the node each edge enters (n_edges,).
    weight: Floats  #: Weight of each edge (n_edges,).
    edge_ids: Ints  #: Stable id of each edge (n_edges,).
    next_node_id: int  #: Id the next new node will get.
    next_edge_id: int  #: Id the next new edge will get.

    @classmethod
    def from_edges(
        cls,
        n_inputs: int,
        n_outputs: int,
        n_hidden: int = 0,
        edges: Iterable[tuple[int, int, float]] = (),
    ) -> Self:
        """Build a graph from (source, target, weight); nodes are inputs, outputs, then hidden."""
        triples = sorted(edges, key=lambda edge: (edge[1], edge[0]))
        for source, target, _ in triples:
            if not (isinstance(source, Integral) and isinstance(target, Integral)):
                raise GraphError(f"An edge joins numbered nodes. Got {source!r} -> {target!r}.")
        columns = zip(*triples, strict=True) if triples else ((), (), ())
        return cls.numbered(n_inputs, n_outputs, n_inputs + n_outputs + n_hidden, *columns)

    @classmethod
    def numbered(
        cls, n_inputs: int, n_outputs: int, n_nodes: int, source: Any, target: Any, weight: Any
    ) -> Self:
        """Return a new graph of edges in row order, whose ids are positions."""
        ends = np.array(source, dtype=np.int64), np.array(target, dtype=np.int64)
        columns = np.arange(n_nodes), *ends, np.array(weight, np.float64), np.arange(len(weight))
        graph = cls(n_inputs, n_outputs, *columns, n_nodes, len(weight))
        check(graph)
        return graph

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Rebuild a graph from its fields by name, as they come out of a file."""
        graph = from_arrays(cls, arrays)
        check(graph)
        return graph

    @property
    def n_nodes(self) -> int:
        """All nodes: inputs, outputs and hidden ones."""
        return self.node_ids.size

    @property
    def n_hidden(self) -> int:
        """Hidden nodes."""
        return self.n_nodes - self.n_inputs - self.n_outputs

    @property
    def n_edges(self) -> int:
        """Edges, which are also the trainable parameters."""
        return self.source.size

    def edges(self) -> Iterator[Edge]:
        """Go through the edges by stable ids, in array order."""
        ends = self.node_ids[self.source], self.node_ids[self.target]
        columns = (each.tolist() for each in (self.edge_ids, *ends, self.weight))
        return map(Edge._make, zip(*columns, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        both: Any = (self, other)
        return all(map(np.array_equal, *both))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"Graph({self})"

    def __str__(self) -> str:
        nodes = f"{self.n_inputs} inputs, {self.n_hidden} hidden, {self.n_outputs} outputs"
        return f"{nodes}, {self.n_edges} edges"


def row_starts(target: Ints, n_nodes: int) -> Ints:
    """Return where the edges into each node start; the last entry is the number of edges."""
    starts = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(target, minlength=n_nodes), out=starts[1:])
    return starts


def check(graph: Graph, config: NetworkConfig | None = None) -> None:
    """Raise GraphError where an invariant is broken, or the width is not that of the network."""
    if not isinstance(graph, Graph):
        raise GraphError(f"Expected a smgrnn.Graph. Got {short(graph)} instead.")
    for holds, fact in _invariants(graph):
        if not holds:
            raise GraphError(f"The graph {fact}.")
    found = f"{graph.n_inputs} inputs and {graph.n_outputs} outputs"
    if config and (graph.n_inputs, graph.n_outputs) != (config.n_input_nodes, config.n_outputs):
        bias = ", of which one is its bias (bias=False has none)" if config.bias else ""
        expected = f"{config.n_input_nodes} and {config.n_outputs}{bias}"
        raise GraphError(f"The graph has {found}; the network has {expected}.")


def _invariants(graph: Graph) -> Iterator[tuple[bool | np.bool_, str]]:
    """Yield whether each invariant holds; one may rely on those before it."""
    n_fixed, n_nodes, ids = graph.n_inputs + graph.n_outputs, graph.n_nodes, graph.edge_ids
    yield graph.n_inputs >= 1 and graph.n_outputs >= 1, "needs at least one input and output"
    # The size first, or numbering them could take all memory.
    starts = n_fixed <= n_nodes and np.array_equal(graph.node_ids[:n_fixed], np.arange(n_fixed))
    yield starts, "must start with its input and output nodes"
    yield (np.diff(graph.node_ids) > 0).all(), "has node ids out of order"
    yield graph.node_ids[-1] < graph.next_node_id, "would give a node id twice"
    shapes = {each.shape for each in (graph.source, graph.target, graph.weight, ids)}
    yield shapes == {(graph.n_edges,)}, "has edge columns of unequal shape"
    for end in (graph.source, graph.target):
        for edge in np.flatnonzero((end < 0) | (end >= n_nodes))[:1]:
            raise GraphError(
                f"The edge {graph.source[edge]} -> {graph.target[edge]} of the graph ends in a "
                f"node that does not exist; it has {n_nodes} nodes."
            )
    yield (graph.source != graph.target).all(), "has an edge from a node to itself"
    row_order = graph.target * n_nodes + graph.source
    yield (np.diff(row_order) > 0).all(), "has a duplicate edge or edges out of order"
    yield np.unique(ids).size == graph.n_edges, "has an edge id twice"
    is_given = ((ids >= 0) & (ids < graph.next_edge_id)).all()
    yield is_given, "has an edge id that is negative or still to be given"
    yield np.isfinite(graph.weight).all(), "has a weight that is not finite"
