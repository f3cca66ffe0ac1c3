"""A program in integers: int16 values, int16 or int8 weights, int32 sums, and how it is played.

A value v is the integer nearest to v · 2^bits.  The weights of a row are scaled so that no
observation can overflow its sum.  `IntegerPolicy` computes what the C computes, bit for bit.
"""

from dataclasses import replace
from math import ceil, inf, log2, tanh
from typing import Any

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import ConfigError
from smgrnn.export.program import Program, Row, program_of, without_unread
from smgrnn.policy import Policy

LARGEST_WEIGHT = {"q15": 2**15 - 1, "q7": 2**7 - 1}
"""By the type of the weights."""
VALUE_BITS, LARGEST_VALUE = 15, 2**15 - 1
SUM_LIMIT = 2**30
"""Beyond the largest sum, so that the difference of two sums is an int32 too."""
CURVE_BITS = 12
"""Bits behind the point of what tanh is read off for."""
LEAST_WEIGHT = 16
"""The largest weight of a row that is worth computing is at least this."""


def _curve() -> tuple[int, ...]:
    """Return tanh at multiples of 1/8 up to 4, raised so that chords err equally on both sides."""
    points = [(tanh(n / 8), tanh(n / 8) * (1 - tanh(n / 8) ** 2) / 8**3) for n in range(33)]
    return tuple(min(round((y + bend) * 2**VALUE_BITS), LARGEST_VALUE) for y, bend in points)


CURVE = _curve()
_POINTS = np.array(CURVE)
CURVED = ("tanh", "sigmoid")


