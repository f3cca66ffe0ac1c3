"""Pruning by contribution: the edges that carry least go, until the graph has its size.

An edge carries |weight| × the root mean square of its source.
"""

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.graph.edit import Cause
from smgrnn.kernels import kernel
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.history import TOTAL
from smgrnn.plasticity.numbers import AIM, RuleNumbers
from smgrnn.plasticity.orphans import orphans, remove_edges
from smgrnn.plasticity.rule import Decision, Rule

YOUTH = 1000
"""Updates for which a new edge is spared while there is another to take."""


@kernel
def contributions(evidence: Evidence) -> Floats:
    """Return how much each edge carries (n_edges,); before any update, its absolute weight."""
    graph = evidence.graph
    found = np.abs(graph.weight)
    if evidence.n_updates > 0:
        for edge in range(found.size):
            found[edge] *= np.sqrt(evidence.square[graph.source[edge]])
    return found


@kernel
def weakest(evidence: Evidence, carried: Floats, stays: Bools) -> int:
    """Return the edge that carries least of those that may go, a young one last; -1 if none may."""
    history, best, is_best_young = evidence.history, -1, True
    for edge in range(carried.size):
        is_young = history.clock[TOTAL] - history.born[history.slot[edge]] < YOUTH
        can_go = stays[edge] and not evidence.spared[edge]
        if not can_go or (is_young and not is_best_young):
            continue
        if best < 0 or (is_best_young and not is_young) or carried[edge] < carried[best]:
            best, is_best_young = edge, is_young
    return best


@kernel
def _is_constant(evidence: Evidence, node: int) -> bool:
    """Return whether a node's state never changed, which takes two updates to say."""
    square = evidence.square[node]
    is_still = square - evidence.activity[node] ** 2 <= 1e-12 * square
    return bool(is_still and evidence.n_updates > 1)


@kernel
def release(evidence: Evidence, stays: Bools) -> int:
    """Take the edges of hidden nodes that do nothing any more; return how many edges are left.

    That is of nodes without edges in or out, and of those that hear nothing but constants.
    """
    graph = evidence.graph
    first_hidden = graph.n_inputs + graph.n_outputs
    hears = np.zeros(graph.node_ids.size, dtype=np.bool_)
    for edge in range(stays.size):
        if stays[edge] and not _is_constant(evidence, graph.source[edge]):
            hears[graph.target[edge]] = True
    for edge in range(stays.size):
        is_deaf = graph.target[edge] >= first_hidden and not hears[graph.target[edge]]
        if is_deaf and not evidence.spared[edge]:
            stays[edge] = False
    is_orphan, n_left = orphans(graph, stays), 0
    for edge in range(stays.size):
        if is_orphan[graph.source[edge]] or is_orphan[graph.target[edge]]:
            stays[edge] = False
        n_left += stays[edge]
    return n_left


def _prune(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Remove the edge that carries least, one after the other, until the graph has its size."""
    n_left, stays = evidence.graph.source.size, np.ones(evidence.mean.size, dtype=np.bool_)
    carried = contributions(evidence)
    while n_left > evidence.goal.size:
        edge = weakest(evidence, carried, stays)
        if edge < 0:
            break
        stays[edge] = False
        n_left = release(evidence, stays)
    return Decision(remove_edges(evidence.graph, ~stays, Cause.CONTRIBUTION.value, numbers), False)


RULE = Rule(
    "contribution",
    "the edges that carry least, down to the size",
    _prune,
    settings=AIM | {"history_on_edit"},  # which says how old an edge is
    follows_size=True,
    reads_nodes=True,
)
