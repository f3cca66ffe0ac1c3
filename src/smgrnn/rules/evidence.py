"""Evidence: everything that a growth or pruning rule may read when the module is called."""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.state import Graph
from smgrnn.rules.history import UpdateHistory
from smgrnn.rules.size import Goal

if TYPE_CHECKING:
    from smgrnn.rules.candidates import Candidates

Arrays = TypeVar("Arrays", bound="tuple[Any, ...]")


class Limits:
    """The nodes and edges that one call may still add; the module's, for rules to ask.

    >>> limits = Limits(nodes=10, edges=5)
    >>> limits.grant(4, nodes=1, edges=2), limits.edges, limits.is_reached
    (2, 1, True)
    """

    def __init__(self, nodes: int, edges: int) -> None:
        self.nodes = max(nodes, 0)
        """Nodes that may still be added."""
        self.edges = max(edges, 0)
        """Edges that may still be added."""
        self.is_reached = False
        """Whether a limit kept a rule from adding as much as it wanted."""

    def grant(self, wanted: int, *, nodes: int = 0, edges: int = 0) -> int:
        """Return how many of the wanted additions fit, each of so many nodes and edges."""
        granted = wanted
        if nodes:
            granted = min(granted, self.nodes // nodes)
        if edges:
            granted = min(granted, self.edges // edges)
        self.is_reached |= granted < wanted
        self.nodes -= granted * nodes
        self.edges -= granted * edges
        return granted


class Evidence(NamedTuple):
    """Everything a rule may read; what outlives the call is read-only."""

    graph: Graph
    """The graph before the call."""
    history: UpdateHistory
    """The last updates of each edge."""
    mean: Floats
    """Mean of the updates in each edge's window, μ of Eq. (1) (n_edges,)."""
    variance: Floats
    """Their population variance, σ² of Eq. (1) (n_edges,)."""
    is_watched: Bools
    """Edges with enough updates in their window to be judged (n_edges,)."""
    protected: Bools
    """Edges that must not be removed, because an earlier task needs them (n_edges,)."""
    call: int
    """Number of the call, from 1."""
    limits: Limits
    """The nodes and edges that may be added."""
    goal: Goal
    """The size to aim at now."""
    iterations: int
    """Iterations of a call of the network (K)."""
    n_updates: int
    """Updates since the last call, over which all means below are."""
    activity: Floats
    """Mean state of each node before the last iteration, which is what the outputs receive; empty
    unless the rule asks for statistics of nodes, as the next three are (n_nodes,)."""
    square: Floats
    """Mean squared state of each node (n_nodes,)."""
    error: Floats
    """Mean of dL/d(sum into each node), summed over iterations (n_nodes,)."""
    strain: Floats
    """Mean square of the same (n_nodes,)."""
    absent: Ints
    """Positions of the source and the target of each absent edge, if the rule asks for them
    (2, n_pairs)."""
    absent_gradient: Floats
    """Mean of the error at the target times the activity at the source: the gradient that an edge
    of weight 0 would have there (n_pairs,)."""
    candidates: "Candidates"
    """Candidate nodes, if the rule asks for them."""

    @property
    def output_strain(self) -> float:
        """The squared errors at the outputs, summed."""
        first, last = self.graph.n_inputs, self.graph.n_inputs + self.graph.n_outputs
        return float(sum(self.strain[first:last].tolist()))

    @property
    def is_young(self) -> Bools:
        """Edges that were added in the last thousand updates (n_edges,)."""
        return self.history.ages() < YOUTH


YOUTH = 1000
"""Updates for which an edge is young."""


def protect(evidence: Evidence) -> Evidence:
    """Return evidence whose arrays cannot be written to, for a rule of a user's own."""
    parts = {name: frozen(getattr(evidence, name)) for name in ("graph", "history", "candidates")}
    return frozen(evidence._replace(**parts))


def frozen(values: Arrays) -> Arrays:
    """Return a named tuple, such as a graph, whose arrays are views that cannot be written to."""
    views = []
    for value in values:
        view = value
        if isinstance(value, np.ndarray):
            view = value.view()
            view.flags.writeable = False
        views.append(view)
    return type(values)(*views)