def integer_program(
    policy: Policy, type: str, observations: Any, starts: Any, *, is_straight: bool = False
) -> Program:
    """Return a policy's program in integers, whose ranges are those of recorded observations.

    Parameters
    ----------
    policy
        The network in floats.
    type
        "q15" has int16 weights, "q7" int8 weights.
    observations
        What the network saw (n, n_observed).
    starts
        Whether an episode starts (n,).
    is_straight
        Whether nothing may be repeated.
    """
    program = program_of(policy, is_straight=is_straight)
    largest = np.abs(list(program.run(observations, starts))).max(axis=0)
    first_row, n_inputs = program.first_row, len(program.inputs)
    bits = [_bits(2 * each) for each in largest[:first_row]]  # twice the range, as a reserve
    wanted = {}  # by the row that a state becomes
    for place, (source, kind, _) in enumerate(program.next, n_inputs):
        kind = program.rows[source - first_row].activation if kind == "identity" else kind
        is_bounded = kind in CURVED
        bits[place] = VALUE_BITS if is_bounded else _bits(2 * max(largest[[place, source]]))
        wanted[source] = bits[place]
    rows = []
    for place, row in enumerate(program.inner, first_row):
        is_bounded = row.activation in CURVED
        bits.append(VALUE_BITS if is_bounded else wanted.get(place, _bits(2 * largest[place])))
        point = CURVE_BITS if is_bounded else bits[-1]
        fraction = min(_fraction(row, bits, type) // 1, point + 29)  # whole, as it is shifted
        rows.append(_row(row, bits, type, fraction, point))
    is_choice, first_output = policy.task.is_discrete, len(bits)
    fractions = [_fraction(row, bits, type) for row in program.outputs]
    if is_choice:  # sums are compared, so they have one scale
        fractions = [min(fractions)] * len(fractions)
    if not is_choice or any(source >= first_output for source in wanted):
        fractions = [fraction // 1 for fraction in fractions]
    for fraction, row in zip(fractions, program.outputs, strict=True):
        is_bounded = policy.task.is_bounded or row.activation in CURVED
        place = len(bits)
        bits.append(VALUE_BITS if is_bounded else _bits(2 * largest[place]))
        point = CURVE_BITS if row.activation in CURVED else bits[place]
        rows.append(_row(row, bits, type, fraction, fraction if is_choice else point))
    following = []
    for place, (source, kind, _) in enumerate(program.next, n_inputs):
        shift = 0
        if source >= first_output:  # the state is made of the sum
            kind = program.rows[source - first_row].activation if kind == "identity" else kind
            point = CURVE_BITS if kind in CURVED else bits[place]
            shift = _shift(fractions[source - first_output], point)
        following.append((source, kind, shift))
    made = replace(program, rows=tuple(rows), next=tuple(following), type=type, bits=tuple(bits))
    return without_unread(made)


def _bits(largest: float) -> int:
    """Return the bits behind the point of values up to `largest`."""
    return VALUE_BITS - ceil(log2(largest)) if largest > 0 else VALUE_BITS


def _row(row: Row, bits: list[int], type: str, fraction: float, point: float) -> Row:
    """Return a row whose sum has `fraction` bits behind the point, and is cut to `point` bits."""
    weights = {k: round(w * 2.0 ** (fraction - bits[k])) for k, w in row.terms.items()}
    bias = round(row.bias * 2.0**fraction)
    terms = {k: w for k, w in weights.items() if w}
    return Row(bias, terms, row.activation, _shift(fraction, point))


def _shift(fraction: float, point: float) -> int:
    if fraction < point:
        raise ConfigError("The network has weights too large for this type; use q15 or float.")
    return int(fraction - point)


def _fraction(row: Row, bits: list[int], type: str) -> float:
    """Return the most bits behind the point of a row's sum that neither it nor a weight exceeds."""
    limit, steps = LARGEST_WEIGHT[type], [abs(w) * 2.0 ** -bits[k] for k, w in row.terms.items()]
    top = 2**VALUE_BITS * sum(steps) + abs(row.bias)
    if not top:
        return 30.0
    largest = max(steps, default=0.0)
    spare = 2**VALUE_BITS * len(steps) / 2 + 1  # of rounding each weight
    fraction = log2((SUM_LIMIT - spare) / top) if spare < SUM_LIMIT else -inf
    if largest:
        fraction = min(fraction, log2(limit / largest))
        if largest * 2.0**fraction < LEAST_WEIGHT:
            raise ConfigError(
                f"A node with {len(steps)} inputs is too large for {type}; use q15 or float."
            )
    return fraction


def activated(kind: str, total: Any, shift: int) -> Any:
    """Return the activated value of an integer sum, or of an array of them.

    >>> [int(activated("tanh", x << 10, 10)) for x in (0, 4096, -4096, 2**20)]
    [0, 24976, -24976, 32745]
    """
    if kind == "sigmoid":
        return (2**VALUE_BITS + activated("tanh", total, shift + 1)) >> 1
    if kind == "tanh":
        x = np.minimum(np.abs(total) >> shift, 2**14 - 1)
        left = _POINTS[x >> 9]
        y = left + ((_POINTS[(x >> 9) + 1] - left) * (x & 511) >> 9)
        return y * np.sign(total)
    whole = np.maximum(total, 0) if kind == "relu" else total
    return np.clip((whole + (1 << shift >> 1)) >> shift, -LARGEST_VALUE, LARGEST_VALUE)


class IntegerPolicy(Policy):
    """A policy that computes in integers, exactly as its C does.

    Parameters
    ----------
    policy
        The network in floats.
    program
        The same in integers.
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
        self.states: list[Any] = [0] * len(program.states)

    @property
    def units(self) -> Floats:
        """The integer of 1, by value of an observation; 0 where none is read (n_observed,)."""
        found, program = np.zeros(self.task.n_inputs), self.program
        found[list(program.inputs)] = 2.0 ** np.array(program.bits[: len(program.inputs)])
        return found

    def integers(self, observations: Any) -> Ints:
        """Return observations (…, n_observed) as the C takes them: rounded, and saturated."""
        scaled = np.asarray(observations, dtype=np.float64) * self.units
        rounded = np.trunc(scaled + np.copysign(0.5, scaled))
        return np.clip(rounded, -LARGEST_VALUE, LARGEST_VALUE).astype(np.int64)

    def step(self, observation: Any) -> Any:
        """Return the choice, or the action in integers, for integers (n_observed,) or rows."""
        program, columns = self.program, np.asarray(observation).T
        inputs = [columns[place] for place in program.inputs]
        states = self.states if program.is_carried else [0] * len(self.states)
        for _ in range(program.repeat):
            values = [*inputs, *states]
            for row in program.inner:
                values.append(activated(row.activation, _sum(row, values), row.shift))
            values += [_sum(row, values) for row in program.outputs]
            states = [
                activated(kind, values[k], shift)
                if k >= len(values) - program.n_outputs
                else values[k]
                for k, kind, shift in program.next
            ]
        self.states = states
        outputs = values[len(values) - program.n_outputs :]
        if not self.task.is_discrete:
            pairs = zip(outputs, program.outputs, strict=True)
            outputs = [activated(row.activation, total, row.shift) for total, row in pairs]
        elif program.outputs[0].activation == "relu":
            outputs = [np.maximum(total, 0) for total in outputs]
        whole = np.stack(np.broadcast_arrays(*outputs, columns[0])[:-1], axis=-1)
        return whole.argmax(axis=-1) if self.task.is_discrete else whole

    def answer(self, observation: Any) -> Any:
        """Return the choice, or the outputs for a continuous action, whose bounds are at ±1."""
        given = self.step(self.integers(observation))
        if self.task.is_discrete:
            return int(given) if np.ndim(given) == 0 else given
        return given * 2.0 ** -np.array(self.program.bits[-self.program.n_outputs :])

    def reset(self) -> None:
        """Set the node states to zero."""
        self.states = [0] * len(self.states)


def _sum(row: Row, values: list[Any]) -> Any:
    total: Any = row.bias
    for place, weight in row.terms.items():
        total = total + weight * values[place]
    return total
