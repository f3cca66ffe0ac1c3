"""A network as the arithmetic of one step, from which all code is written.

A step reads some inputs and the values that the last step kept, computes `rows` in order, and takes
its outputs from the last ones.  A `Controller` plays a program exactly as its C does: in single
precision, or in int16 values, int16 or int8 weights and int32 sums.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import tanh
from typing import Any, NamedTuple

import numpy as np

from smgrnn.policy import Policy

STYLES = ("tables", "unrolled")
VALUE_BITS, LARGEST_VALUE = 15, 2**15 - 1
"""An integer of 16 bits; a tanh has `VALUE_BITS` behind the point."""
CURVE_BITS = 12
"""Bits behind the point of the integers that tanh and sigmoid are computed of."""
CURVED = ("tanh", "sigmoid")


def _curve() -> tuple[int, ...]:
    """Return tanh at multiples of 1/8 up to 4, raised so that chords err equally on both sides."""
    points = [(tanh(n / 8), tanh(n / 8) * (1 - tanh(n / 8) ** 2) / 8**3) for n in range(33)]
    return tuple(min(round((y + bend) * 2**VALUE_BITS), LARGEST_VALUE) for y, bend in points)


CURVE = _curve()
_POINTS = np.array(CURVE)


def activated(kind: str, total: Any, shift: int | None = None) -> Any:
    """Return the activated value of a sum, or of an array of them.

    An integer sum is cut by `shift` bits; without, sums are floats.

    >>> [int(activated("tanh", x << 10, 10)) for x in (0, 4096, -4096, 2**20)]
    [0, 24976, -24976, 32745]
    """
    if shift is None:
        if kind == "tanh":
            return np.tanh(total)
        if kind == "sigmoid":
            return 1 / (1 + np.exp(-total))
        return np.where(total <= 0, 0, total)[()] if kind == "relu" else total
    if kind == "sigmoid":
        return (2**VALUE_BITS + activated("tanh", total, shift + 1)) >> 1
    if kind == "tanh":
        x = np.minimum(np.abs(total) >> shift, 2**14 - 1)
        left = _POINTS[x >> 9]
        y = left + ((_POINTS[(x >> 9) + 1] - left) * (x & 511) >> 9)
        return y * np.sign(total)
    whole = np.maximum(total, 0) if kind == "relu" else total
    return np.clip((whole + (1 << shift >> 1)) >> shift, -LARGEST_VALUE, LARGEST_VALUE)


class Row(NamedTuple):
    """A value of a step: its activated sum."""

    bias: float
    terms: dict[int, float]
    """The weight of each value that is summed, by its place: inputs, states, rows."""
    activation: str = "identity"
    shift: int = 0
    """Bits of an integer sum that are dropped before it is activated."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """The arithmetic of one step."""

    inputs: tuple[int, ...]
    """Places in an observation of the values that are read."""
    states: tuple[int, ...]
    """Nodes whose states a step starts from; nodes count from the first output."""
    rows: tuple[Row, ...]
    """The last rows are the outputs.  Those of a choice stay sums, at most cut at 0."""
    next: tuple[tuple[int, str, int], ...]
    """Where each state's next value is; how it is activated and shifted, if it is such a sum."""
    n_outputs: int
    is_choice: bool
    """Whether the action is the number of the largest output, or all outputs."""
    repeat: int = 1
    """How often the rows are computed in a step, from the states that they left."""
    is_carried: bool = True
    """Whether the states are those that the last step left, or 0."""
    style: str = "tables"
    """How C is written; only tables repeat rows."""
    type: str = "float"
    """Type of the numbers: "float", or a key of `export.integers.LARGEST_WEIGHT`."""
    bits: tuple[float, ...] = ()
    """Bits behind the point of each value that is an integer, by its place."""

    @property
    def is_float(self) -> bool:
        """Whether numbers are floats."""
        return self.type == "float"

    @property
    def first_row(self) -> int:
        """Place of the first row among the values."""
        return len(self.inputs) + len(self.states)

    @property
    def first_output(self) -> int:
        """Place of the first output among the values."""
        return self.first_row + len(self.rows) - self.n_outputs

    @property
    def n_active(self) -> int:
        """Rows that are activated and kept as values; the rest are the sums of a choice."""
        return len(self.rows) - (self.n_outputs if self.is_choice else 0)

    @property
    def n_kept(self) -> int:
        """Values that are kept from one step to the next."""
        return len(self.states) if self.is_carried else 0

    @property
    def n_weights(self) -> int:
        """Weights of sums; one of exactly 1 or -1 counts too."""
        return sum(len(row.terms) for row in self.rows)

    @property
    def n_constants(self) -> int:
        """Constants that are added to sums."""
        return sum(row.bias != 0 for row in self.rows)

    @property
    def n_activations(self) -> int:
        """Activations of a step, but for those that do nothing."""
        kinds = [row.activation for row in self.rows] + [kind for _, kind, _ in self.next]
        return self.repeat * (len(kinds) - kinds.count("identity"))

    @property
    def hides_infinity(self) -> bool:
        """Whether all outputs may be finite although an input is not."""
        return bool(self.states) or any(row.activation != "identity" for row in self.rows)

    def passes(self, inputs: list[Any], states: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield all values, and the next states, in each repetition of the rows."""
        number = np.float32 if self.is_float else int
        for _ in range(self.repeat):
            values = [*inputs, *states]
            for n, row in enumerate(self.rows):
                total: Any = number(row.bias)
                for place, weight in row.terms.items():
                    total = total + number(weight) * values[place]
                if not self.is_float and n >= self.n_active:
                    values.append(np.maximum(total, 0) if row.activation == "relu" else total)
                else:
                    shift = None if self.is_float else row.shift
                    values.append(activated(row.activation, total, shift))
            states = [
                activated(kind, values[place], None if self.is_float else shift)
                if place >= self.first_row + self.n_active
                else values[place]
                for place, kind, shift in self.next
            ]
            yield values, states

    @classmethod
    def of(
        cls,
        inputs: dict[int, int],
        states: dict[int, int],
        rows: dict[int, Row],
        following: dict[int, tuple[int, str, int]],
        bits: dict[int, float] | None = None,
        **settings: Any,
    ) -> "Program":
        """Return the program of values that have any keys, without those that nothing depends on.

        Rows of equal depth and activation become neighbors.
        """
        outputs = list(rows)[-settings["n_outputs"] :]
        live, met, depth = set[int](), list(outputs), dict[int, int]()
        while met:
            key = met.pop()
            live.add(key)
            read: Iterable[int] = rows[key].terms if key in rows else ()
            met += {*read, *([following[key][0]] if key in states else [])} - live
        for key, row in rows.items():
            depth[key] = 1 + max((depth.get(place, 0) for place in row.terms), default=0)
        inner = sorted(
            (key for key in rows if key in live and key not in outputs),
            key=lambda key: (depth[key], rows[key].activation),
        )
        inputs, states = ({k: n for k, n in each.items() if k in live} for each in (inputs, states))
        keys = [*inputs, *states, *inner, *outputs]
        places = {key: place for place, key in enumerate(keys)}
        return cls(
            inputs=tuple(inputs.values()),
            states=tuple(states.values()),
            rows=tuple(
                rows[key]._replace(terms={places[k]: w for k, w in rows[key].terms.items()})
                for key in (*inner, *outputs)
            ),
            next=tuple((places[following[key][0]], *following[key][1:]) for key in states),
            bits=() if bits is None else tuple(bits[key] for key in keys),
            **settings,
        )


class Controller(Policy):
    """A policy that computes as its exported code does.

    Parameters
    ----------
    policy
        The network in double precision.
    program
        The arithmetic of one step.
    """

    def __init__(self, policy: Policy, program: Program) -> None:
        super().__init__(
            policy.graph,
            policy.config,
            policy.task,
            student=policy.student,
            normalisation=policy.normalisation,
            names=policy.names,
        )
        self.program = program
        self.states: list[Any] = []
        self.scores: Any = None
        """The outputs of the last step, in the code's numbers."""
        self.reset()

    @property
    def units(self) -> Any:
        """The integer of 1, by value of an observation; 0 where none is read (n_observed,)."""
        found, program = np.zeros(self.task.n_inputs), self.program
        found[list(program.inputs)] = 2.0 ** np.array(program.bits[: len(program.inputs)])
        return found

    @property
    def output_units(self) -> Any:
        """The number that an output of 1 has (n_outputs,)."""
        bits = self.program.bits[self.program.first_output :]
        return 2.0 ** np.array(bits or [0.0] * self.program.n_outputs)

    def encoded(self, observations: Any) -> Any:
        """Return observations (…, n_observed) as the code takes them: integers saturate."""
        if self.program.is_float:
            return np.asarray(observations, np.float32)
        scaled = np.asarray(observations, dtype=np.float64) * self.units
        rounded = np.trunc(scaled + np.copysign(0.5, scaled))
        return np.clip(rounded, -LARGEST_VALUE, LARGEST_VALUE).astype(np.int64)

    @np.errstate(all="ignore")
    def step(self, observation: Any) -> Any:
        """Return the choice, or the outputs in the code's numbers.

        `observation` is encoded (…, n_observed).  A number that is not finite gives a choice of -1,
        or outputs of NaN, and changes no state.
        """
        program, columns = self.program, np.asarray(observation).T
        inputs = [columns[place] for place in program.inputs]
        states = self.states if program.is_carried else [columns.dtype.type(0)] * len(self.states)
        *_, (values, following) = program.passes(inputs, states)
        outputs = values[program.first_output :]
        whole = np.stack(np.broadcast_arrays(*outputs, columns[0])[:-1], axis=-1)
        chosen: Any = whole.argmax(axis=-1) if program.is_choice else whole
        if program.is_float:
            is_finite = np.isfinite(sum(0 * x for x in (*inputs, *outputs)))
            pairs = zip(following, states, strict=True)
            following = [np.where(is_finite, new, old)[()] for new, old in pairs]
            if program.is_choice:
                chosen = np.where(is_finite, chosen, -1)
            else:
                chosen = np.where(is_finite[..., None], chosen, np.float32(np.nan))
        self.states, self.scores = following, whole
        return chosen

    def answer(self, observation: Any) -> Any:
        """Return the choice, or the outputs for a continuous action, whose bounds are at ±1."""
        given = self.step(self.encoded(observation))
        if self.program.is_choice:
            return int(given) if np.ndim(given) == 0 else given
        return given / self.output_units

    def reset(self) -> None:
        """Set the node states to zero."""
        number = np.float32 if self.program.is_float else np.int64
        self.states = [number(0)] * len(self.program.states)
