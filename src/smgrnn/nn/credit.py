"""The ways of backward() besides autograd's own: through earlier calls, and by local rules."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from smgrnn.arrays import Floats

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
