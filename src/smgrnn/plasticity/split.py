"""Splitting an edge, as NEAT adds a node: it takes the place of the edge.

Stanley and Miikkulainen (2002): i -> j of weight w becomes i -> h of weight 1 and h -> j of weight
w.  The edges are those that a relay would be put beside, so that beside "relay-alone" only the edit
is another.
"""

import numpy as np

from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import places
from smgrnn.plasticity.draw import subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.instability import unstable_edges
from smgrnn.plasticity.numbers import INSTABILITY, RuleNumbers
from smgrnn.plasticity.relay import all_stable, relay_count
from smgrnn.plasticity.rule import Decision, Rule


def _split(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Split some of the unstable edges."""
    graph, cause = evidence.graph, Cause.SPLIT.value
    add_node, add_edge = Operation.ADD_NODE.value, Operation.ADD_EDGE.value
    unstable = places(unstable_edges(evidence, numbers) & ~evidence.spared)
    n_wanted, is_capped = relay_count(evidence, numbers, 1)
    n_splits = min(n_wanted, unstable.size)
    edit = GraphEdit(np.empty((4 * n_splits, 5), dtype=np.int64), np.empty(4 * n_splits))
    chosen = subset(rng, unstable.size, n_splits)
    for k in range(n_splits):
        old, row = unstable[chosen[k]], 4 * k
        source, target = graph.node_ids[graph.source[old]], graph.node_ids[graph.target[old]]
        node, edge, weight = graph.next_node_id + k, graph.next_edge_id + 2 * k, graph.weight[old]
        write_change(edit, row, add_node, cause, node, source, target, 0.0)
        write_change(edit, row + 1, add_edge, cause, edge, source, node, 1.0)
        write_change(edit, row + 2, add_edge, cause, edge + 1, node, target, weight)
        remove_edge, number = Operation.REMOVE_EDGE.value, graph.edge_ids[old]
        write_change(edit, row + 3, remove_edge, cause, number, source, target, weight)
    return Decision(edit, is_capped)


RULE = Rule(
    "split",
    "unstable edges split in two, as NEAT does",
    _split,
    is_idle=all_stable,
    settings=INSTABILITY | {"max_relays", "max_nodes", "max_edges"},
)
