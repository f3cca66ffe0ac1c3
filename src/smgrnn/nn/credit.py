"""The ways of backward() besides autograd's own: through earlier calls, and by local rules."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from smgrnn.arrays import Floats
from smgrnn.graph.propagation import Net
from smgrnn.graph.settings import NetworkConfig, NetworkNumbers
from smgrnn.graph.state import Graph, row_starts
from smgrnn.learning.credit import Pass, credit_pass
from smgrnn.learning.settings import LearningConfig, LearningNumbers

Run = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Runs a network: weights, states of inputs and of other nodes give states and sums."""


class Call(NamedTuple):
    """A call that gradients flow back through, without its own graph of autograd."""

    weight: Tensor
    """The weights that it ran with (n_edges,)."""
    clamped: Tensor
    """States of the inputs (..., n_inputs)."""
    start: Tensor
    """States of the other nodes that it started from (..., n_nodes - n_inputs)."""


class ByFunction(torch.autograd.Function):
    """Values as they are; backward() asks a function of their gradient for that of the weights."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, values: Tensor, credit: Callable[[Tensor], Any]) -> Any:
        """Return the values."""
        ctx.credit = credit
        return values.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Return the gradient of the weights."""
        return ctx.credit(gradients[0]), None, None


credited: Callable[..., Tensor] = cast(Any, ByFunction).apply
"""Returns values, of weights, these values, and a function of their gradient."""


def gradient_through(run: Run, past: Sequence[Call], error: Tensor) -> Tensor:
    """Return the gradient of the weights, summed over the calls that led to the carried states.

    Calls are run again, from the last one on: backward() has freed their graphs, and their weights
    have changed in place.
    """
    total = torch.zeros_like(past[-1].weight)
    for call in reversed(past):
        with torch.enable_grad():
            weight, start = (each.detach().requires_grad_() for each in (call.weight, call.start))
            after, _ = run(weight, call.clamped, start)
        found, error = torch.autograd.grad(after, (weight, start), error)
        total += found
    return total


class Moments(NamedTuple):
    """The node states of one call, and its errors as far as they are known."""

    states: list[Tensor]
    """Node states before each iteration, and after the last (..., n_nodes)."""
    errors: list[Tensor | None]
    """dL/d(sum into each node but inputs) by iteration, once backward() has found it."""

    def note(self, states: Tensor, total: Tensor) -> None:
        """Keep the states before an iteration, and the gradient of its sums when it is known."""
        index = len(self.errors)
        self.states.append(states.detach())
        self.errors.append(None)
        if total.requires_grad:
            total.register_hook(partial(self.errors.__setitem__, index))

    def to_numpy(self) -> tuple[Floats, Floats]:
        """Return traces (n, K + 1, n_nodes) and errors (n, K, n_nodes), one per row of a batch."""
        n_nodes = self.states[0].shape[-1]
        traces = torch.stack([each.reshape(-1, n_nodes) for each in self.states], dim=1)
        errors = torch.zeros_like(traces[:, 1:])
        for index, error in enumerate(self.errors):
            if error is not None:
                flat = error.reshape(len(errors), -1)
                errors[:, index, n_nodes - flat.shape[-1] :] = flat
        found = [each.to("cpu", torch.float64).contiguous().numpy() for each in (traces, errors)]
        return found[0], found[1]


def rule_gradient(
    moments: Moments,
    error: Tensor,
    graph: Graph,
    config: NetworkConfig,
    learning: LearningConfig,
    feedback: Floats,
    memory: Floats,
) -> tuple[Floats, Floats]:
    """Return the gradient of each edge by a learning rule for dL/d(outputs), and its new memory.

    Each row of a batch has its memory (rows, n_edges), zero if the batch size has changed.
    Gradients are summed over the rows; the errors of nodes are left in `moments`.
    """
    traces, _ = moments.to_numpy()
    wanted = error.reshape(len(traces), -1).to("cpu", torch.float64).numpy()
    numbers, rule = NetworkNumbers.of(config), LearningNumbers.of(learning)
    if len(memory) != len(traces):
        memory = np.zeros((len(traces), *memory.shape[1:]))
    starts, total = row_starts(graph.target, graph.n_nodes), np.zeros(graph.n_edges)
    first, last = graph.n_inputs, graph.n_inputs + graph.n_outputs
    errors = np.zeros_like(traces[:, 1:])
    for row, trace in enumerate(traces):
        adjoint, gradient = np.zeros((2, graph.n_nodes)), np.zeros(graph.n_edges)
        adjoint[0, first:last] = wanted[row]
        written = adjoint, gradient, errors[row], memory[row]
        net = Net(graph.source, graph.weight, starts, numbers)
        credit_pass(rule.credit, Pass(net, trace, *written, feedback, rule.trace_decay))
        total += gradient
    moments.errors[:] = torch.as_tensor(errors[:, :, first:]).unbind(1)
    return total, memory
