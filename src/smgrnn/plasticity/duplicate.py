"""Duplicating a node: where an edge is unstable, a copy of its source takes part of the work.

The copy has the edges into the source, with their weights, and one weak edge to where the unstable
edge leads, so that it disturbs nothing yet.  The copy of an input hears that input, with weight 1.
"""

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import places, row_starts
from smgrnn.kernels import kernel
from smgrnn.plasticity.draw import new_weight, subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.instability import unstable_edges
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.relay import RELAYS, all_stable, relay_count
from smgrnn.plasticity.rule import Decision, Rule


@kernel
def _n_edges_of(evidence: Evidence, starts: Ints, edge: int) -> int:
    """Return the edges that a copy of the source of an edge brings."""
    source = evidence.graph.source[edge]
    if source < evidence.graph.n_inputs:
        return 2
    return int(starts[source + 1] - starts[source] + 1)


@kernel
def _copy(
    evidence: Evidence,
    starts: Ints,
    unstable: int,
    edit: GraphEdit,
    row: int,
    node: int,
    edge: int,
    weight: float,
) -> int:
    """Write a copy of the source of an edge into the edit, from `row` on; return the row after."""
    graph, cause = evidence.graph, Cause.DUPLICATE.value
    add_node, add_edge = Operation.ADD_NODE.value, Operation.ADD_EDGE.value
    source, target = graph.source[unstable], graph.node_ids[graph.target[unstable]]
    write_change(edit, row, add_node, cause, node, graph.node_ids[source], target, 0.0)
    row += 1
    if source < graph.n_inputs:
        write_change(edit, row, add_edge, cause, edge, graph.node_ids[source], node, 1.0)
        row, edge = row + 1, edge + 1
    else:
        for old in range(starts[source], starts[source + 1]):
            sender, same = graph.node_ids[graph.source[old]], graph.weight[old]
            write_change(edit, row, add_edge, cause, edge, sender, node, same)
            row, edge = row + 1, edge + 1
    write_change(edit, row, add_edge, cause, edge, node, target, weight)
    return row + 1


def _duplicate(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Copy the sources of some of the unstable edges, as far as the limits allow."""
    graph = evidence.graph
    starts = row_starts(graph.target, graph.node_ids.size)
    unstable = places(unstable_edges(evidence, numbers))
    n_wanted, is_capped = relay_count(evidence, numbers, 0)
    chosen = subset(rng, unstable.size, n_wanted)
    room, n_edges, n_copies = numbers.max_edges - graph.source.size, 0, 0
    for k in range(n_wanted):
        n_more = _n_edges_of(evidence, starts, unstable[chosen[k]])
        if n_edges + n_more > room:
            is_capped = True
            break
        n_edges, n_copies = n_edges + n_more, n_copies + 1
    n_changes = n_edges + n_copies
    edit, row = GraphEdit(np.empty((n_changes, 5), dtype=np.int64), np.empty(n_changes)), 0
    for k in range(n_copies):
        node, edge = graph.next_node_id + k, graph.next_edge_id + row - k
        weight = new_weight(rng, numbers)
        row = _copy(evidence, starts, unstable[chosen[k]], edit, row, node, edge, weight)
    return Decision(edit, is_capped)


RULE = Rule(
    "duplicate",
    "copies of the nodes that unstable edges leave",
    _duplicate,
    is_idle=all_stable,
    settings=RELAYS,
)
