"""Smallest: find the smallest network that keeps a fraction of the expert's return beyond chance.

Networks are grown to small sizes first, each by a training of its own.  The selected one is
polished and then judged on episodes that no choice depended on.  It is good enough if the lower
confidence bound of its mean return reaches the target, and then the search is over.  A size for
which these episodes leave it open is tried again with other seeds.
"""

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.runs.plan import Plan

TRIES, JUDGED, FIRST_JUDGED = 3, 100, 2_000_000
"""Tries of a size at most, and the episodes that judge a network: their number and the first."""
Z, OPEN = 1.645, 3.0
"""Standard errors from the mean to the lower bound of a one-sided interval of 95 %, and those
within which the target may still be reached."""
HOPELESS = 0.5
"""Fraction of the way from chance to the target below which a network is not polished."""


class Search(NamedTuple):
    """The sizes that were tried, and what they are compared with."""

    chance: float
    """Mean return of a random policy."""
    target: float
    """Mean return that keeps the fraction."""
    failed: Floats
    """The size asked for, number of parameters, mean return and standard error of each earlier try
    (n_failed, 4)."""
    judged: Floats
    """Returns of the present network in the episodes that judge it; empty before (n,)."""

    @classmethod
    def start(cls, share: float, expert: float, chance: float) -> Self:
        """Return a search that has not begun."""
        target = chance + share * (expert - chance)
        return cls(chance, target, np.zeros((0, 4)), np.zeros(0))

    @property
    def error(self) -> float:
        """Standard error of the mean of the present network."""
        return float(self.judged.std(ddof=1) / np.sqrt(self.judged.size))

    @property
    def lower_bound(self) -> float:
        """Lower bound of the mean return of the present network; minus infinity before."""
        if not self.judged.size:
            return -np.inf
        return float(self.judged.mean()) - Z * self.error

    @property
    def is_reached(self) -> bool:
        """Whether the present network is good enough."""
        return self.lower_bound >= self.target

    @property
    def size(self) -> int:
        """The size to grow to now."""
        if not len(self.failed):
            return 2
        last, _, mean, error = self.failed[-1]
        is_open = mean + OPEN * error >= self.target
        n_tries = int((self.failed[:, 0] == last).sum())
        return int(last) if is_open and n_tries < TRIES else _next_size(int(last))

    def is_over(self, largest: int) -> bool:
        """Return whether the present network is good enough, or no larger one is to be tried."""
        if not self.judged.size:
            return False
        return self.is_reached or self.after_failure(0).size > largest

    def after_failure(self, n_parameters: int) -> Self:
        """Return the search before its next try."""
        row = self.size, n_parameters, self.judged.mean(), self.error
        return self._replace(failed=np.vstack([self.failed, row]), judged=np.zeros(0))

    def is_hopeless(self, mean: float) -> bool:
        """Return whether a mean return is too low for a polish to raise it to the target."""
        return mean < self.chance + HOPELESS * (self.target - self.chance)

    def plan(self, plan: Plan) -> Plan:
        """Return the plan of the present try; each try has seeds of its own."""
        size = max(self.size, len(plan.plasticity.keep_inputs))
        rules = replace(plan.plasticity, size=size)
        seed = plan.seed + 1_000_000 * len(self.failed)
        return replace(plan, max_parameters=size, plasticity=rules, seed=seed)


def _next_size(size: int) -> int:
    """Return the size after one of 2, 3, 4, 6, 8, 12, 16, 24 and so on.

    >>> [_next_size(size) for size in (2, 3, 4, 6, 8, 12)]
    [3, 4, 6, 8, 12, 16]
    """
    is_power = size & (size - 1) == 0
    return max(size * 3 // 2, size + 1) if is_power else size * 4 // 3
