"""Experts: frozen networks of any depth, fast enough to label every step.  Paper: Sec. IV-A1.

Between two layers is a ReLU, or a tanh as in most PPO policies.  A layer that widens is stored
transposed, so that every inner loop runs over the longer side, in contiguous memory.  Arithmetic is
float32, and sums may be taken in any order.
"""

import math
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from smgrnn.arrays import Ints, Singles
from smgrnn.errors import ExpertError, NonFiniteError, ShapeError, short
from smgrnn.kernels import inlined, kernel, reduction

Layer = tuple[Singles, Singles]
Activation = Literal["relu", "tanh"]
TANH = 1  # code of the one activation that is not a ReLU


class Expert(NamedTuple):
    """A network over flat arrays; kernels read the same object."""

    sizes: Ints  # width of each layer: inputs, hidden layers, outputs
    parameters: Singles  # of each layer: weights, (in, out) if it widens, else (out, in); biases
    codes: Ints  # activation after each layer but the last: 0 is a ReLU, 1 a tanh

    @classmethod
    def from_layers(
        cls, layers: Sequence[tuple[Any, Any]], activations: Sequence[Activation] | None = None
    ) -> Self:
        """Build an expert from (weight, bias) pairs, a weight being (out, in) as in torch.

        `activations` names the activation after each layer but the last; ReLU by default.

        >>> Expert.from_layers([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5])]).action([1.0, 0.6])
        1
        """
        if not layers:
            raise ExpertError("An expert needs at least one layer.")
        checked: list[Layer] = []
        for number, layer in enumerate(layers, start=1):
            weight, bias = (np.asarray(each) for each in layer)
            is_shaped = weight.ndim == 2 and weight.size and bias.shape == weight.shape[:1]
            if not is_shaped or not {weight.dtype.kind, bias.dtype.kind} <= set("fiu"):
                raise ExpertError(
                    f"A layer of an expert has numbers as weight (out, in) and bias (out,). "
                    f"Got {weight.dtype} {weight.shape} and {bias.dtype} {bias.shape} in layer "
                    f"{number}."
                )
            if checked and weight.shape[1] != checked[-1][1].size:
                raise ExpertError(
                    f"Layer {number} of the expert takes {weight.shape[1]} values, "
                    f"and the layer before it gives {checked[-1][1].size}."
                )
            with np.errstate(over="ignore"):  # what overflows is not finite, and refused as such
                checked.append((weight.astype(np.float32), bias.astype(np.float32)))
            if not all(np.isfinite(each).all() for each in checked[-1]):
                raise ExpertError(f"Layer {number} of the expert has a NaN or an infinity.")
        names, n = get_args(Activation), len(checked) - 1
        chosen = ["relu"] * n if activations is None else list(activations)
        if len(chosen) != n or not set(chosen) <= set(names):
            raise ExpertError(
                f"An expert of {n + 1} layers has {n} activations, each {' or '.join(names)}. "
                f"Got {short(activations)} instead."
            )
        codes = np.array([names.index(name) for name in chosen], dtype=np.int64)
        sizes = np.array([checked[0][0].shape[1], *(bias.size for _, bias in checked)], np.int64)
        stored = [(w.T if _widens(*w.shape[::-1]) else w, b) for w, b in checked]
        return cls(sizes, np.concatenate([each.ravel() for pair in stored for each in pair]), codes)

    @property
    def n_inputs(self) -> int:
        """Values in an observation."""
        return int(self.sizes[0])

    @property
    def n_outputs(self) -> int:
        """Values in its output, one for each action."""
        return int(self.sizes[-1])

    @property
    def activations(self) -> tuple[Activation, ...]:
        """Names of the activations after each layer but the last."""
        names = get_args(Activation)
        return tuple(names[code] for code in self.codes)

    @property
    def digest(self) -> str:
        """SHA-256 of its sizes, parameters and activations."""
        codes = self.codes.tobytes() if self.codes.any() else b""  # nothing for ReLU
        return sha256(self.sizes.tobytes() + self.parameters.tobytes() + codes).hexdigest()

    def layers(self) -> list[Layer]:
        """Return the (weight, bias) pairs, a weight being (out, in)."""
        found, place = [], 0
        for n_in, n_out in pairwise(self.sizes.tolist()):
            weight, bias, _ = np.split(self.parameters[place:], [n_in * n_out, (n_in + 1) * n_out])
            weight = weight.reshape(n_in, n_out).T if _widens(n_in, n_out) else weight
            found.append((weight.reshape(n_out, n_in), bias))
            place += (n_in + 1) * n_out
        return found

    def scratch(self) -> Singles:
        """Return the workspace of the kernels: two rows of the widest layer."""
        return np.zeros((2, int(self.sizes.max())), dtype=np.float32)

    def values(self, observation: ArrayLike) -> Singles:
        """Return the value of each action (n_outputs,)."""
        checked = np.asarray(observation, dtype=np.float32)
        if checked.shape != (self.n_inputs,):
            raise ShapeError(
                f"The expert takes observations of shape ({self.n_inputs},). Got {checked.shape}."
            )
        if not np.isfinite(checked).all():
            raise NonFiniteError("The observation given to the expert is not finite.")
        scratch = self.scratch()
        row = _compiled_values(*self, scratch, np.ascontiguousarray(checked))
        return scratch[row, : self.n_outputs].copy()

    def action(self, observation: ArrayLike) -> int:
        """Return the greedy action: the first with the largest value."""
        return int(self.values(observation).argmax())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expert):
            return NotImplemented
        return self.digest == other.digest

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"Expert({'-'.join(str(size) for size in self.sizes)})"


