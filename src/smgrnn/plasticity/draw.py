"""Every random draw of the rules, so that another target can bring its own generator.

NumPy's Generator gives the identical stream inside and outside compiled code.
"""

import numpy as np

from smgrnn.arrays import Ints
from smgrnn.graph.state import rank
from smgrnn.kernels import kernel
from smgrnn.plasticity.numbers import GAUSSIAN, SIGN, RuleNumbers


@kernel
def bernoulli(rng: np.random.Generator, probability: float) -> bool:
    """Return True with the given probability."""
    return rng.random() < probability


@kernel
def gaussian(rng: np.random.Generator, std: float) -> float:
    """Return a zero-mean normal number."""
    return std * rng.standard_normal()


@kernel
def new_weight(rng: np.random.Generator, numbers: RuleNumbers) -> float:
    """Return the weight of a new edge."""
    drawn = gaussian(rng, 1.0)
    if numbers.new_weights == GAUSSIAN:
        return numbers.initial_weight * drawn
    if numbers.new_weights == SIGN:
        return numbers.initial_weight if drawn > 0.0 else -numbers.initial_weight
    return np.nan


@kernel
def subset(rng: np.random.Generator, n: int, size: int) -> Ints:
    """Return `size` distinct numbers below `n`, ascending, every such set equally likely.

    Floyd's method: exactly `size` draws however large `n` is, and none when all are taken.
    """
    if size == n:
        return np.arange(n)
    chosen = np.empty(size, dtype=np.int64)
    for count in range(size):
        top = n - size + count
        number = int(rng.integers(0, top + 1))
        place = rank(chosen, 0, count, number)
        if place < count and chosen[place] == number:
            chosen[count] = top  # not on offer before, so it is the largest so far
            continue
        for k in range(count, place, -1):
            chosen[k] = chosen[k - 1]
        chosen[place] = number
    return chosen
