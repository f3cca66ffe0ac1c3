"""The Structural Plasticity Module: when to grow, when to prune, and by which rule.

Paper: Sec. III-C4, Eq. (9).  One call looks at the graph and at the window statistics of its edges
and returns a GraphEdit.  All it reads is the graph as it was before the call.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.config import PlasticityConfig
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import Graph, places
from smgrnn.interrupts import interrupts_deferred
from smgrnn.kernels import inlined, kernel
from smgrnn.plasticity.draw import bernoulli, gaussian, subset
from smgrnn.plasticity.exploration import batch_size, missing_before, missing_edges
from smgrnn.plasticity.history import UpdateHistory, edge_statistics, window_statistics
from smgrnn.plasticity.instability import SCALES, is_unstable, unstable_edges
from smgrnn.plasticity.pruning import is_weak, orphans, prune_count, weak_edges
from smgrnn.plasticity.relay import insert_relays


class Rules(NamedTuple):
    """A PlasticityConfig in the form kernels take: numbers only."""

    min_count: int
    interval_width: float
    fluctuation_threshold: float
    scale: int
    epsilon: float
    prune_period: int
    edge_growth: bool
    max_relays: int
    initial_weight: float
    exploration: bool
    explore_probability: float
    explore_ratio: float
    explore_inputs: bool
    pruning: bool
    weight_threshold: float
    update_threshold: float
    prune_fraction: float
    orphan_removal: bool
    max_nodes: int
    max_edges: int

    @classmethod
    def of(cls, config: PlasticityConfig) -> Self:
        """Translate the settings."""
        numbers = config.to_dict() | {
            "min_count": config.window if config.full_window else 1,
            "edge_growth": config.growth in ("relay", "relay-alone"),
            "exploration": config.growth in ("relay", "exploration"),
            "pruning": config.pruning == "weak",
            "scale": SCALES.index(config.scale),
            "max_relays": config.max_nodes if config.max_relays is None else config.max_relays,
        }
        return cls(**{name: numbers[name] for name in cls._fields})


class Decision(NamedTuple):
    """What one call decided, and whether a limit kept it from growing more."""

    edit: GraphEdit
    is_capped: bool


def decide(
    graph: Graph, history: UpdateHistory, rules: Rules, call: int, rng: np.random.Generator
) -> Decision:
    """Prune at every prune_period-th call and grow at the others -- Eq. (9); calls count from 1."""
    with interrupts_deferred():
        return decide_edit(graph, history, rules, call, rng)


@kernel
def decide_edit(
    graph: Graph, history: UpdateHistory, rules: Rules, call: int, rng: np.random.Generator
) -> Decision:
    """Decide, from compiled code."""
    counts, mean, variance = window_statistics(history)
    is_judged = counts >= rules.min_count
    if call % rules.prune_period == 0:
        return Decision(decide_pruning(graph, mean, is_judged, rules, rng), False)
    return decide_growth(graph, mean, variance, is_judged, rules, rng)


@inlined
def is_idle(
    weight: Floats, history: UpdateHistory, rules: Rules, call: int, first: int, last: int
) -> bool:
    """Return whether `decide_edit` is certain to find nothing and to draw nothing.

    Looks at the statistics and builds nothing, so that a call at every update stays cheap.  Only
    the edges [first, last) have ever moved.
    """
    if call % rules.prune_period == 0:
        is_found = rules.orphan_removal
        if rules.pruning and not is_found:
            for edge in range(weight.size):
                count, mean, _ = edge_statistics(history, edge)
                weak = is_weak(mean, weight[edge], rules.weight_threshold, rules.update_threshold)
                is_found |= weak and count >= rules.min_count
        return not is_found
    is_found = rules.exploration
    if rules.edge_growth and not is_found:
        for edge in range(np.uint64(first), np.uint64(last)):
            count, mean, variance = edge_statistics(history, edge)
            unstable = is_unstable(
                mean,
                variance,
                weight[edge],
                rules.interval_width,
                rules.fluctuation_threshold,
                rules.epsilon,
                rules.scale,
            )
            is_found |= unstable and count >= rules.min_count
    return not is_found


@kernel
def decide_growth(
    graph: Graph,
    mean: Floats,
    variance: Floats,
    is_judged: Bools,
    rules: Rules,
    rng: np.random.Generator,
) -> Decision:
    """Insert relays on unstable edges, then explore."""
    n_nodes, n_edges = graph.node_ids.size, graph.source.size
    is_unstable = unstable_edges(
        mean,
        variance,
        graph.weight,
        rules.interval_width,
        rules.fluctuation_threshold,
        rules.epsilon,
        rules.scale,
    )
    unstable = places(is_unstable & is_judged)

    n_wanted = min(unstable.size, rules.max_relays) if rules.edge_growth else 0
    room = min(rules.max_nodes - n_nodes, (rules.max_edges - n_edges) // 2)
    n_relays = min(n_wanted, max(room, 0))
    is_capped = n_relays < n_wanted
    relayed = subset(rng, unstable.size, n_relays)
    for k in range(n_relays):
        relayed[k] = unstable[relayed[k]]

    is_exploring = False
    if rules.exploration:
        is_exploring = bernoulli(rng, rules.explore_probability) or unstable.size == 0
    n_explored = 0
    before = np.zeros(1, dtype=np.int64)
    if is_exploring:
        before = missing_before(graph, rules.explore_inputs)
        n_wanted = min(batch_size(n_nodes, rules.explore_ratio), before[-1])
        n_explored = min(n_wanted, max(rules.max_edges - n_edges - 2 * n_relays, 0))
        is_capped = is_capped or n_explored < n_wanted

    n_changes = 3 * n_relays + n_explored
    edit = GraphEdit(np.empty((n_changes, 5), dtype=np.int64), np.empty(n_changes))
    insert_relays(graph, relayed, rules.initial_weight, rng, edit)
    if n_explored > 0:
        ranks = subset(rng, before[-1], n_explored)
        pairs = missing_edges(graph, before, ranks)
        for k in range(n_explored):
            row, edge = 3 * n_relays + k, graph.next_edge_id + 2 * n_relays + k
            source, target = graph.node_ids[pairs[k, 0]], graph.node_ids[pairs[k, 1]]
            add_edge, cause = Operation.ADD_EDGE.value, Cause.EXPLORATION.value
            weight = gaussian(rng, rules.initial_weight)
            write_change(edit, row, add_edge, cause, edge, source, target, weight)
    return Decision(edit, is_capped)


@kernel
def decide_pruning(
    graph: Graph, mean: Floats, is_judged: Bools, rules: Rules, rng: np.random.Generator
) -> GraphEdit:
    """Remove a random share of the weak edges, then the nodes this orphans."""
    n_nodes, n_edges = graph.node_ids.size, graph.source.size
    edge_stays = np.ones(n_edges, dtype=np.bool_)
    if rules.pruning:
        flags = weak_edges(mean, graph.weight, rules.weight_threshold, rules.update_threshold)
        weak = places(flags & is_judged)
        for k in subset(rng, weak.size, prune_count(weak.size, rules.prune_fraction)):
            edge_stays[weak[k]] = False
    is_orphan = np.zeros(n_nodes, dtype=np.bool_)
    if rules.orphan_removal:
        is_orphan = orphans(graph, edge_stays)
    is_loose = np.empty(n_edges, dtype=np.bool_)  # by an orphan, not by its own weakness
    for edge in range(n_edges):
        at_orphan = is_orphan[graph.source[edge]] or is_orphan[graph.target[edge]]
        is_loose[edge] = at_orphan and edge_stays[edge]

    pruned, loosened, orphaned = places(~edge_stays), places(is_loose), places(is_orphan)
    n_changes = pruned.size + loosened.size + orphaned.size
    edit = GraphEdit(np.empty((n_changes, 5), dtype=np.int64), np.empty(n_changes))
    row = 0
    for edges, cause in ((pruned, Cause.WEAK_EDGE.value), (loosened, Cause.ORPHAN.value)):
        for edge in edges:
            source, target = graph.node_ids[graph.source[edge]], graph.node_ids[graph.target[edge]]
            number, weight = graph.edge_ids[edge], graph.weight[edge]
            operation = Operation.REMOVE_EDGE.value
            write_change(edit, row, operation, cause, number, source, target, weight)
            row += 1
    for node in orphaned:
        number, operation = graph.node_ids[node], Operation.REMOVE_NODE.value
        write_change(edit, row, operation, Cause.ORPHAN.value, number, -1, -1, 0.0)
        row += 1
    return edit
