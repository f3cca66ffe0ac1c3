"""Candidates: nodes that are not in the graph yet, and listen to it until one of them is wanted.

A candidate has random weights from a few sources and no edge to anything.  The rule watches how its
state goes along with the errors at the outputs, as an edge from it would be trained by just that.
The best one joins the graph; the worse half is drawn anew at the call that judges them.

Candidates are heard from the second iteration on, so they need K ≥ 2; they listen to hidden nodes
where K ≥ 3 lets an output hear of it.
"""

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.activation import activate
from smgrnn.graph.edit import Cause, GraphEdit, Operation, sorted_order, write_change
from smgrnn.graph.state import Graph
from smgrnn.kernels import kernel
from smgrnn.plasticity.draw import gaussian, subset
from smgrnn.plasticity.evidence import Evidence, Memory, Moment
from smgrnn.plasticity.numbers import RuleNumbers

STATE, SQUARE, COUNT, DEPTH, PRODUCTS = range(5)
"""Rows of a memory's values after the weights of the sources: the state, the sum of its square,
updates watched, iterations of a call (K), and then, for each output, the sum of error × state.
The rows of its ids are the positions of the sources, and the first output, or -1 if all rest."""

JOINED, JOINED_BY, REDRAWN, LEAST_WATCHED = 2, 0.1, 0.5, 500
"""Outputs that a new node is joined to, the strength of these edges, the share of candidates that
is drawn anew when they are judged, and the updates after which one is."""


def start(graph: Graph, numbers: RuleNumbers, rng: np.random.Generator) -> Memory:
    """Return candidates that hear nothing yet: the first call draws them, knowing the inputs."""
    n_sources = min(numbers.candidate_sources, graph.n_inputs)
    ids = np.zeros((n_sources + 1, numbers.n_candidates), dtype=np.int64)
    ids[-1] = graph.n_inputs
    n_rows = n_sources + PRODUCTS + graph.n_outputs
    return Memory(ids, np.zeros((n_rows, numbers.n_candidates)))


def fits(memory: Memory, graph: Graph, numbers: RuleNumbers) -> bool:
    """Return whether the memory is one of this graph."""
    n_sources = min(numbers.candidate_sources, graph.n_inputs)
    n_rows = n_sources + PRODUCTS + graph.n_outputs
    sources, first = memory.ids[:-1], memory.ids[-1:]
    if sources.shape != memory.values[:n_sources].shape:
        return False
    heard = np.where(memory.values[:n_sources] == 0.0, -1 - np.arange(n_sources)[:, None], sources)
    return bool(
        memory.ids.shape == (n_sources + 1, numbers.n_candidates)
        and memory.values.shape == (n_rows, numbers.n_candidates)
        and ((sources >= 0) & (sources < graph.n_nodes)).all()
        and ((first == graph.n_inputs) | (first == -1)).all()
        and (np.diff(np.sort(heard, axis=0), axis=0) > 0).all()  # or it would bring an edge twice
    )


def step(memory: Memory, moment: Moment, numbers: RuleNumbers) -> None:
    """Run the candidates beside the network, and add up how they go along with the errors."""
    ids, values = memory.ids, memory.values
    n_sources, n_candidates = ids.shape[0] - 1, ids.shape[1]
    first_output = ids[n_sources, 0]
    if first_output < 0:
        return
    trace, errors = moment.trace, moment.errors
    n_iterations, first = errors.shape[0], n_sources + PRODUCTS
    for row in range(1, n_iterations):
        for candidate in range(n_candidates):
            total = 0.0
            for k in range(n_sources):
                total += values[k, candidate] * trace[row - 1, np.uint64(ids[k, candidate])]
            values[n_sources + STATE, candidate] = total
        activate(values, n_sources + STATE, 0, n_candidates, moment.activation)
        for product in range(first, values.shape[0]):
            error = errors[row, first_output + product - first]
            for candidate in range(n_candidates):
                values[product, candidate] += error * values[n_sources + STATE, candidate]
    for candidate in range(n_candidates):
        values[n_sources + SQUARE, candidate] += values[n_sources + STATE, candidate] ** 2
        values[n_sources + COUNT, candidate] += 1.0
        values[n_sources + DEPTH, candidate] = n_iterations


def carry(
    memory: Memory,
    graph: Graph,
    node_origin: Ints,
    edge_origin: Ints,
    numbers: RuleNumbers,
    rng: np.random.Generator,
) -> Memory:
    """Let the candidates listen to the same nodes; one whose source is gone hears nothing."""
    ids, values = memory.ids.copy(), memory.values.copy()
    n_sources = ids.shape[0] - 1
    for candidate in range(ids.shape[1]):
        for k in range(n_sources):
            if memory.ids[k, candidate] < graph.n_inputs:
                continue
            ids[k, candidate] = 0
            is_there = False
            for node in range(node_origin.size):
                if node_origin[node] == memory.ids[k, candidate]:
                    ids[k, candidate], is_there = node, True
            if not is_there:
                values[:n_sources, candidate] = 0.0
    return Memory(ids, values)


