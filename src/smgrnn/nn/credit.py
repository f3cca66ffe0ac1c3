"""The ways of backward() besides autograd's own: through earlier calls, and by local rules."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from smgrnn.arrays import Floats

Run = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Runs a network: weights, states of inputs and of other nodes give states and sums."""


class Call(NamedTuple):
    """A call that gradients flow back through, without its own graph of autograd."""

    weight: Tensor  # the weights that it ran with (n_edges,)
    clamped: Tensor  # states of the inputs (..., n_inputs)
    start: Tensor  # states of the other nodes that it started from (..., n_nodes - n_inputs)


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

    states: list[Tensor]  # node states before each iteration, and after the last (..., n_nodes)
    errors: list[Tensor | None]  # dL/d(sum into each node but inputs), once backward() has found it

    def note(self, states: Tensor, total: Tensor, index: int) -> Tensor:
        """Keep the states before an iteration, and the gradient of its sums when it is known."""
        self.states.append(states.detach())
        self.errors.append(None)
        if total.requires_grad:
            total.register_hook(partial(self.errors.__setitem__, index))
        return total

    def to_numpy(self) -> tuple[Floats, Floats]:
        """Return traces (n, K + 1, n_nodes) and errors (n, K, n_nodes), one per row of a batch."""
        n_nodes = self.states[0].shape[-1]
        traces = torch.stack([each.reshape(-1, n_nodes) for each in self.states], dim=1)
        errors = torch.zeros_like(traces[:, 1:])
        for index, error in enumerate(self.errors[: errors.shape[1]]):
            if error is not None:
                flat = error.reshape(len(errors), -1)
                errors[:, index, n_nodes - flat.shape[-1] :] = flat
        found = [each.to("cpu", torch.float64).contiguous().numpy() for each in (traces, errors)]
        return found[0], found[1]


class CompiledMoments(NamedTuple):
    """The same for `torch.compile`, by operators that it calls and does not look into."""

    key: int  # where the calls are kept, in `COMPILED`

    def note(self, states: Tensor, total: Tensor, index: int) -> Tensor:
        """Keep the states before an iteration, and the gradient of its sums when it is known."""
        noted: Tensor = _note(states, total, self.key, index)[0]
        return noted


COMPILED: "WeakValueDictionary[int, Any]" = WeakValueDictionary()
"""Networks whose compiled calls are noted: each has `passes`, a list of Moments, by number."""


@torch.library.custom_op("smgrnn::note", mutates_args=())
def _note(states: Tensor, total: Tensor, key: int, index: int) -> tuple[Tensor, Tensor]:
    """Return the sums, and the number of the call, which starts with iteration 0."""
    passes = COMPILED[key].passes
    if index == 0:
        passes.append(Moments([], []))
    passes[-1].states.append(states.clone())
    passes[-1].errors.append(None)
    return total.clone(), torch.tensor(len(passes) - 1)


@torch.library.custom_op("smgrnn::note_error", mutates_args=())
def _note_error(error: Tensor, call: Tensor, key: int, index: int) -> Tensor:
    """Keep the gradient of the sums of an iteration, and return it."""
    passes, number = COMPILED[key].passes, int(call)
    if number < len(passes):
        passes[number].errors[index] = error.clone()
    return error.clone()


def _keep_call(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(output[1])
    ctx.place = inputs[2:]


def _note_backward(ctx: Any, error: Tensor, _: Any) -> Any:
    return None, _note_error(error, *ctx.saved_tensors, *ctx.place), None, None


_note.register_fake(
    lambda states, total, key, index: (torch.empty_like(total), torch.empty((), dtype=torch.int64))
)
_note_error.register_fake(lambda error, call, key, index: torch.empty_like(error))
_note.register_autograd(_note_backward, setup_context=_keep_call)
