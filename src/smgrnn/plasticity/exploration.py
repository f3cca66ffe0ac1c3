"""Random exploratory growth: edges between nodes that are not connected yet.

Paper: Sec. III-C2, Eqs. (5)-(6).  Decides only; `graph.edit` changes the graph.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import Graph, places, rank, row_starts
from smgrnn.kernels import kernel
from smgrnn.plasticity.draw import bernoulli, new_weight, subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.instability import unstable_edges
from smgrnn.plasticity.numbers import EXPLORATION, INSTABILITY, RuleNumbers
from smgrnn.plasticity.rule import Decision, Rule


class Exploration(NamedTuple):
    """The number of edges that one call explores, and the missing edges to draw them from."""

    n_edges: int
    is_capped: bool
    before: Ints
    """Missing edges that end before each node, see `missing_before`."""


@kernel
def batch_size(n_nodes: int, explore_ratio: float) -> int:
    """Return the number of edges that one exploration proposes -- Eq. (5)."""
    return max(int(np.floor(explore_ratio * n_nodes)), 1)


@kernel
def missing_before(graph: Graph, explore_inputs: bool) -> Ints:
    """Count the missing edges S_t -- Eq. (6) -- that end before each node (n_nodes + 1,).

    The last entry is |S_t|.  Inputs count as targets only with `explore_inputs`.
    """
    n_nodes = graph.node_ids.size
    starts = row_starts(graph.target, n_nodes)
    before = np.zeros(n_nodes + 1, dtype=np.int64)
    for target in range(n_nodes):
        missing = 0
        if explore_inputs or target >= graph.n_inputs:
            missing = n_nodes - 1 - (starts[target + 1] - starts[target])
        before[target + 1] = before[target] + missing
    return before


@kernel
def missing_edges(graph: Graph, before: Ints, ranks: Ints) -> Ints:
    """Return the missing edges with these ranks in row order, as position pairs (n, 2).

    Only the rows of these edges are walked; nothing the size of V × V is built.
    """
    starts = row_starts(graph.target, graph.node_ids.size)
    pairs = np.empty((ranks.size, 2), dtype=np.int64)
    for k in range(ranks.size):
        target = rank(before, 0, before.size, ranks[k] + 1) - 1
        source = ranks[k] - before[target]  # each taken node up to it, and the target, moves it on
        is_self_passed = False
        for edge in range(starts[target], starts[target + 1]):
            taken = graph.source[edge]
            if not is_self_passed and target < taken:
                is_self_passed = True
                if target <= source:
                    source += 1
            if taken > source:
                break
            source += 1
        if not is_self_passed and target <= source:
            source += 1
        pairs[k, 0], pairs[k, 1] = source, target
    return pairs


@kernel
def plan_exploration(
    graph: Graph, numbers: RuleNumbers, rng: np.random.Generator, n_unstable: int, n_taken: int
) -> Exploration:
    """Draw B_t, which is forced to 1 without unstable edges, and count the edges to propose.

    `n_taken` edges of the room below `max_edges` are taken already.
    """
    if not (bernoulli(rng, numbers.explore_probability) or n_unstable == 0):
        return Exploration(0, False, np.zeros(1, dtype=np.int64))
    before = missing_before(graph, numbers.explore_inputs)
    n_wanted = min(batch_size(graph.node_ids.size, numbers.explore_ratio), before[-1])
    n_edges = min(n_wanted, max(numbers.max_edges - graph.source.size - n_taken, 0))
    return Exploration(n_edges, n_edges < n_wanted, before)


@kernel
def explore(
    graph: Graph,
    plan: Exploration,
    numbers: RuleNumbers,
    rng: np.random.Generator,
    edit: GraphEdit,
) -> None:
    """Write the explored edges into the last rows of `edit`, below those of other new edges."""
    if plan.n_edges == 0:
        return
    n_before = edit.weight.size - plan.n_edges
    n_new_edges = 0
    for row in range(n_before):
        n_new_edges += edit.rows[row, 0] == Operation.ADD_EDGE.value
    pairs = missing_edges(graph, plan.before, subset(rng, plan.before[-1], plan.n_edges))
    for k in range(plan.n_edges):
        row, edge = n_before + k, graph.next_edge_id + n_new_edges + k
        source, target = graph.node_ids[pairs[k, 0]], graph.node_ids[pairs[k, 1]]
        add_edge, cause = Operation.ADD_EDGE.value, Cause.EXPLORATION.value
        weight = new_weight(rng, numbers)
        write_change(edit, row, add_edge, cause, edge, source, target, weight)


def _explore_alone(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Explore at random, and always if no edge is unstable: instability is still checked."""
    n_unstable = places(unstable_edges(evidence, numbers)).size
    plan = plan_exploration(evidence.graph, numbers, rng, n_unstable, 0)
    edit = GraphEdit(np.empty((plan.n_edges, 5), dtype=np.int64), np.empty(plan.n_edges))
    explore(evidence.graph, plan, numbers, rng, edit)
    return Decision(edit, plan.is_capped)


RULE = Rule("exploration", "random edges", _explore_alone, settings=INSTABILITY | EXPLORATION)
