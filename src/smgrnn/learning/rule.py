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
from smgrnn.kernels import Part, kernel, part_at
from smgrnn.seeding import stream


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
    feedback: Floats
    """Fixed random weights by which each node hears of the error at each output; without rows
    unless the rule draws them (n_outputs, n_nodes)."""
    trace_decay: float
    """Share of an eligibility trace that stays from one iteration to the next."""
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
    forgets: bool = False
    """Whether these are set to zero at the start of an episode, as node states are."""
    draws_feedback: bool = False
    """Whether it reads `Pass.feedback`, which each node draws when it is made."""
    gives_errors: bool = False
    """Whether it writes `Pass.errors`, which some rules of growth and pruning read."""

    @cached_property
    def address(self) -> int:
        """Address of the compiled function; 0 is backpropagation."""
        return 0 if self.credit is None else Part(self.credit, CREDIT).address

    def start_feedback(self, graph: Graph, seed: int) -> Floats:
        """Return the feedback of a graph's nodes at the start of a run."""
        n_rows = graph.n_outputs if self.draws_feedback else 0
        drawn = stream(seed, "feedback").standard_normal((graph.n_nodes, n_rows))
        return np.ascontiguousarray(drawn.T)


@kernel
def carry_feedback(feedback: Floats, node_origin: Ints, rng: np.random.Generator) -> Floats:
    """Return the feedback of the nodes after an edit: new ones draw theirs."""
    carried = np.empty((feedback.shape[0], node_origin.size))
    for node in range(node_origin.size):
        for output in range(feedback.shape[0]):
            if node_origin[node] >= 0:
                carried[output, node] = feedback[output, node_origin[node]]
            else:
                carried[output, node] = rng.standard_normal()
    return carried


@kernel
def give_credit(address: int, seen: Pass) -> None:
    """Write the gradient by the rule at an address, from Python."""
    credit_at(address)(seen)


def _pass_type() -> Any:
    graph = Graph.from_edges(1, 1, edges=[(0, 1, 1.0)])
    row, table = np.zeros(1), np.zeros((2, 2))
    network = NetworkNumbers.of(NetworkConfig(n_inputs=1, n_outputs=1))
    ends, tables = (graph.source, row, graph.source), (table, table)
    return typeof(Pass(*ends, *tables, row, table, *tables, 0.5, network))


CREDIT = types.void(_pass_type())
credit_at = part_at(CREDIT)
