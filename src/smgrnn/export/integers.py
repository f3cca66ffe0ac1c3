"""From a program in floats to one in integers.

A value v is the integer nearest to v · 2^bits.  The weights of a row are scaled so that no
observation can overflow its sum.
"""

from math import ceil, inf, log2
from typing import Any

import numpy as np

from smgrnn.errors import ConfigError
from smgrnn.export.build import program_of
from smgrnn.export.program import CURVE_BITS, CURVED, VALUE_BITS, Program, Row
from smgrnn.policy import Policy

LARGEST_WEIGHT = {"q15": 2**15 - 1, "q7": 2**7 - 1}
"""By the type of the weights."""
SUM_LIMIT = 2**30
"""Beyond the largest sum, so that the difference of two sums is an int32 too."""
LEAST_WEIGHT = 16
"""The largest weight of a row that is worth computing is at least this."""


def integer_program(
    policy: Policy, type: str, observations: Any, starts: Any, *, style: str = "tables"
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
    style
        "tables", or "unrolled", which repeats nothing.
    """
    program = program_of(policy, style)
    n_inputs, first_row, first_sum = (
        len(program.inputs),
        program.first_row,
        program.first_row + program.n_active,
    )
    largest = _largest(program, observations, starts)
    for place, (source, _, _) in enumerate(program.next, n_inputs):
        if source < first_sum:  # the state is that value
            largest[place] = largest[source] = max(largest[place], largest[source])
    bits: list[float] = [
        VALUE_BITS - ceil(log2(2 * x)) if x else VALUE_BITS for x in largest.tolist()
    ]
    sources = {source for source, _, _ in program.next}
    for place, row in enumerate(program.rows[: program.n_active], first_row):
        is_cut = place >= program.first_output and policy.task.is_bounded  # to ±1
        if row.activation in CURVED or (is_cut and place not in sources):
            bits[place] = VALUE_BITS
    for place, (source, kind, _) in enumerate(program.next, n_inputs):
        bits[place] = bits[source] if source < first_sum else bits[place]
        bits[place] = VALUE_BITS if kind in CURVED else bits[place]

    rows = []
    for place, row in enumerate(program.rows[: program.n_active], first_row):
        point = CURVE_BITS if row.activation in CURVED else bits[place]
        fraction = min(_fraction(row, bits, type) // 1, point + 29)  # whole, as it is shifted
        rows.append(_scaled(row, bits, fraction, _shift(fraction, point)))
    following, fraction = list(program.next), 0.0
    if program.is_choice:  # sums are compared, so they have one scale
        sums = program.rows[program.n_active :]
        fraction = min(_fraction(row, bits, type) for row in sums)
        if max(sources, default=0) >= first_sum:
            fraction //= 1
        rows += [_scaled(row, bits, fraction, 0) for row in sums]
        bits[first_sum:] = [fraction] * len(sums)
    for n, (source, kind, _) in enumerate(following):
        if source >= first_sum:
            point = CURVE_BITS if kind in CURVED else bits[n_inputs + n]
            following[n] = source, kind, _shift(fraction, point)
    return Program.of(
        dict(enumerate(program.inputs)),
        dict(enumerate(program.states, n_inputs)),
        dict(enumerate(rows, first_row)),
        dict(enumerate(following, n_inputs)),
        dict(enumerate(bits)),
        n_outputs=program.n_outputs,
        is_choice=program.is_choice,
        repeat=program.repeat,
        is_carried=program.is_carried,
        style=style,
        type=type,
    )


def _largest(program: Program, observations: Any, starts: Any) -> Any:
    """Return the largest absolute value at each place, while a program sees observations."""
    zeros = [np.float32(0)] * len(program.states)
    states, seen = zeros, []
    for row, is_start in zip(np.asarray(observations, np.float32), starts, strict=True):
        inputs = [row[place] for place in program.inputs]
        states = zeros if is_start or not program.is_carried else states
        passes = list(program.passes(inputs, states))
        seen += [values for values, _ in passes]
        states = passes[-1][1]
    found: Any = np.abs(np.array(seen, np.float64)).max(axis=0)
    return found


def _scaled(row: Row, bits: list[float], fraction: float, shift: int) -> Row:
    """Return a row whose integer sum has `fraction` bits behind the point."""
    terms = {place: round(w * 2.0 ** (fraction - bits[place])) for place, w in row.terms.items()}
    kept = {place: weight for place, weight in terms.items() if weight}
    return Row(round(row.bias * 2.0**fraction), kept, row.activation, shift)


def _shift(fraction: float, point: float) -> int:
    if fraction < point:
        raise ConfigError("The network has weights too large for this type; use q15 or float.")
    return int(fraction - point)


def _fraction(row: Row, bits: list[float], type: str) -> float:
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
