"""Instability: which edges have not settled on a direction.  Paper: Sec. III-C1, Eqs. (2)-(4)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from smgrnn.arrays import Bools
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.rule import BuiltInRule
from smgrnn.validation import Positive

Scale = Literal["update", "variance_to_mean", "weight"]


@dataclass(frozen=True, kw_only=True)
class Unstable(BuiltInRule):
    """Settings of rules that ask which edges are unstable; defaults are Table A.III."""

    interval_width: Positive = 0.5
    """Half-width of the fluctuation interval, in standard deviations (λ)."""
    fluctuation_threshold: Positive = 0.1
    """Least normalised fluctuation of an unstable edge (θ_var)."""
    scale: Scale = "variance_to_mean"
    """Quantity that the fluctuation is normalised by; "update" is Eq. (3) as printed."""
    epsilon: Positive = 1e-8
    """Keeps the normalisation finite (ε)."""

    def unstable_edges(self, evidence: Evidence) -> Bools:
        """Flag edges whose update direction is unresolved, of those watched for long enough.

        The `scale` says how the fluctuation is measured: against the mean update as Eq. (3) prints
        it, σ²/(|μ|+ε)²; as the variance-to-mean ratio, σ²/(|μ|+ε); or against the weight, which the
        symbol of Eq. (3) suggests, σ²/(|w|+ε)².
        """
        mean, variance = np.abs(evidence.mean), evidence.variance
        crosses_zero = mean <= self.interval_width * np.sqrt(variance)  # 0 in I_k, Eq. (2)
        if self.scale == "update":
            reference = (mean + self.epsilon) ** 2
        elif self.scale == "variance_to_mean":
            reference = mean + self.epsilon
        else:
            reference = (np.abs(evidence.graph.weight) + self.epsilon) ** 2
        fluctuation = variance / reference  # Eq. (3), squared
        is_unstable = crosses_zero & (fluctuation > self.fluctuation_threshold)  # Eq. (4)
        flags: Bools = is_unstable & evidence.is_watched
        return flags
