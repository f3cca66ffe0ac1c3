"""Random draws that rules share."""

import numpy as np

from smgrnn.arrays import Ints


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
