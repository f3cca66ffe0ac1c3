"""Activation functions over arrays, and their slopes.

`tanh` is most of the arithmetic of a large network.  The one here is a loop without branches, which
is vectorized: several times faster than the C library's, and equal within a few last places.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir

from smgrnn.arrays import Floats
from smgrnn.graph.settings import ACTIVATIONS
from smgrnn.kernels import extending, inlined, kernel, types

TANH, SIGMOID, RELU, IDENTITY = range(len(ACTIVATIONS))
"""Codes of the activations, their places in ACTIVATIONS."""

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # ln 2 in two parts
_ROUNDER = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits
_FLAT = 40.0  # 2|x| beyond which tanh x rounds to ±1


@extending.intrinsic
def _power_of_two_intrinsic(typing_context: Any, rounded: Any) -> Any:
    """Return 2ᵏ for a float holding _ROUNDER + k, by writing k into an exponent field."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        bits = builder.bitcast(args[0], word)
        exponent = builder.add(builder.shl(bits, word(52)), word(1023 << 52))
        return builder.bitcast(exponent, ir.DoubleType())

    return types.float64(types.float64), codegen


_power_of_two: Callable[[float], float] = cast(Any, _power_of_two_intrinsic)


@kernel
def _tanh(values: Floats, row: int, first: int, last: int) -> None:
    """Apply tanh, as expm1(2|x|) / (expm1(2|x|) + 2) with the sign of x."""
    for i in range(np.uint64(first), np.uint64(last)):
        x = values[row, i]
        y = 2.0 * abs(x)
        y = _FLAT if y > _FLAT else y  # a NaN stays a NaN
        rounded = y * _LOG2_E + _ROUNDER
        k = rounded - _ROUNDER
        r = (y - k * _LN2_HIGH) - k * _LN2_LOW  # |r| ≤ ln 2 / 2
        p = 1.6059043836821613e-10  # 1/13!, and down to 1/2!
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        expm1_r = r + r * r * p
        scale = _power_of_two(rounded)
        expm1_y = scale * expm1_r + (scale - 1.0)
        values[row, i] = np.copysign(expm1_y / (expm1_y + 2.0), x)


@inlined
def activate(values: Floats, row: int, first: int, last: int, activation: int) -> None:
    """Apply the activation with this place in ACTIVATIONS to values[row, first:last], in place."""
    if activation == TANH:
        _tanh(values, row, first, last)
    elif activation == SIGMOID:
        for i in range(first, last):
            values[row, i] = 1.0 / (1.0 + np.exp(-values[row, i]))
    elif activation == RELU:
        for i in range(first, last):
            values[row, i] = 0.0 if values[row, i] <= 0.0 else values[row, i]


@inlined
def slope(value: float, activation: int) -> float:
    """Return the derivative of an activation at the point where its value is `value`."""
    if activation == TANH:
        return 1.0 - value * value
    if activation == SIGMOID:
        return value * (1.0 - value)
    if activation == RELU:
        return 1.0 if value > 0.0 else 0.0
    if activation == IDENTITY:
        return 1.0
    return np.nan  # no such activation
