"""Weak edges: the paper's pruning rule drops weak, stalled edges.

Paper: Sec. III-C3, Eq. (7).  Decides only; `graph.edit` changes the graph.
"""

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.graph.edit import Cause
from smgrnn.graph.state import places
from smgrnn.kernels import inlined, kernel
from smgrnn.plasticity.draw import subset
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.history import UpdateHistory, edge_statistics
from smgrnn.plasticity.numbers import WEAKNESS, RuleNumbers
from smgrnn.plasticity.orphans import remove_edges
from smgrnn.plasticity.rule import Decision, Rule


@inlined
def is_weak(mean: float, weight: float, weight_threshold: float, update_threshold: float) -> bool:
    """Return whether an edge has a small weight and a stalled update -- Eq. (7)."""
    return abs(weight) <= weight_threshold and abs(mean) <= update_threshold


@kernel
def weak_edges(evidence: Evidence, numbers: RuleNumbers) -> Bools:
    """Flag the weak edges, W_t, of those that were watched for long enough and are not spared."""
    flags = np.empty(evidence.mean.size, dtype=np.bool_)
    for edge in range(flags.size):
        mean, weight = evidence.mean[edge], evidence.graph.weight[edge]
        weak = is_weak(mean, weight, numbers.weight_threshold, numbers.update_threshold)
        is_watched = evidence.counts[edge] >= numbers.min_count
        flags[edge] = weak & is_watched & (not evidence.spared[edge])
    return flags


@kernel
def prune_count(n_weak: int, prune_fraction: float) -> int:
    """Return how many weak edges one call removes: η of them, rounded, and at least one."""
    return max(int(np.floor(prune_fraction * n_weak + 0.5)), min(n_weak, 1))


def _prune(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Remove a random share of the weak edges, and the nodes this orphans."""
    weak = places(weak_edges(evidence, numbers))
    goes = np.zeros(evidence.mean.size, dtype=np.bool_)
    for k in subset(rng, weak.size, prune_count(weak.size, numbers.prune_fraction)):
        goes[weak[k]] = True
    return Decision(remove_edges(evidence.graph, goes, Cause.WEAK_EDGE.value, numbers), False)


def none_weak(
    weight: Floats, history: UpdateHistory, numbers: RuleNumbers, first: int, last: int
) -> bool:
    """Return whether no edge is weak and no orphan is looked for."""
    is_found = numbers.orphan_removal
    if not is_found:
        for edge in range(weight.size):
            count, mean, _ = edge_statistics(history, edge)
            weak = is_weak(mean, weight[edge], numbers.weight_threshold, numbers.update_threshold)
            is_found |= weak and count >= numbers.min_count
    return not is_found


RULE = Rule(
    "weak",
    "small weights that stopped moving: the paper's",
    _prune,
    none_weak,
    settings=WEAKNESS,
)
