"""Growth by gradient: the absent edges that the loss pulls at most.

The mean of error at the target × activity at the source is the gradient that an edge of weight 0
would have.  `frugal` is both ways to grow: candidate nodes, and absent edges.
"""

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.edit import Cause, GraphEdit, Operation, write_change
from smgrnn.graph.state import Graph, row_starts
from smgrnn.kernels import kernel
from smgrnn.plasticity.candidates import (
    best_candidate,
    carry,
    fits,
    n_needed,
    renew,
    scores,
    start,
    step,
    write_join,
)
from smgrnn.plasticity.contribution import contributions, weakest
from smgrnn.plasticity.evidence import Evidence, Memory
from smgrnn.plasticity.numbers import AIM, CANDIDATE_SETTINGS, RuleNumbers
from smgrnn.plasticity.rule import Decision, Rule

MOST_ADDED = 2
"""Absent edges that one call adds at most."""
SWAP_FACTOR, SWAP_LEAST = 2.0, 0.01
"""An edge takes another's place if it promises this many times the other's worth, and this share
of the error at the outputs."""


@kernel
def absent_pairs(graph: Graph) -> Ints:
    """Return all pairs without an edge, from any node but outputs to any but inputs (2, n_pairs).

    Outputs are read, not listened to.
    """
    n_nodes, first_hidden = graph.node_ids.size, graph.n_inputs + graph.n_outputs
    starts = row_starts(graph.target, n_nodes)
    pairs = np.empty((2, n_nodes * n_nodes), dtype=np.int64)
    n_pairs = 0
    for target in range(graph.n_inputs, n_nodes):
        edge = starts[target]
        for source in range(n_nodes):
            while edge < starts[target + 1] and graph.source[edge] < source:
                edge += 1
            is_there = edge < starts[target + 1] and graph.source[edge] == source
            is_output = graph.n_inputs <= source < first_hidden
            if not (is_there or is_output or source == target):
                pairs[0, n_pairs], pairs[1, n_pairs] = source, target
                n_pairs += 1
    return pairs[:, :n_pairs].copy()


def _name_pairs(graph: Graph, memory: Memory, numbers: RuleNumbers) -> Ints:
    return absent_pairs(graph)


@kernel
def pulls(evidence: Evidence) -> Floats:
    """Return the gradient of each absent edge for a source of mean square 1 (n_pairs,)."""
    found = np.zeros(evidence.product.size)
    for pair in range(found.size):
        square = evidence.square[evidence.pairs[0, pair]]
        if square > 0.0:
            found[pair] = abs(evidence.product[pair]) / np.sqrt(square)
    return found


@kernel
def best_swap(evidence: Evidence) -> int:
    """Return the absent edge that is worth more than the weakest of the graph; -1 if none is.

    Both are worth what a step to the minimum would change in the loss, to second order, if the
    curvature were the mean square of the gradient.
    """
    graph, best, most, total = evidence.graph, -1, 0.0, 0.0
    pull = pulls(evidence)
    for pair in range(pull.size):
        strain = evidence.strain[evidence.pairs[1, pair]]
        worth = pull[pair] ** 2 / (2.0 * strain) if strain > 0.0 else 0.0
        if worth > most:
            best, most = pair, worth
    for output in range(graph.n_inputs, graph.n_inputs + graph.n_outputs):
        total += evidence.strain[output]
    edge = weakest(evidence, contributions(evidence), np.ones(graph.source.size, dtype=np.bool_))
    loss = 0.0
    if edge >= 0:
        square, strain = evidence.square[graph.source[edge]], evidence.strain[graph.target[edge]]
        loss = 0.5 * graph.weight[edge] ** 2 * square * strain
    return best if most > SWAP_FACTOR * loss and most > SWAP_LEAST * total else -1


