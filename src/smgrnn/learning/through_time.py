"""Backpropagation through time: gradients through the states carried from call to call.

The paper's gradients stop at the states that a call starts from.  With `through_time` = n they flow
back through the n calls before it, with the states and weights that each had.  An episode, an edit,
and a call that nothing is learned from empty the window of calls.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import ConfigError
from smgrnn.graph.settings import NetworkConfig
from smgrnn.kernels import inlined
from smgrnn.learning.credit import Pass, backward_call
from smgrnn.learning.settings import LearningConfig
from smgrnn.machine import check_memory

NEXT, KEPT = 0, 1  # indices into `Past.clock`


class Past(NamedTuple):
    """The calls that gradients flow back through, in a ring."""

    traces: Floats
    """Node states before and after each iteration of each call (n, K + 1, n_nodes)."""
    weights: Floats
    """The weights that each call ran with (n, n_edges)."""
    clock: Ints
    """The row that the next call goes to, and the number of calls in the window (2,)."""

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
def backward_through_time(seen: Pass, past: Past) -> None:
    """Write dL/dw into the gradient, summed over this call and those of the window."""
    seen.gradient[:] = 0.0
    above = backward_call(seen, seen.trace, seen.net.weight, 0, True, True)
    row = past.clock[NEXT]
    for _ in range(past.clock[KEPT]):
        row = (row if row > 0 else past.weights.shape[0]) - 1
        above = backward_call(seen, past.traces[row], past.weights[row], above, False, True)


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
def cut(past: Past) -> None:
    """Empty the window."""
    past.clock[KEPT] = 0
