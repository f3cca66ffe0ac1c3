"""Pruning: drop weak, stalled edges.  Paper: Sec. III-C3, Eq. (7)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from smgrnn.arrays import Bools
from smgrnn.graph.edit import Cause, EditDraft, GraphEdit
from smgrnn.rules.evidence import Evidence
from smgrnn.rules.rule import BuiltInRule, subset
from smgrnn.validation import NonNegative, Within


@dataclass(frozen=True, kw_only=True)
class Weakness(BuiltInRule):
    """Settings of rules that ask which edges are weak; defaults are Table A.III."""

    weight_threshold: NonNegative = 0.1
    """Largest absolute weight of a weak edge (τ_w)."""
    update_threshold: NonNegative = 1e-4
    """Largest absolute mean update of a weak edge (τ_Δ)."""
    prune_fraction: Annotated[float, Within("(0, 1]")] = 0.8
    """Fraction of the weak edges that one call removes (η_prune)."""

    def weak_edges(self, evidence: Evidence) -> Bools:
        """Flag weak edges W_t -- Eq. (7), of those watched for long enough and not protected."""
        is_small = np.abs(evidence.graph.weight) <= self.weight_threshold
        is_stalled = np.abs(evidence.mean) <= self.update_threshold
        flags: Bools = is_small & is_stalled & evidence.is_watched & ~evidence.protected
        return flags

    def count(self, n_weak: int) -> int:
        """Return how many edges one call removes: η of the weak ones, rounded, and at least one."""
        return max(int(self.prune_fraction * n_weak + 0.5), min(n_weak, 1))


@dataclass(frozen=True, kw_only=True)
class Weak(Weakness):
    """Prune weak, stalled edges -- Eq. (7); defaults are Table A.III."""

    name: ClassVar[str] = "weak"
    summary: ClassVar[str] = "small weights that stopped changing: the paper's"

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        """Remove a random fraction of the weak edges."""
        weak = np.flatnonzero(self.weak_edges(evidence))
        draft = EditDraft(evidence.graph, Cause.WEAK_EDGE)
        draft.remove_edges_at(weak[subset(rng, weak.size, self.count(weak.size))])
        return draft.finish()