@inlined
def expert_action(
    sizes: Ints, parameters: Singles, codes: Ints, scratch: Singles, observation: Any
) -> int:
    """Return the greedy action for a finite observation (n_inputs,) of either precision."""
    row = expert_values(sizes, parameters, codes, scratch, observation)
    action = 0
    for output in range(1, sizes[sizes.size - 1]):
        if scratch[row, output] > scratch[row, action]:
            action = output
    return action


@inlined
def expert_values(
    sizes: Ints, parameters: Singles, codes: Ints, scratch: Singles, observation: Any
) -> int:
    """Write the action values into `scratch` (2, widest layer); return the row they are in."""
    for node in range(sizes[0]):
        scratch[0, node] = observation[node]
    row, place = 0, 0
    floor = np.float32(-np.inf)
    for layer in range(sizes.size - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        if _widens(n_in, n_out):
            _spread(parameters, place, scratch, row, n_in, n_out, floor)
        else:
            _gather(parameters, place, scratch, row, n_in, n_out, floor)
        place += (n_in + 1) * n_out
        row = 1 - row
        floor = np.float32(0)  # ReLU, as the next layer reads: cheaper than a pass of its own
        if layer < codes.size and codes[layer] == TANH:
            for node in range(n_out):
                scratch[row, node] = math.tanh(scratch[row, node])
            floor = np.float32(-np.inf)
    return row


_compiled_values = kernel(expert_values)  # the same, to call from Python


@inlined
def _widens(n_in: int, n_out: int) -> bool:
    return n_out > n_in


@reduction
def _at_least(value: np.float32, floor: np.float32) -> np.float32:
    return value if value > floor else floor


@reduction
def _spread(
    parameters: Singles, place: int, scratch: Singles, row: int, n_in: int, n_out: int, floor: Any
) -> None:
    """Evaluate a layer stored (in, out): run over the outputs, with four inputs at a time."""
    width, start = np.uint64(n_out), np.uint64(place)
    above, bias = np.uint64(1 - row), np.uint64(place + n_in * n_out)
    for first in range(0, n_in, 4):
        a, at_a = _sender(scratch, row, first, n_in, floor), start + width * np.uint64(first)
        b, at_b = _sender(scratch, row, first + 1, n_in, floor), at_a
        c, at_c = _sender(scratch, row, first + 2, n_in, floor), at_a
        d, at_d = _sender(scratch, row, first + 3, n_in, floor), at_a
        if first + 1 < n_in:
            at_b = at_a + width
        if first + 2 < n_in:
            at_c = at_b + width
        if first + 3 < n_in:
            at_d = at_c + width
        if first == 0:
            for node in range(width):
                scratch[above, node] = (
                    parameters[bias + node]
                    + a * parameters[at_a + node]
                    + b * parameters[at_b + node]
                    + c * parameters[at_c + node]
                    + d * parameters[at_d + node]
                )
        else:
            for node in range(width):
                scratch[above, node] += (
                    a * parameters[at_a + node]
                    + b * parameters[at_b + node]
                    + c * parameters[at_c + node]
                    + d * parameters[at_d + node]
                )


@reduction
def _sender(scratch: Singles, row: int, node: int, n_in: int, floor: np.float32) -> np.float32:
    """Return the value that a node of the layer below sends; a node that does not exist sends 0."""
    return _at_least(scratch[row, node], floor) if node < n_in else np.float32(0)


@reduction
def _gather(
    parameters: Singles, place: int, scratch: Singles, row: int, n_in: int, n_out: int, floor: Any
) -> None:
    """Evaluate a layer stored (out, in): run over the inputs, with two outputs at a time."""
    width, start = np.uint64(n_in), np.uint64(place)
    below, above = np.uint64(row), np.uint64(1 - row)
    bias = start + width * np.uint64(n_out)
    for pair in range(np.uint64((n_out + 1) // 2)):
        first = np.uint64(2) * pair
        second = min(first + np.uint64(1), np.uint64(n_out - 1))
        at_a, at_b = start + first * width, start + second * width
        a, b = np.float32(0), np.float32(0)
        for node in range(width):
            value = _at_least(scratch[below, node], floor)
            a += parameters[at_a + node] * value
            b += parameters[at_b + node] * value
        scratch[above, first] = a + parameters[bias + first]
        scratch[above, second] = b + parameters[bias + second]
