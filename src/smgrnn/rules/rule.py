"""Rule: a way to grow or to prune.

A rule is an object with `decide(evidence, rng) -> GraphEdit`.  Ours are frozen dataclasses, so
their fields are their settings; one of a user's own may be anything with that method.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.validation import Choice, NonNegative

NewWeights = Literal["gaussian", "sign"]
Statistic = Literal["nodes", "absent_edges", "candidates"]


@runtime_checkable
class Rule(Protocol):
    """Anything that decides on an edit."""

    def decide(self, evidence: Any, rng: np.random.Generator) -> Any:
        """Return the GraphEdit of one call; change nothing.

        A rule with candidates may return a pair: the edit, and the candidates for the next calls.
        """


@dataclass(frozen=True, kw_only=True)
class BuiltInRule(Choice):
    """A rule of this package."""

    statistics: ClassVar[tuple[Statistic, ...]] = ()
    """Statistics that are kept for it at every update, beside the update history: of "nodes", of
    "absent_edges", and of "candidates"."""
    follows_size: ClassVar[bool] = False
    """Whether it follows the size that the module aims at."""


def follows_size(rule: object) -> bool:
    """Return whether a rule follows the size that the module aims at."""
    return bool(getattr(rule, "follows_size", False))


@dataclass(frozen=True, kw_only=True)
class NewEdges(BuiltInRule):
    """Settings of rules that draw the weights of new edges."""

    initial_weight: NonNegative = 0.01
    """Standard deviation of the zero-mean weights of new edges (w_init)."""
    new_weights: NewWeights = "gaussian"
    """Distribution of the weights of new edges: Gaussian, or ± initial_weight at random."""

    def draw_weights(self, rng: np.random.Generator, n: int) -> Floats:
        """Return the weights of n new edges."""
        drawn = rng.standard_normal(n)
        if self.new_weights == "gaussian":
            return self.initial_weight * drawn
        return np.where(drawn > 0.0, self.initial_weight, -self.initial_weight)


def subset(rng: np.random.Generator, n: int, size: int) -> Ints:
    """Return `size` distinct numbers below `n`, ascending, every such set equally likely.

    Floyd's method: exactly `size` draws however large `n` is, and none when all are taken.
    """
    if size == n:
        return np.arange(n)
    chosen: set[int] = set()
    for top in range(n - size, n):
        number = int(rng.integers(0, top + 1))
        chosen.add(top if number in chosen else number)
    return np.array(sorted(chosen), dtype=np.int64)
