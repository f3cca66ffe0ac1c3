"""Backpropagation through the K iterations of one call, by hand.  Paper: Sec. III-A, III-E."""

import numpy as np

from smgrnn.graph.activation import IDENTITY, slope
from smgrnn.kernels import inlined
from smgrnn.learning.rule import LearningRule, Pass


@inlined
def backward(seen: Pass) -> None:
    """Write dL/dw into the gradient, from dL/d(outputs) in the first row of the adjoint.

    In the last iteration only edges into outputs matter; in earlier ones, all that lead to them.
    """
    source, weight, starts = seen.source, seen.weight, seen.starts
    trace, adjoint, gradient, errors = seen.trace, seen.adjoint, seen.gradient, seen.errors
    n_inputs, network = seen.network.n_inputs, seen.network
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    first_hidden = n_inputs + network.n_outputs
    keeps_errors = errors.shape[1] > 0
    if n_iterations > 1:
        gradient[:] = 0.0
    n_reached = first_hidden  # nodes that the loss depends on after this iteration
    for row in range(n_iterations - 1, -1, -1):
        above = (n_iterations - 1 - row) % 2
        below = 1 - above
        if row > 0:
            for node in range(n_nodes):
                adjoint[below, node] = 0.0
        for node in range(n_inputs, n_reached):
            kind = network.output_activation if node < first_hidden else network.activation
            if network.reads_sums and row == n_iterations - 1:
                kind = IDENTITY
            signal = adjoint[above, node] * slope(trace[row + 1, node], kind)
            if keeps_errors:
                errors[row, node] = signal
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                sender = np.uint64(source[edge])
                if n_iterations == 1:
                    gradient[edge] = signal * trace[row, sender]
                else:
                    gradient[edge] += signal * trace[row, sender]
                    adjoint[below, sender] += signal * weight[edge]
        n_reached = n_nodes


RULE = LearningRule(
    "backprop", "gradients through the K iterations of a call: the paper's", None, gives_errors=True
)
