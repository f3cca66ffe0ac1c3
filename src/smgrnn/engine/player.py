"""Player: a network that runs forward and never learns, to play, compare and predict with."""

from typing import Any

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import NonFiniteError, ShapeError, short
from smgrnn.graph.propagation import Net, forward, settle
from smgrnn.graph.settings import NetworkConfig, NetworkNumbers
from smgrnn.graph.state import Graph, row_starts
from smgrnn.kernels import inlined, lean, reduction
from smgrnn.learning.credit import output_error


@reduction
def all_finite(values: Floats, first: int, last: int) -> bool:
    """Return whether no value of [first, last) is NaN or infinite."""
    total = 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        total += abs(values[i])
    return bool(np.isfinite(total))


@inlined
def undo(trace: Floats) -> None:
    """Put the node states back to what they were before the call."""
    for node in range(trace.shape[1]):
        trace[trace.shape[0] - 1, node] = trace[0, node]


@inlined
def choose(trace: Floats, network: NetworkNumbers) -> int:
    """Return the largest output; if one is not finite, -1, with the states as they were before."""
    row, first, action = trace.shape[0] - 1, network.n_inputs, 0
    for output in range(network.n_outputs):
        if not np.isfinite(trace[row, first + output]):
            undo(trace)
            return -1
        if trace[row, first + output] > trace[row, first + action]:
            action = output
    return action


@inlined
def act(net: Net, trace: Floats, observation: Floats) -> int:
    """Run the network once; return the greedy action, or -1 if something was not finite."""
    network = net.network
    if not all_finite(observation, 0, network.n_inputs):
        return -1
    forward(net, trace, observation)
    action = choose(trace, network)
    if action >= 0 and network.reads_sums:
        settle(trace, network)
    return action


@inlined
def act_beside(
    net: Net, trace: Floats, row: Floats, kind: int, adjoint: Floats, label: int, target: Any
) -> tuple[int, float]:
    """Run the network once; return the greedy action and its loss of a kind, or -1 and NaN."""
    network, loss = net.network, np.nan
    if not all_finite(row, 0, network.n_inputs):
        return -1, loss
    forward(net, trace, row)
    action = choose(trace, network)
    if action >= 0:
        loss = output_error(kind, trace, adjoint, network, label, target)
        if network.reads_sums:
            settle(trace, network)
    return action, loss


act_once_beside = lean(act_beside)  # the same, to call from Python


@lean
def act_rows(net: Net, traces: Floats, rows: Floats, actions: Ints, outputs: Floats) -> None:
    """Run the network on every row, each from its own trace or all from one; -1 is a failure."""
    first = net.network.n_inputs
    for row in range(len(rows)):
        trace = traces[min(row, len(traces) - 1)]
        actions[row] = act(net, trace, rows[row])
        for output in range(outputs.shape[1]):
            outputs[row, output] = trace[trace.shape[0] - 1, first + output]


@lean
def act_once(
    source: Ints, weight: Floats, starts: Ints, numbers: Ints, trace: Floats, row: Floats
) -> int:
    """Run the network on one row; plain arrays are the fastest arguments from Python."""
    network = NetworkNumbers(
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5] == 1, numbers[6] == 1
    )
    return act(Net(source, weight, starts, network), trace, row)


def widen(values: Any, n_input_nodes: int) -> Floats:
    """Return the states of the input nodes for values (…, n_inputs); that of a bias is 1.

    >>> widen([[0.5, 2.0]], 3).tolist()
    [[0.5, 2.0, 1.0]]
    """
    shape = np.shape(values)
    wide = np.ones((*shape[:-1], n_input_nodes))
    wide[..., : shape[-1]] = values
    return wide


