"""Instability: which edges have not settled on a direction.  Paper: Sec. III-C1, Eqs. (2)-(4)."""

import numpy as np

from smgrnn.graph.state import Bools, Floats
from smgrnn.kernels import kernel

SCALES = ("update", "variance_to_mean", "weight")


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
    """Flag edges whose update direction is unresolved -- Eqs. (2)-(4).

    `scale` is the place in SCALES of what the fluctuation is measured against: the mean update as
    Eq. (3) prints it, σ²/(|μ|+ε)²; the variance-to-mean ratio, σ²/(|μ|+ε); or the weight, which the
    symbol of Eq. (3) suggests, σ²/(|w|+ε)².
    """
    crosses_zero = np.abs(mean) <= interval_width * np.sqrt(variance)  # 0 inside I_k, Eq. (2)
    if scale == 0:
        fluctuation = variance / (np.abs(mean) + epsilon) ** 2
    elif scale == 1:
        fluctuation = variance / (np.abs(mean) + epsilon)
    else:
        fluctuation = variance / (np.abs(weight) + epsilon) ** 2
    return crosses_zero & (fluctuation > fluctuation_threshold)  # Eq. (4)
