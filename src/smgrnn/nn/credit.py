"""The ways of backward() besides autograd's own: through earlier calls, and by local rules."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from smgrnn.arrays import Floats
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.graph.state import Graph, row_starts
from smgrnn.learning.credit import Pass, credit_pass

Run = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Runs a network: weights, states of inputs and of other nodes give the states and the sums."""


class Call(NamedTuple):
    """A call that gradients flow back through, without its own graph of autograd."""

    weight: Tensor
    """The weights that it ran with (n_edges,)."""
    clamped: Tensor
    """States of the inputs (..., n_inputs)."""
    start: Tensor
    """States of the other nodes that it started from (..., n_nodes - n_inputs)."""


class Carried(torch.autograd.Function):
    """The carried states; backward() runs the calls that led to them again, from the last one on.

    The graphs of those calls are gone, freed by the backward() of each, and their weights have
    changed in place.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, carried: Tensor, run: Run, past: Any) -> Tensor:
        """Return the states as they are."""
        ctx.run, ctx.past = run, past
        return carried.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Return the gradient of the weights, summed over the calls."""
        error, total = gradients[0], torch.zeros_like(ctx.past[-1].weight)
        for call in reversed(ctx.past):
            with torch.enable_grad():
                weight, start = (
                    each.detach().requires_grad_() for each in (call.weight, call.start)
                )
                after, _ = ctx.run(weight, call.clamped, start)
            found, error = torch.autograd.grad(after, (weight, start), error)
            total += found
        return total, None, None, None


link: Callable[..., Tensor] = cast(Any, Carried).apply
"""Returns the carried states, of weights, these states, the network's way to run, and calls."""


class Moments(NamedTuple):
    """The node states of one call, and its errors as far as they are known."""

    states: list[Tensor]
    """Node states before each iteration, and after the last (..., n_nodes)."""
    errors: list[Tensor | None]
    """dL/d(sum into each node but inputs) by iteration, once backward() has found it."""

    def note(self, states: Tensor, total: Tensor) -> None:
        """Keep the states before an iteration, and the gradient of its sums when it is known."""
        place = len(self.errors)
        self.states.append(states.detach())
        self.errors.append(None)
        if total.requires_grad:

            def keep(gradient: Tensor) -> None:
                self.errors[place] = gradient

            total.register_hook(keep)

    def to_numpy(self) -> tuple[Floats, Floats]:
        """Return traces (n, K + 1, n_nodes) and errors (n, K, n_nodes), one per row of a batch."""
        n_nodes = self.states[0].shape[-1]
        traces = torch.stack([each.reshape(-1, n_nodes) for each in self.states], dim=1)
        errors = torch.zeros_like(traces[:, 1:])
        for place, error in enumerate(self.errors):
            if error is not None:
                flat = error.reshape(len(errors), -1)
                errors[:, place, n_nodes - flat.shape[-1] :] = flat
        double = (each.to("cpu", torch.float64).contiguous().numpy() for each in (traces, errors))
        return next(double), next(double)


class ByRule(torch.autograd.Function):
    """The outputs of a call; backward() asks a learning rule for the gradient."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, output: Tensor, credit: Callable[[Tensor], Any]) -> Any:
        """Return the outputs as they are."""
        ctx.credit = credit
        return output.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Return the gradient of the weights, as the rule has it."""
        return ctx.credit(gradients[0]), None, None


rule_over: Callable[..., Tensor] = cast(Any, ByRule).apply
"""Returns outputs, of weights, these outputs, and a function of dL/d(outputs) for the gradient."""


class Ruled(NamedTuple):
    """A learning rule at work: the graph, and the arrays that it reads."""

    code: int
    """The rule's code."""
    graph: Graph
    numbers: NetworkNumbers
    feedback: Floats
    """(n_outputs or 0, n_nodes)."""
    trace_decay: float

    def credit(self, traces: Floats, wanted: Floats, memory: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of each edge, and the errors of nodes (n, K, n_nodes).

        A row of a batch is a trace (K + 1, n_nodes), dL/d(outputs) and a memory (rows, n_edges),
        which the rule moves on.  Gradients are summed over the rows.
        """
        graph, n_inputs = self.graph, self.graph.n_inputs
        starts, total = row_starts(graph.target, graph.n_nodes), np.zeros(graph.n_edges)
        errors = np.zeros_like(traces[:, 1:])
        for row, trace in enumerate(traces):
            adjoint, gradient = np.zeros((2, graph.n_nodes)), np.zeros(graph.n_edges)
            adjoint[0, n_inputs : n_inputs + graph.n_outputs] = wanted[row]
            credit_pass(
                self.code,
                Pass(
                    graph.source,
                    graph.weight,
                    starts,
                    trace,
                    adjoint,
                    gradient,
                    errors[row],
                    memory[row],
                    self.feedback,
                    self.trace_decay,
                    self.numbers,
                ),
            )
            total += gradient
        return total, errors
