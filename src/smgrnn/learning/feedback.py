"""Feedback alignment: hidden nodes hear of the errors at the outputs by fixed random weights.

Lillicrap et al. (2016); from the outputs straight to every hidden node, as in Nøkland (2016).  Only
the way that errors take is another: in each iteration but the last, which no output has heard of
yet, an edge learns by the error at its target times the state of its source.  With one iteration
that leaves the edges into outputs, as in backpropagation.
"""

import numpy as np

from smgrnn.graph.activation import slope
from smgrnn.kernels import inlined
from smgrnn.learning.outputs import teach_outputs
from smgrnn.learning.rule import LearningRule, Pass


@inlined
def heard_error(seen: Pass, node: int) -> float:
    """Return the errors at the outputs as a hidden node hears of them."""
    first, total = seen.network.n_inputs, 0.0
    for output in range(seen.network.n_outputs):
        total += seen.feedback[output, node] * seen.adjoint[1, first + output]
    return total


def _align(seen: Pass) -> None:
    """Write the gradients of all edges that the outputs have heard of."""
    teach_outputs(seen)
    trace, network = seen.trace, seen.network
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    for node in range(network.n_inputs + network.n_outputs, n_nodes):
        error = heard_error(seen, node)
        for row in range(n_iterations - 1):
            signal = error * slope(trace[row + 1, node], network.activation)
            if seen.errors.shape[1] > 0:
                seen.errors[row, node] = signal
            for edge in range(np.uint64(seen.starts[node]), np.uint64(seen.starts[node + 1])):
                seen.gradient[edge] += signal * trace[row, np.uint64(seen.source[edge])]


RULE = LearningRule(
    "feedback",
    "errors reach hidden nodes by fixed random weights: feedback alignment",
    _align,
    draws_feedback=True,
    gives_errors=True,
)
