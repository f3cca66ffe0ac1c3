"""The supervised losses of Sec. III-A."""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.kernels import inlined
from smgrnn.learning.numbers import CROSS_ENTROPY, MSE, ONE_HOT, PLUS_MINUS


@inlined
def output_error(
    kind: int, trace: Floats, adjoint: Floats, network: NetworkNumbers, label: int, target: Floats
) -> float:
    """Return the loss of a kind at the outputs of a network; NaN if there is no such kind.

    The outputs are in the last row of `trace`; their gradient goes into the first of `adjoint`.
    Cross-entropy is -log softmax(outputs)[label].  The others are mean squared errors: from the
    `target`, or from 1 at the label and 0 or -1 elsewhere.
    """
    first, last = network.n_inputs, network.n_inputs + network.n_outputs
    row, loss = trace.shape[0] - 1, 0.0
    if kind == CROSS_ENTROPY:
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
    if kind not in (MSE, ONE_HOT, PLUS_MINUS):
        return np.nan
    others = 0.0 if kind == ONE_HOT else -1.0
    for node in range(first, last):
        choice = 1.0 if node == first + label else others
        goal = target[node - first] if kind == MSE else choice
        error = trace[row, node] - goal
        adjoint[0, node] = 2.0 * error / (last - first)
        loss += error * error
    return loss / (last - first)
