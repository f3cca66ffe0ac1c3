"""Instability: which edges have not settled on a direction.  Paper: Sec. III-C1, Eqs. (2)-(4)."""

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.kernels import inlined, kernel

SCALES = ("update", "variance_to_mean", "weight")


@inlined
def is_unstable(
    mean: float,
    variance: float,
    weight: float,
    interval_width: float,
    fluctuation_threshold: float,
    epsilon: float,
    scale: int,
) -> bool:
    """Return whether an edge's update direction is unresolved -- Eqs. (2)-(4).

    `scale` is the place in SCALES of what the fluctuation is measured against: the mean update as
    Eq. (3) prints it, σ²/(|μ|+ε)²; the variance-to-mean ratio, σ²/(|μ|+ε); or the weight, which the
    symbol of Eq. (3) suggests, σ²/(|w|+ε)².
    """
    crosses_zero = abs(mean) <= interval_width * np.sqrt(variance)  # 0 inside I_k, Eq. (2)
    reference = (abs(weight) if scale == 2 else abs(mean)) + epsilon
    fluctuation = variance / (reference if scale == 1 else reference**2)  # Eq. (3), squared
    return crosses_zero and fluctuation > fluctuation_threshold  # Eq. (4)


@kernel
def unstable_edges(
    mean: Floats,
    variance: Floats,
    weight: Floats,
    interval_width: float,
    fluctuation_threshold: float,
    epsilon: float,
    scale: int,
) -> Bools:
    """Flag the unstable edges."""
    flags = np.empty(mean.size, dtype=np.bool_)
    for edge in range(mean.size):
        flags[edge] = is_unstable(
            mean[edge],
            variance[edge],
            weight[edge],
            interval_width,
            fluctuation_threshold,
            epsilon,
            scale,
        )
    return flags