@kernel
def choose_edges(evidence: Evidence, numbers: RuleNumbers, n_taken: int) -> Ints:
    """Return the absent edges to add in this call; `n_taken` edges are added already."""
    goal, n_edges = evidence.goal, evidence.graph.source.size + n_taken
    n_wanted = 0
    if goal.grows:
        n_wanted = min(MOST_ADDED, max(goal.size - n_edges, 0) + goal.slack)
    elif goal.swaps:
        swap = best_swap(evidence)
        if swap >= 0 and n_edges < numbers.max_edges:
            return np.full(1, swap)
    n_wanted = min(n_wanted, numbers.max_edges - n_edges)
    chosen = np.empty(max(n_wanted, 0), dtype=np.int64)
    pull, n_chosen = pulls(evidence), 0
    while n_chosen < chosen.size:
        best = -1
        for pair in range(pull.size):
            if pull[pair] > 0.0 and (best < 0 or pull[pair] > pull[best]):
                best = pair
        if best < 0:
            break
        chosen[n_chosen], pull[best] = best, 0.0
        n_chosen += 1
    return chosen[:n_chosen]


@kernel
def grow(
    evidence: Evidence,
    numbers: RuleNumbers,
    rng: np.random.Generator,
    adds_nodes: bool,
    adds_edges: bool,
) -> Decision:
    """Join the best candidate if there is room for it, and add the best absent edges."""
    graph, goal, memory = evidence.graph, evidence.goal, evidence.memory
    n_nodes, n_edges = graph.node_ids.size, graph.source.size
    found, joined, n_joined, outputs = np.zeros((0, 0)), -1, 0, np.empty(0, dtype=np.int64)
    if adds_nodes:
        found = scores(memory)
    if adds_nodes and goal.grows:
        joined, outputs = best_candidate(found)
    if joined >= 0:
        n_joined = n_needed(memory, joined, outputs.size)
        room = min(max(goal.size - n_edges, 0) + goal.slack, numbers.max_edges - n_edges)
        if n_joined > room or n_nodes >= numbers.max_nodes:
            joined, n_joined = -1, 0
    chosen = np.empty(0, dtype=np.int64)
    if adds_edges:
        chosen = choose_edges(evidence, numbers, n_joined)
    first = n_joined + (joined >= 0)
    edit = GraphEdit(
        np.empty((first + chosen.size, 5), dtype=np.int64), np.empty(first + chosen.size)
    )
    if joined >= 0:
        write_join(edit, graph, memory, joined, outputs, found)
    for k in range(chosen.size):
        source, target = evidence.pairs[0, chosen[k]], evidence.pairs[1, chosen[k]]
        ends = graph.node_ids[source], graph.node_ids[target]
        edge, cause = graph.next_edge_id + n_joined + k, Cause.GRADIENT.value
        operation = Operation.ADD_EDGE.value
        write_change(edit, first + k, operation, cause, edge, ends[0], ends[1], 0.0)
    if adds_nodes:
        renew(evidence, numbers, joined, found, rng)
    return Decision(edit, False)


def _both(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    return grow(evidence, numbers, rng, True, True)


def _candidates(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    return grow(evidence, numbers, rng, True, False)


def _edges(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    return grow(evidence, numbers, rng, False, True)


FRUGAL = Rule(
    "frugal",
    "the best of many candidate nodes, and the absent edges that the loss pulls at most",
    _both,
    settings=AIM | CANDIDATE_SETTINGS | {"max_nodes", "max_edges"},
    follows_size=True,
    reads_nodes=True,
    pairs=_name_pairs,
    start=start,
    fits=fits,
    step=step,
    carry=carry,
)
CANDIDATES = Rule(
    "candidates",
    "the best of many candidate nodes",
    _candidates,
    settings=AIM | CANDIDATE_SETTINGS | {"max_nodes", "max_edges"},
    follows_size=True,
    reads_nodes=True,
    start=start,
    fits=fits,
    step=step,
    carry=carry,
)
RULE = Rule(
    "gradient",
    "absent edges that the loss pulls at most",
    _edges,
    settings=AIM | {"max_edges"},
    follows_size=True,
    reads_nodes=True,
    pairs=_name_pairs,
)
