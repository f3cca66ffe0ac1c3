"""Loss and credit: how each edge gets its gradient.  Paper: Sec. III-A, III-E.

A learning rule reads one pass through the network and writes a gradient for every edge.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import ConfigError
from smgrnn.graph.activation import IDENTITY, slope
from smgrnn.graph.propagation import Net
from smgrnn.graph.settings import NetworkConfig, NetworkNumbers
from smgrnn.graph.state import Graph
from smgrnn.kernels import inlined, kernel
from smgrnn.learning import settings as codes
from smgrnn.learning.settings import LearningConfig, LearningRule
from smgrnn.machine import check_memory
from smgrnn.seeding import stream

NEXT, KEPT = 0, 1  # indices into `Past.clock`


class Pass(NamedTuple):
    """One pass through the network, and the arrays that a learning rule writes its results to."""

    net: Net
    trace: Floats  # node states before and after each iteration (K + 1, n_nodes)
    adjoint: Floats  # dL/d(outputs) in the first row; the rest is workspace (2, n_nodes)
    gradient: Floats  # written: the values that the optimizer takes as dL/dw (n_edges,)
    errors: Floats  # written where it has columns: dL/d(sum into each node) (K, n_nodes)
    memory: Floats  # values that the rule keeps for each edge (rows, n_edges)
    feedback: Floats  # fixed random weights from each output to each node, if the rule draws them
    trace_decay: float  # fraction of an eligibility trace that stays from one iteration to the next


class Past(NamedTuple):
    """The calls that gradients flow back through, in a ring.

    The paper's gradients stop at the states that a call starts from.  With `through_time` = n they
    flow back through the n calls before it, with the states and weights that each had.  An episode,
    an edit, and a call that nothing is learned from empty the window of calls.
    """

    traces: Floats  # node states before and after each iteration of each call (n, K + 1, n_nodes)
    weights: Floats  # the weights that each call ran with (n, n_edges)
    clock: Ints  # the row that the next call goes to, and the number of calls in the window (2,)

    @classmethod
    def start(cls, through_time: int, iterations: int, n_nodes: int, n_edges: int) -> Self:
        """Return an empty window of `through_time` calls."""
        traces = np.zeros((through_time, iterations + 1, n_nodes))
        return cls(traces, np.zeros((through_time, n_edges)), np.zeros(2, np.int64))


def check_window(
    learning: LearningConfig, network: NetworkConfig, n_nodes: int, n_edges: int
) -> None:
    """Refuse a window that cannot apply, or is too large for a network that may become so large."""
    n, wrong = learning.through_time, ""
    if n and not network.carry_state:
        wrong = "needs states carried from call to call: turn on carry_state, or leave it at 0."
    elif n and learning.rule.name != "backprop":
        wrong = f"is of backpropagation, not of the rule {learning.rule.name!r}: it must be 0."
    if wrong:
        raise ConfigError(f"learning.through_time {n} {wrong}")
    n_bytes = 8.0 * n * ((network.iterations + 1) * n_nodes + n_edges)
    what = f"{n} calls of learning.through_time, with up to {n_nodes} nodes and {n_edges} edges,"
    check_memory(n_bytes, what)


@inlined
def remember(past: Past, trace: Floats, weight: Floats) -> None:
    """Add a call to the window, replacing the oldest if it is full."""
    row, n = past.clock[NEXT], past.weights.shape[0]
    for iteration in range(trace.shape[0]):
        for node in range(trace.shape[1]):
            past.traces[row, iteration, node] = trace[iteration, node]
    for edge in range(weight.size):
        past.weights[row, edge] = weight[edge]
    past.clock[NEXT] = row + 1 if row + 1 < n else 0
    past.clock[KEPT] = min(past.clock[KEPT] + 1, n)


@inlined
def output_error(
    kind: int, trace: Floats, adjoint: Floats, network: NetworkNumbers, label: int, target: Floats
) -> float:
    """Return the loss of a kind, and write its gradient at the outputs into `adjoint[0]`.

    Cross-entropy is -log softmax(outputs)[label].  The others are mean squared errors: from the
    `target`, or from 1 at the label and 0 or -1 elsewhere.  The loss of an unknown kind is NaN.
    """
    first, last = network.n_inputs, network.n_inputs + network.n_outputs
    row, loss = trace.shape[0] - 1, 0.0
    if kind == codes.CROSS_ENTROPY:
        largest, total = trace[row, first], 0.0
        for node in range(first, last):
            largest = max(largest, trace[row, node])
        for node in range(first, last):
            adjoint[0, node] = np.exp(trace[row, node] - largest)
            total += adjoint[0, node]
        for node in range(first, last):
            adjoint[0, node] /= total
        adjoint[0, first + label] -= 1.0
        return float(np.log(total) - (trace[row, first + label] - largest))
    if kind not in (codes.MSE, codes.ONE_HOT, codes.PLUS_MINUS):
        return np.nan
    others = 0.0 if kind == codes.ONE_HOT else -1.0
    for node in range(first, last):
        choice = 1.0 if node == first + label else others
        goal = target[node - first] if kind == codes.MSE else choice
        error = trace[row, node] - goal
        adjoint[0, node] = 2.0 * error / (last - first)
        loss += error * error
    return loss / (last - first)


@inlined
def backward_call(
    seen: Pass, trace: Floats, weight: Floats, above: int, is_last: bool, goes_on: bool
) -> int:
    """Write the gradients of one call -- Sec. III-E; return the row for the states it began with.

    The row `above` is for the states that it ended with.  In the last call the loss reads only the
    outputs.  A call that `goes_on` to an earlier one adds to the gradients.
    """
    source, _, starts, network = seen.net
    adjoint, gradient, errors = seen.adjoint, seen.gradient, seen.errors
    n_inputs, first_hidden = network.n_inputs, network.n_inputs + network.n_outputs
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    keeps_errors = is_last and errors.shape[1] > 0
    is_single = n_iterations == 1 and not goes_on
    n_reached = first_hidden if is_last else n_nodes  # nodes that the loss depends on
    for row in range(n_iterations - 1, -1, -1):
        below = 1 - above
        if row > 0 or goes_on:
            for node in range(n_nodes):
                adjoint[below, node] = 0.0
        for node in range(n_inputs, n_reached):
            kind = network.output_activation if node < first_hidden else network.activation
            if is_last and network.reads_sums and row == n_iterations - 1:
                kind = IDENTITY
            signal = adjoint[above, node] * slope(trace[row + 1, node], kind)
            if keeps_errors:
                errors[row, node] = signal
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                sender = np.uint64(source[edge])
                if is_single:
                    gradient[edge] = signal * trace[row, sender]
                else:
                    gradient[edge] += signal * trace[row, sender]
                    adjoint[below, sender] += signal * weight[edge]
        n_reached = n_nodes
        above = below
    return above


@inlined
def backward_through_time(seen: Pass, past: Past) -> None:
    """Write dL/dw into the gradient, summed over this call and those of the window."""
    seen.gradient[:] = 0.0
    above = backward_call(seen, seen.trace, seen.net.weight, 0, True, True)
    row = past.clock[NEXT]
    for _ in range(past.clock[KEPT]):
        row = (row if row > 0 else past.weights.shape[0]) - 1
        above = backward_call(seen, past.traces[row], past.weights[row], above, False, True)


@inlined
def teach_outputs(seen: Pass) -> None:
    """Write gradients of edges into outputs by the delta rule, and their errors into adjoint[1]."""
    source, _, starts, network = seen.net
    trace, last = seen.trace, seen.trace.shape[0] - 1
    seen.gradient[:] = 0.0
    for node in range(network.n_inputs, network.n_inputs + network.n_outputs):
        kind = IDENTITY if network.reads_sums else network.output_activation
        error = seen.adjoint[0, node] * slope(trace[last, node], kind)
        seen.adjoint[1, node] = error
        if seen.errors.shape[1] > 0:
            seen.errors[last - 1, node] = error
        for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
            seen.gradient[edge] = error * trace[last - 1, np.uint64(source[edge])]


@inlined
def fed_error(seen: Pass, node: int) -> float:
    """Return the errors at the outputs, weighted by the fixed feedback of a hidden node."""
    first, total = seen.net.network.n_inputs, 0.0
    for output in range(seen.net.network.n_outputs):
        total += seen.feedback[output, node] * seen.adjoint[1, first + output]
    return total


@inlined
def _align(seen: Pass) -> None:
    """Write the gradients by feedback alignment (Lillicrap et al., 2016; direct: Nøkland, 2016).

    In each iteration but the last, which has not reached an output yet, an edge learns by the error
    at its target times the state of its source.
    """
    teach_outputs(seen)
    source, _, starts, network = seen.net
    trace = seen.trace
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    for node in range(network.n_inputs + network.n_outputs, n_nodes):
        error = fed_error(seen, node)
        for row in range(n_iterations - 1):
            signal = error * slope(trace[row + 1, node], network.activation)
            if seen.errors.shape[1] > 0:
                seen.errors[row, node] = signal
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                seen.gradient[edge] += signal * trace[row, np.uint64(source[edge])]


@inlined
def _modulate(seen: Pass) -> None:
    """Write the gradients of a three-factor rule, and advance the eligibility traces by one call.

    Each edge into a hidden node keeps a decaying trace of pre × post (Gerstner et al., 2018).  Pre
    is the state of its source, post the slope of its target's activation (e-prop, Bellec et al.,
    2020).  The third factor is the error at the outputs, by fixed random weights.  An edge into an
    output learns by its target's error alone.  The last iteration joins the trace for the next
    call, so edges into hidden nodes learn with one iteration too.
    """
    teach_outputs(seen)
    source, _, starts, network = seen.net
    trace, traces = seen.trace, seen.memory
    last, n_nodes = trace.shape[0] - 2, trace.shape[1]
    for node in range(network.n_inputs + network.n_outputs, n_nodes):
        error = fed_error(seen, node)
        for row in range(last + 1):
            post = slope(trace[row + 1, node], network.activation)
            if seen.errors.shape[1] > 0 and row < last:
                seen.errors[row, node] = error * post
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                if row == 0 and not network.carries_state:
                    traces[0, edge] = 0.0  # what a call before did is of no consequence
                if row == last:
                    seen.gradient[edge] = error * traces[0, edge]
                pre = trace[row, np.uint64(source[edge])]
                traces[0, edge] = seen.trace_decay * traces[0, edge] + pre * post


@inlined
def give_credit(code: int, seen: Pass) -> None:
    """Write the gradient of every edge by the learning rule with this code."""
    if code == codes.BACKPROP:
        if seen.trace.shape[0] > 2:
            seen.gradient[:] = 0.0
        backward_call(seen, seen.trace, seen.net.weight, 0, True, False)
    elif code == codes.FEEDBACK:
        _align(seen)
    elif code == codes.HEBBIAN:
        _modulate(seen)
    elif code == codes.OUTPUTS:
        teach_outputs(seen)


credit_pass = kernel(give_credit)  # the same, to call from Python


def start_feedback(rule: LearningRule, graph: Graph, seed: int) -> Floats:
    """Return the feedback weights of a graph's nodes at the start of a run."""
    n_rows = graph.n_outputs if rule.draws_feedback else 0
    drawn = stream(seed, "feedback").standard_normal((graph.n_nodes, n_rows))
    return np.ascontiguousarray(drawn.T)


def carry_feedback(feedback: Floats, node_origin: Ints, rng: np.random.Generator) -> Floats:
    """Return the feedback of the nodes after an edit: new ones draw theirs."""
    carried = np.empty((len(feedback), node_origin.size))
    if not len(feedback):
        return carried
    is_new = node_origin < 0
    carried[:, ~is_new] = feedback[:, node_origin[~is_new]]
    carried[:, is_new] = rng.standard_normal((np.count_nonzero(is_new), len(feedback))).T
    return carried
