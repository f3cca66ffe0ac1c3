"""K synchronous message-passing iterations, and their gradient by hand.  Paper: Sec. III-B.

`trace` (K + 1, n_nodes) holds the node states before and after each iteration; its last row is what
the next call starts from.

Two habits keep compiled loops this small fast: indices are unsigned, because a signed one could be
negative and checking for that is most of the work of a gather; and no part of an array is sliced
out, because counting references to slices takes longer than the arithmetic.
"""

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.activation import IDENTITY, activate, slope
from smgrnn.kernels import inlined


@inlined
def forward(
    source: Ints,
    weight: Floats,
    starts: Ints,
    trace: Floats,
    observation: Floats,
    n_outputs: int,
    activation: int,
    output_activation: int,
    reads_sums: bool,
) -> None:
    """Clamp the inputs and fill `trace` from the states its last row holds.

    With `reads_sums` the outputs of the last row are left as the sums that `settle` activates.
    """
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    n_inputs = observation.size
    for node in range(n_inputs):
        for row in range(n_iterations + 1):
            trace[row, node] = observation[node]
    for node in range(n_inputs, n_nodes):
        trace[0, node] = trace[n_iterations, node]
    first_hidden = n_inputs + n_outputs
    for row in range(n_iterations):
        for node in range(n_inputs, n_nodes):
            total = 0.0
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                total += weight[edge] * trace[row, np.uint64(source[edge])]
            trace[row + 1, node] = total
        if reads_sums and row == n_iterations - 1:
            activate(trace, row + 1, first_hidden, n_nodes, activation)
        elif activation == output_activation:
            activate(trace, row + 1, n_inputs, n_nodes, activation)
        else:
            activate(trace, row + 1, n_inputs, first_hidden, output_activation)
            activate(trace, row + 1, first_hidden, n_nodes, activation)


@inlined
def settle(trace: Floats, n_inputs: int, n_outputs: int, output_activation: int) -> None:
    """Turn the sums of the outputs, once they have been read, into the states to go on from."""
    activate(trace, trace.shape[0] - 1, n_inputs, n_inputs + n_outputs, output_activation)


@inlined
def backward(
    source: Ints,
    weight: Floats,
    starts: Ints,
    trace: Floats,
    adjoint: Floats,
    gradient: Floats,
    n_inputs: int,
    n_outputs: int,
    activation: int,
    output_activation: int,
    reads_sums: bool,
) -> None:
    """Write dL/dw into `gradient` from dL/d(outputs) in the first row of `adjoint` (2, n_nodes).

    In the last iteration only edges into outputs matter; in the ones before, whatever reaches them.
    """
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    first_hidden = n_inputs + n_outputs
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
            kind = output_activation if node < first_hidden else activation
            if reads_sums and row == n_iterations - 1:
                kind = IDENTITY
            signal = adjoint[above, node] * slope(trace[row + 1, node], kind)
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                sender = np.uint64(source[edge])
                if n_iterations == 1:
                    gradient[edge] = signal * trace[row, sender]
                else:
                    gradient[edge] += signal * trace[row, sender]
                    adjoint[below, sender] += signal * weight[edge]
        n_reached = n_nodes
