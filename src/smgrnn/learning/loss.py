"""The supervised losses of Sec. III-A.

Each reads the outputs from the last row of `trace`, writes the gradient into the first row of
`adjoint` at the same places [first, last), and returns the loss.
"""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.kernels import inlined
from smgrnn.learning.numbers import CROSS_ENTROPY, MSE, ONE_HOT, PLUS_MINUS


@inlined
def cross_entropy(trace: Floats, adjoint: Floats, first: int, last: int, label: int) -> float:
    """Return -log softmax(outputs)[label], for discrete actions."""
    row = trace.shape[0] - 1
    largest = trace[row, first]
    for node in range(first, last):
        largest = max(largest, trace[row, node])
    total = 0.0
    for node in range(first, last):
        adjoint[0, node] = np.exp(trace[row, node] - largest)
        total += adjoint[0, node]
    for node in range(first, last):
        adjoint[0, node] /= total
    adjoint[0, first + label] -= 1.0
    return float(np.log(total) - (trace[row, first + label] - largest))


@inlined
def choice_error(
    trace: Floats, adjoint: Floats, first: int, last: int, label: int, others: float
) -> float:
    """Return the mean squared error from 1 at the label and `others` elsewhere."""
    row = trace.shape[0] - 1
    loss = 0.0
    for node in range(first, last):
        error = trace[row, node] - (1.0 if node == first + label else others)
        adjoint[0, node] = 2.0 * error / (last - first)
        loss += error * error
    return loss / (last - first)


@inlined
def mean_squared_error(
    trace: Floats, adjoint: Floats, first: int, last: int, target: Floats
) -> float:
    """Return the mean of (outputs - target)², for continuous actions."""
    row = trace.shape[0] - 1
    loss = 0.0
    for node in range(first, last):
        error = trace[row, node] - target[node - first]
        adjoint[0, node] = 2.0 * error / (last - first)
        loss += error * error
    return loss / (last - first)


@inlined
def output_error(
    kind: int, trace: Floats, adjoint: Floats, network: NetworkNumbers, label: int, target: Floats
) -> float:
    """Return the loss of a kind at the outputs of a network; NaN if there is no such kind."""
    first, last = network.n_inputs, network.n_inputs + network.n_outputs
    if kind == CROSS_ENTROPY:
        return cross_entropy(trace, adjoint, first, last, label)
    if kind == MSE:
        return mean_squared_error(trace, adjoint, first, last, target)
    if kind == ONE_HOT:
        return choice_error(trace, adjoint, first, last, label, 0.0)
    if kind == PLUS_MINUS:
        return choice_error(trace, adjoint, first, last, label, -1.0)
    return np.nan
