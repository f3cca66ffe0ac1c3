"""K synchronous message-passing iterations.  Paper: Sec. III-B.

`trace` (K + 1, n_nodes) holds the node states before and after each iteration; the next call starts
from its last row.  Indices are unsigned, because checking for negative ones is most of the work of
a gather.  Nothing is sliced, because counting references takes longer than the arithmetic.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.activation import activate
from smgrnn.graph.settings import NetworkNumbers
from smgrnn.kernels import inlined


class Net(NamedTuple):
    """A network as kernels run it."""

    source: Ints  # position of the node each edge leaves (n_edges,)
    weight: Floats  # weight of each edge (n_edges,)
    starts: Ints  # where the edges into each node start (n_nodes + 1,)
    network: NetworkNumbers


@inlined
def forward(net: Net, trace: Floats, observation: Floats) -> None:
    """Clamp the inputs and fill `trace` from the states its last row holds, if they are carried.

    Where sums are read, the outputs of the last row are left as the sums that `settle` activates.
    """
    source, weight, starts, network = net
    n_iterations, n_nodes = trace.shape[0] - 1, trace.shape[1]
    n_inputs, n_outputs = observation.size, network.n_outputs
    activation, output_activation = network.activation, network.output_activation
    for node in range(n_inputs):
        for row in range(n_iterations + 1):
            trace[row, node] = observation[node]
    for node in range(n_inputs, n_nodes):
        trace[0, node] = trace[n_iterations, node] if network.carries_state else 0.0
    first_hidden = n_inputs + n_outputs
    for row in range(n_iterations):
        for node in range(n_inputs, n_nodes):
            total = 0.0
            for edge in range(np.uint64(starts[node]), np.uint64(starts[node + 1])):
                total += weight[edge] * trace[row, np.uint64(source[edge])]
            trace[row + 1, node] = total
        leaves_sums = network.reads_sums and row == n_iterations - 1
        first = first_hidden
        if not leaves_sums and activation == output_activation:
            first = n_inputs
        elif not leaves_sums:
            activate(trace, row + 1, n_inputs, first_hidden, output_activation)
        activate(trace, row + 1, first, n_nodes, activation)


@inlined
def settle(trace: Floats, network: NetworkNumbers) -> None:
    """Activate the outputs' sums once they have been read: the next call starts from states."""
    first, last = network.n_inputs, network.n_inputs + network.n_outputs
    activate(trace, trace.shape[0] - 1, first, last, network.output_activation)


@inlined
def forget_states(trace: Floats, n_inputs: int) -> None:
    """Set the states that the next call starts from to zero, as at the start of an episode."""
    for node in range(n_inputs, trace.shape[1]):
        trace[trace.shape[0] - 1, node] = 0.0