def real_numbers(values: Any, what: str = "Observations") -> Floats:
    """Return real numbers as an array of floats; NumPy would convert a mask, text or a date too."""
    if type(values) is np.ndarray and values.dtype.kind == "f":
        return np.ascontiguousarray(values, np.float64)
    try:
        found = np.asarray(values)
        if found.dtype.kind in "biufO" and not np.ma.is_masked(values):
            return np.ascontiguousarray(found, np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ShapeError(f"{what} must be real numbers. Got {short(values)} instead.")


class Player:
    """Runs a network without learning; carried node states belong to the rows of a batch.

    Examples
    --------
    >>> from smgrnn.config import NetworkConfig
    >>> graph = Graph.from_edges(1, 2, edges=[(0, 1, 1.0), (0, 2, -1.0)])
    >>> player = Player(graph, NetworkConfig(n_inputs=1, n_outputs=2, bias=False))
    >>> actions, outputs = player.act(np.array([[1.0], [-1.0]]))
    >>> actions.tolist(), outputs.shape
    ([0, 1], (2, 2))
    """

    def __init__(self, graph: Graph, config: NetworkConfig) -> None:
        starts = row_starts(graph.target, graph.n_nodes)
        # Copies: kernels are compiled for arrays that can be written to, and once is enough.
        source, weight = graph.source.copy(), graph.weight.copy()
        self.net = Net(source, weight, starts, NetworkNumbers.of(config))
        self._flat = (source, weight, starts, np.array(self.net.network, dtype=np.int64))
        self._carries_state = config.carry_state
        self._shape = (config.iterations + 1, graph.n_nodes)
        self.reset()

    def new_traces(self, n: int = 1) -> Floats:
        """Return node states before and after each iteration, all zero (n, K + 1, n_nodes)."""
        return np.zeros((n, *self._shape))

    def reset(self) -> None:
        """Set the node states to zero."""
        self._traces = self.new_traces(0)

    @property
    def carried(self) -> Floats | None:
        """The carried node states of each row (b, n_nodes); None at the start of an episode."""
        return self._traces[:, -1].copy() if len(self._traces) else None

    @carried.setter
    def carried(self, states: Floats | None) -> None:
        self._traces = self.new_traces(0 if states is None else len(states))
        if states is not None:
            self._traces[:, -1] = states

    def _traces_of(self, n_rows: int) -> Floats:
        """Return the states to start from: those that are carried, or zeros."""
        traces = self._traces
        if not self._carries_state or len(traces) != n_rows:
            traces = self._traces = self.new_traces(n_rows if self._carries_state else 1)
        return traces  # this call's own, whatever another thread has put there by now

    def act_once(self, row: Floats) -> tuple[int, Floats]:
        """Return the greedy action and the outputs (n_outputs,) for an observation (n_inputs,)."""
        trace, first = self._traces_of(1)[0], self.net.network.n_inputs
        action = act_once(*self._flat, trace, widen(row, first))
        if action < 0:
            raise NonFiniteError("The observation or an output of the network is NaN or infinite.")
        return action, trace[-1, first : first + self.net.network.n_outputs]

    @property
    def states(self) -> Floats:
        """The states from which the last iteration of `act_once` took its sums (n_nodes,)."""
        states: Floats = self._traces[0, -2].copy()
        return states

    def act_beside(self, row: Floats, answer: Any, kind: int) -> tuple[int, Floats, float]:
        """Return action, outputs and loss for a row, given the expert's choice or its values."""
        trace, first = self._traces_of(1)[0], self.net.network.n_inputs
        is_choice, adjoint = np.ndim(answer) == 0, np.zeros((1, trace.shape[1]))
        label = int(answer) if is_choice else 0
        target = np.empty(0) if is_choice else np.asarray(answer, dtype=np.float64)
        row = widen(row, first)
        action, loss = act_once_beside(self.net, trace, row, kind, adjoint, label, target)
        if action < 0:
            raise NonFiniteError("The observation or an output of the network is NaN or infinite.")
        return action, trace[-1, first : first + self.net.network.n_outputs], loss

    def act(self, rows: Floats) -> tuple[Ints, Floats]:
        """Return the greedy actions (b,) and outputs (b, n_outputs) for rows (b, n_inputs)."""
        rows = widen(rows, self.net.network.n_inputs)
        n_outputs, traces = self.net.network.n_outputs, self._traces_of(len(rows))
        actions, outputs = np.zeros(len(rows), np.int64), np.zeros((len(rows), n_outputs))
        act_rows(self.net, traces, rows, actions, outputs)
        if actions.size and actions.min() < 0:
            raise NonFiniteError(
                f"Row {actions.argmin()} of the batch, or an output of the network for it, is NaN "
                f"or infinite."
            )
        return actions, outputs
