"""Relay: the paper's growth rule, a relay node beside each unstable edge, and exploration.

Paper: Sec. III-C1 and III-C2, Fig. 2.  Decides only; `graph.edit` changes the graph.
"""

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import Graph, places
from smgrnn.kernels import kernel
from smgrnn.plasticity.draw import new_weight, subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.exploration import Exploration, explore, plan_exploration
from smgrnn.plasticity.history import UpdateHistory, edge_statistics
from smgrnn.plasticity.instability import is_unstable, unstable_edges
from smgrnn.plasticity.numbers import EXPLORATION, INSTABILITY, NEW_EDGES, RuleNumbers
from smgrnn.plasticity.rule import Decision, Rule


@kernel
def insert_relays(
    graph: Graph, edges: Ints, numbers: RuleNumbers, rng: np.random.Generator, edit: GraphEdit
) -> None:
    """Write i -> h_new -> j for each edge i -> j into the first 3 · edges rows of `edit`.

    The edge itself stays; the new weights are small, so that the new path disturbs nothing yet.
    """
    for k in range(edges.size):
        source = graph.node_ids[graph.source[edges[k]]]
        target = graph.node_ids[graph.target[edges[k]]]
        relay, edge = graph.next_node_id + k, graph.next_edge_id + 2 * k
        add_node, add_edge = Operation.ADD_NODE.value, Operation.ADD_EDGE.value
        cause, row = Cause.RELAY.value, 3 * k
        write_change(edit, row, add_node, cause, relay, source, target, 0.0)
        weight = new_weight(rng, numbers)
        write_change(edit, row + 1, add_edge, cause, edge, source, relay, weight)
        weight = new_weight(rng, numbers)
        write_change(edit, row + 2, add_edge, cause, edge + 1, relay, target, weight)


@kernel
def relay_count(evidence: Evidence, numbers: RuleNumbers, n_edges_each: int) -> tuple[int, bool]:
    """Return how many nodes the unstable edges ask for, and whether a limit allows only fewer.

    Each node brings so many edges.
    """
    n_unstable = places(unstable_edges(evidence, numbers)).size
    n_wanted = min(n_unstable, numbers.max_relays)
    room = numbers.max_nodes - evidence.graph.node_ids.size
    if n_edges_each > 0:
        room = min(room, (numbers.max_edges - evidence.graph.source.size) // n_edges_each)
    n = min(n_wanted, max(room, 0))
    return n, n < n_wanted


@kernel
def grow(
    evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator, explores: bool
) -> Decision:
    """Insert relays on unstable edges, then explore; N_t and S_t are those before the relays."""
    graph = evidence.graph
    unstable = places(unstable_edges(evidence, numbers))
    n_relays, is_capped = relay_count(evidence, numbers, 2)
    relayed = subset(rng, unstable.size, n_relays)
    for k in range(n_relays):
        relayed[k] = unstable[relayed[k]]

    plan = Exploration(0, False, np.zeros(1, dtype=np.int64))
    if explores:
        plan = plan_exploration(graph, numbers, rng, unstable.size, 2 * n_relays)
    n_changes = 3 * n_relays + plan.n_edges
    edit = GraphEdit(np.empty((n_changes, 5), dtype=np.int64), np.empty(n_changes))
    insert_relays(graph, relayed, numbers, rng, edit)
    explore(graph, plan, numbers, rng, edit)
    return Decision(edit, plan.is_capped or is_capped)


def _relay_and_explore(
    evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator
) -> Decision:
    return grow(evidence, numbers, rng, True)


def _relay(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    return grow(evidence, numbers, rng, False)


def all_stable(
    weight: Floats, history: UpdateHistory, numbers: RuleNumbers, first: int, last: int
) -> bool:
    """Return whether no edge is unstable; only those in [first, last) have ever moved."""
    is_found = False
    for edge in range(np.uint64(first), np.uint64(last)):
        count, mean, variance = edge_statistics(history, edge)
        unstable = is_unstable(mean, variance, weight[edge], numbers)
        is_found |= unstable and count >= numbers.min_count
    return not is_found


RELAYS = INSTABILITY | NEW_EDGES | {"max_relays", "max_nodes"}
"""Settings of rules that insert relays."""
RULE = Rule(
    "relay",
    "relays on unstable edges, and random edges: the paper's",
    _relay_and_explore,
    settings=RELAYS | EXPLORATION,
)
ALONE = Rule("relay-alone", "relays on unstable edges", _relay, is_idle=all_stable, settings=RELAYS)
