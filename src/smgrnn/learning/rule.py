"""LearningRule: how each edge gets credit for the loss, as a part that both engines take.

A step is forward → loss → credit → optimizer → update history.  A rule is the third of these: it
reads one pass through the network and writes a gradient for every edge.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from smgrnn.arrays import Floats, Ints
from smgrnn.config import NetworkConfig
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.graph.state import Graph
from smgrnn.kernels import Part, part_at


class Pass(NamedTuple):
    """One pass through the network, and the arrays that a learning rule writes its results to."""

    source: Ints
    """Position of the node each edge leaves (n_edges,)."""
    weight: Floats
    """Weight of each edge (n_edges,)."""
    starts: Ints
    """Where the edges into each node start (n_nodes + 1,)."""
    trace: Floats
    """Node states before and after each iteration (K + 1, n_nodes)."""
    adjoint: Floats
    """dL/d(outputs) in the first row, at the outputs; the rest is room (2, n_nodes)."""
    gradient: Floats
    """To be written: the values that the optimizer takes as dL/dw (n_edges,)."""
    errors: Floats
    """To be written where it has columns: dL/d(sum into each node) by iteration (K, n_nodes)."""
    memory: Floats
    """Values that the rule keeps for each edge (rows, n_edges)."""
    network: NetworkNumbers


@dataclass(frozen=True)
class LearningRule:
    """A rule by which each edge gets credit for the loss."""

    name: str
    """Its name in settings and on the command line."""
    summary: str
    """A few words on how it works."""
    credit: Callable[[Pass], None] | None
    """Writes the gradient; None is backpropagation, which is built into the engine."""
    n_rows: int = 0
    """Values that it keeps for each edge; a new edge starts with zeros."""

    @cached_property
    def address(self) -> int:
        """Address of the compiled function; 0 is backpropagation."""
        return 0 if self.credit is None else Part(self.credit, CREDIT).address


def _pass_type() -> Any:
    graph = Graph.from_edges(1, 1, edges=[(0, 1, 1.0)])
    row, table = np.zeros(1), np.zeros((2, 2))
    network = NetworkNumbers.of(NetworkConfig(n_inputs=1, n_outputs=1))
    return typeof(Pass(graph.source, row, graph.source, table, table, row, table, table, network))


CREDIT = types.void(_pass_type())
credit_at = part_at(CREDIT)
