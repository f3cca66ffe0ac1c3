"""Instability: which edges have not settled on a direction.  Paper: Sec. III-C1, Eqs. (2)-(4)."""

import numpy as np

from smgrnn.arrays import Bools
from smgrnn.kernels import inlined, kernel
from smgrnn.plasticity.evidence import Evidence
from smgrnn.plasticity.numbers import UPDATE, VARIANCE_TO_MEAN, WEIGHT, RuleNumbers


@inlined
def is_unstable(mean: float, variance: float, weight: float, numbers: RuleNumbers) -> bool:
    """Return whether an edge's update direction is unresolved -- Eqs. (2)-(4).

    The `scale` says how the fluctuation is measured: against the mean update as Eq. (3) prints it,
    σ²/(|μ|+ε)²; as the variance-to-mean ratio, σ²/(|μ|+ε); or against the weight, which the symbol
    of Eq. (3) suggests, σ²/(|w|+ε)².
    """
    crosses_zero = abs(mean) <= numbers.interval_width * np.sqrt(variance)  # 0 in I_k, Eq. (2)
    if numbers.scale == UPDATE:
        reference = (abs(mean) + numbers.epsilon) ** 2
    elif numbers.scale == VARIANCE_TO_MEAN:
        reference = abs(mean) + numbers.epsilon
    elif numbers.scale == WEIGHT:
        reference = (abs(weight) + numbers.epsilon) ** 2
    else:
        reference = np.nan  # against which nothing is unstable
    fluctuation = variance / reference  # Eq. (3), squared
    return bool(crosses_zero & (fluctuation > numbers.fluctuation_threshold))  # Eq. (4)


@kernel
def unstable_edges(evidence: Evidence, numbers: RuleNumbers) -> Bools:
    """Flag the unstable edges among those that have been watched for long enough."""
    flags = np.empty(evidence.mean.size, dtype=np.bool_)
    for edge in range(flags.size):
        mean, variance = evidence.mean[edge], evidence.variance[edge]
        unstable = is_unstable(mean, variance, evidence.graph.weight[edge], numbers)
        flags[edge] = unstable & (evidence.counts[edge] >= numbers.min_count)
    return flags
