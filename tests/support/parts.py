"""Rules as another package would bring them: compiled, with all that a rule can have."""

import numpy as np
from smgrnn.learning.rule import LearningRule, Pass
from smgrnn.plasticity import Decision, Evidence, Memory, Moment, Rule, RuleNumbers

from smgrnn.arrays import Ints
from smgrnn.graph import Graph, GraphEdit
from smgrnn.graph.edit import Cause, Operation, write_change
from smgrnn.graph.state import find_edge, row_starts
from smgrnn.kernels import kernel


@kernel
def absent_pairs(graph: Graph) -> Ints:
    """All pairs without an edge that do not end in an input, in row order (2, n)."""
    n_nodes, starts = graph.node_ids.size, row_starts(graph.target, graph.node_ids.size)
    found = np.empty((2, n_nodes * n_nodes), dtype=np.int64)
    n = 0
    for target in range(graph.n_inputs, n_nodes):
        for source in range(n_nodes):
            if source != target and find_edge(graph, starts, source, target) < 0:
                found[0, n], found[1, n] = source, target
                n += 1
    return found[:, :n].copy()


def name_pairs(graph: Graph, memory: Memory, numbers: RuleNumbers) -> Ints:
    return absent_pairs(graph)


def start(graph: Graph, numbers: RuleNumbers, rng: np.random.Generator) -> Memory:
    """Remember for each node how often it was seen, from a random number on."""
    return Memory(np.zeros((1, graph.n_nodes), np.int64), rng.normal(size=(1, graph.n_nodes)))


def fits(memory: Memory, graph: Graph, numbers: RuleNumbers) -> bool:
    return memory.ids.shape == memory.values.shape == (1, graph.n_nodes)


def step(memory: Memory, moment: Moment, numbers: RuleNumbers) -> None:
    for node in range(memory.ids.shape[1]):
        memory.ids[0, node] += 1
        memory.values[0, node] += moment.trace[-1, node] + moment.errors[0, node]


def carry(
    memory: Memory,
    graph: Graph,
    node_origin: Ints,
    edge_origin: Ints,
    numbers: RuleNumbers,
    rng: np.random.Generator,
) -> Memory:
    """Let survivors keep theirs; new nodes draw a number to start from."""
    n_nodes = node_origin.size
    ids, values = np.zeros((1, n_nodes), np.int64), np.zeros((1, n_nodes))
    for node in range(n_nodes):
        if node_origin[node] < 0:
            values[0, node] = rng.standard_normal()
        else:
            ids[0, node] = memory.ids[0, node_origin[node]]
            values[0, node] = memory.values[0, node_origin[node]]
    return Memory(ids, values)


def connect(evidence: Evidence, numbers: RuleNumbers, rng: np.random.Generator) -> Decision:
    """Add the absent edge whose gradient is largest, and a relay on it, weighed by the memory."""
    graph, best = evidence.graph, -1
    for pair in range(evidence.product.size):
        if best < 0 or abs(evidence.product[pair]) > abs(evidence.product[best]):
            best = pair
    if best < 0 or graph.source.size + 3 > numbers.max_edges:
        return Decision(GraphEdit(np.empty((0, 5), np.int64), np.empty(0)), False)
    source, target = evidence.pairs[0, best], evidence.pairs[1, best]
    edit = GraphEdit(np.empty((4, 5), dtype=np.int64), np.empty(4))
    weight = -0.01 * np.sign(evidence.product[best])
    small = 0.01 * np.tanh(evidence.memory.values[0, source] + evidence.activity[source])
    first, last, node = graph.node_ids[source], graph.node_ids[target], graph.next_node_id
    add_node, add_edge = Operation.ADD_NODE.value, Operation.ADD_EDGE.value
    edge, cause = graph.next_edge_id, Cause.CUSTOM.value
    write_change(edit, 0, add_node, cause, node, first, last, 0.0)
    write_change(edit, 1, add_edge, cause, edge, first, last, weight)
    write_change(edit, 2, add_edge, cause, edge + 1, first, node, small)
    write_change(edit, 3, add_edge, cause, edge + 2, node, last, 0.01 * rng.standard_normal())
    return Decision(edit, False)


CONNECT = Rule(
    "connect",
    "the absent edge with the largest gradient, and a relay",
    connect,
    reads_nodes=True,
    pairs=name_pairs,
    start=start,
    fits=fits,
    step=step,
    carry=carry,
)
"""A growth rule with everything a rule can have."""


def signs_only(seen: Pass) -> None:
    """Give an edge into an output the sign of the error times the state it carries."""
    network, last = seen.network, seen.trace.shape[0] - 1
    seen.gradient[:] = 0.0
    for node in range(network.n_inputs, network.n_inputs + network.n_outputs):
        for edge in range(seen.starts[node], seen.starts[node + 1]):
            state = seen.trace[last - 1, seen.source[edge]]
            seen.memory[0, edge] += 1.0
            seen.gradient[edge] = np.sign(seen.adjoint[0, node]) * state


SIGNS = LearningRule("signs", "the sign of the error at the outputs", signs_only, n_rows=1)
"""A learning rule that counts its updates."""
