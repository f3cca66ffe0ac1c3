"""Rule: a way to grow or to prune, and the evidence that it reads.

A rule is an object with `decide(evidence, rng) -> GraphEdit`.  Ours are frozen dataclasses, whose
fields are their settings; a user's rule may be anything with that method.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.state import Graph
from smgrnn.rules.history import UpdateHistory
from smgrnn.rules.size import Goal
from smgrnn.rules.statistics import Candidates
from smgrnn.validation import Choice

Statistic = Literal["nodes", "absent_edges", "candidates"]
Seen = TypeVar("Seen")


class Limits:
    """The nodes and edges that one call may still add.

    >>> limits = Limits(nodes=10, edges=5)
    >>> limits.grant(4, nodes=1, edges=2), limits.edges, limits.is_reached
    (2, 1, True)
    """

    def __init__(self, nodes: int, edges: int) -> None:
        self.nodes, self.edges = max(nodes, 0), max(edges, 0)
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
    """Everything that a rule may read when the module is called.

    Means are over the updates since the last call.  Statistics of nodes and of absent edges, and
    candidates, are empty unless the rule asks for them.
    """

    graph: Graph  #: The graph before the call.
    history: UpdateHistory  #: The last updates of each edge.
    mean: Floats  #: Mean of the updates in each edge's window, μ of Eq. (1) (n_edges,).
    variance: Floats  #: Their population variance, σ² of Eq. (1) (n_edges,).
    is_watched: Bools  #: Edges with enough updates in their window to be judged (n_edges,).
    protected: Bools  #: Edges that must stay, because an earlier task needs them (n_edges,).
    call: int  #: Number of the call, from 1.
    limits: Limits  #: The nodes and edges that may be added.
    goal: Goal  #: The size to aim at now.
    iterations: int  #: Iterations of a call of the network (K).
    n_updates: int  #: Updates since the last call.
    activity: Floats  #: Mean state of each node as the outputs receive it (n_nodes,).
    square: Floats  #: Mean squared state of each node (n_nodes,).
    error: Floats  #: Mean of dL/d(sum into each node), summed over iterations (n_nodes,).
    strain: Floats  #: Mean square of the same (n_nodes,).
    absent: Ints  #: Indices of the source and target of each absent edge (2, n_pairs).
    absent_gradient: Floats  #: Gradient of an absent edge, if its weight were 0 (n_pairs,).
    candidates: Candidates  #: Candidate nodes.


@runtime_checkable
class Rule(Protocol):
    """Anything that decides on an edit."""

    def decide(self, evidence: Any, rng: np.random.Generator) -> Any:
        """Return the GraphEdit of one call; change nothing.

        A rule with candidates may return a pair: the edit, and the candidates for the next calls.
        """


@dataclass(frozen=True, kw_only=True)
class BuiltInRule(Choice):
    """A rule of this package."""

    statistics: ClassVar[tuple[Statistic, ...]] = ()
    """Statistics that it reads beside the update history; they are kept at every update."""
    follows_size: ClassVar[bool] = False
    """Whether it follows the size that the module aims at."""


def follows_size(rule: object) -> bool:
    """Return whether a rule follows the size that the module aims at."""
    return bool(getattr(rule, "follows_size", False))


def frozen(value: Seen) -> Seen:
    """Return a named tuple, such as a graph, with read-only views of its arrays."""
    if isinstance(value, tuple):
        return type(value)(*map(frozen, value))
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def subset(rng: np.random.Generator, n: int, size: int) -> Ints:
    """Return `size` distinct numbers below `n`, ascending, every such set equally likely.

    Floyd's method takes exactly `size` draws however large `n` is; taking all takes none.
    """
    if size == n:
        return np.arange(n)
    chosen: set[int] = set()
    for top in range(n - size, n):
        number = int(rng.integers(0, top + 1))
        chosen.add(top if number in chosen else number)
    return np.array(sorted(chosen), dtype=np.int64)