@kernel
def scores(memory: Memory) -> Floats:
    """Return how each candidate goes along with the error at each output (outputs, candidates).

    This is the mean of error × state for a state of mean square 1; 0 for one not watched enough,
    and for one that hears nothing, whatever it did before its source was pruned away.
    """
    values, n_sources = memory.values, memory.ids.shape[0] - 1
    found = np.zeros((values.shape[0] - n_sources - PRODUCTS, values.shape[1]))
    for candidate in range(values.shape[1]):
        count, square = values[n_sources + COUNT, candidate], values[n_sources + SQUARE, candidate]
        is_judged = count >= LEAST_WATCHED and n_needed(memory, candidate, 0) > 0
        if not is_judged or square <= 0.0:
            continue
        for output in range(found.shape[0]):
            product = values[n_sources + PRODUCTS + output, candidate]
            found[output, candidate] = product / np.sqrt(square * count)
    return found


@kernel
def best_candidate(found: Floats) -> tuple[int, Ints]:
    """Return the candidate that would change most at the outputs it is joined to, and these.

    The candidate is -1 if none changes anything.
    """
    n_joined, best, most = min(JOINED, found.shape[0]), -1, 0.0
    outputs = np.empty(0, dtype=np.int64)
    for candidate in range(found.shape[1]):
        order, total = sorted_order(-np.abs(found[:, candidate]))[:n_joined], 0.0
        for place in range(n_joined - 1, -1, -1):
            total += abs(found[order[place], candidate])
        if total > most:
            best, most, outputs = candidate, total, order
    return best, outputs


@kernel
def n_needed(memory: Memory, candidate: int, n_joined: int) -> int:
    """Return the edges that a candidate brings with it."""
    n = n_joined
    for k in range(memory.ids.shape[0] - 1):
        n += memory.values[k, candidate] != 0.0
    return n


@kernel
def write_join(
    edit: GraphEdit, graph: Graph, memory: Memory, candidate: int, outputs: Ints, found: Floats
) -> None:
    """Write the candidate's node and edges into the first rows of an edit.

    The edges out of it are weak, and of the sign that lowers the loss.
    """
    values, n_sources = memory.values, memory.ids.shape[0] - 1
    add_node, add_edge = Operation.ADD_NODE.value, Operation.ADD_EDGE.value
    node, edge, cause = graph.next_node_id, graph.next_edge_id, Cause.CANDIDATE.value
    target = graph.node_ids[graph.n_inputs + outputs[0]]
    write_change(edit, 0, add_node, cause, node, -1, target, 0.0)
    row = 1
    for k in range(n_sources):
        if values[k, candidate] != 0.0:
            source, weight = graph.node_ids[memory.ids[k, candidate]], values[k, candidate]
            write_change(edit, row, add_edge, cause, edge + row - 1, source, node, weight)
            row += 1
    mean_square = values[n_sources + SQUARE, candidate] / values[n_sources + COUNT, candidate]
    for output in outputs:
        weight = -np.sign(found[output, candidate]) * JOINED_BY / np.sqrt(mean_square)
        target = graph.node_ids[graph.n_inputs + output]
        write_change(edit, row, add_edge, cause, edge + row - 1, node, target, weight)
        row += 1


@kernel
def renew(
    evidence: Evidence, numbers: RuleNumbers, joined: int, found: Floats, rng: np.random.Generator
) -> None:
    """Draw the joined candidate and the worse half anew, and start watching all judged afresh.

    Those that were not watched long enough are watched on, however short the interval of calls is.
    """
    memory, ids, values = evidence.memory, evidence.memory.ids, evidence.memory.values
    n_sources, n_candidates = ids.shape[0] - 1, ids.shape[1]
    if evidence.goal.is_over:
        ids[n_sources, :] = -1
        return
    worth = np.zeros(n_candidates)
    for candidate in range(n_candidates):
        for output in range(found.shape[0]):
            worth[candidate] += abs(found[output, candidate])
    order = sorted_order(worth)
    for place in range(n_candidates):
        candidate = order[place]
        is_early = values[n_sources + COUNT, candidate] < LEAST_WATCHED
        if is_early and n_needed(memory, candidate, 0) > 0:
            continue
        is_idle = worth[candidate] == 0.0
        if is_idle or candidate == joined or place < REDRAWN * n_candidates:
            _draw(evidence, numbers, candidate, rng)
        values[n_sources + SQUARE : n_sources + DEPTH, candidate] = 0.0
        values[n_sources + PRODUCTS :, candidate] = 0.0


@kernel
def _draw(
    evidence: Evidence, numbers: RuleNumbers, candidate: int, rng: np.random.Generator
) -> None:
    """Let a candidate listen to other nodes, with weights for their usual strength."""
    graph, ids, values = evidence.graph, evidence.memory.ids, evidence.memory.values
    n_sources, n_nodes = ids.shape[0] - 1, graph.n_inputs
    if values[n_sources + DEPTH, candidate] >= 3.0:
        n_nodes = graph.node_ids.size - graph.n_outputs
    chosen = subset(rng, n_nodes, n_sources)
    for k in range(n_sources):
        node = chosen[k] if chosen[k] < graph.n_inputs else chosen[k] + graph.n_outputs
        ids[k, candidate] = node
        strength = max(np.sqrt(evidence.square[node]), 1e-3)
        values[k, candidate] = gaussian(rng, numbers.candidate_gain) / strength
