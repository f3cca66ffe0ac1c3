"""The delta rule: edges into outputs learn, and all others stay as they were made.

Beside it, another rule tells what it is worth to train the edges into hidden nodes.
"""

import numpy as np

from smgrnn.graph.activation import IDENTITY, slope
from smgrnn.kernels import inlined
from smgrnn.learning.rule import LearningRule, Pass


@inlined
def teach_outputs(seen: Pass) -> None:
    """Write the gradients of edges into outputs, whose errors are at hand, and 0 for all others.

    The errors, dL/d(sum into each output), are left in the second row of the adjoint.
    """
    trace, network, last = seen.trace, seen.network, seen.trace.shape[0] - 1
    for edge in range(seen.gradient.size):
        seen.gradient[edge] = 0.0
    for node in range(network.n_inputs, network.n_inputs + network.n_outputs):
        kind = IDENTITY if network.reads_sums else network.output_activation
        error = seen.adjoint[0, node] * slope(trace[last, node], kind)
        seen.adjoint[1, node] = error
        if seen.errors.shape[1] > 0:
            seen.errors[last - 1, node] = error
        for edge in range(np.uint64(seen.starts[node]), np.uint64(seen.starts[node + 1])):
            seen.gradient[edge] = error * trace[last - 1, np.uint64(seen.source[edge])]


RULE = LearningRule(
    "outputs", "edges into outputs alone: the delta rule", teach_outputs, gives_errors=True
)
