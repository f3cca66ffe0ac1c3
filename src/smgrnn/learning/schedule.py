"""The learning rate over a run, and the running mean of the weights."""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined, kernel
from smgrnn.learning.settings import Rate

FALLS_FROM, FALLS_TO = 0.5, 0.05
"""Share of a run after which the rate falls, and the share of it that is left in the end."""
MEAN, AGE = 0, 1  # rows of an average


def rate_at(schedule: Rate, progress: float) -> float:
    """Return the fraction of the learning rate that applies now.

    >>> rate_at("falling", 0.75), rate_at("constant", 0.75)
    (0.525, 1.0)
    """
    if schedule == "constant" or progress <= FALLS_FROM:
        return 1.0
    share = (progress - FALLS_FROM) / (1.0 - FALLS_FROM)
    return 1.0 - (1.0 - FALLS_TO) * min(share, 1.0)  # a loop may run for longer than announced


@inlined
def average(rows: Floats, weight: Floats, least: float, first: int, last: int) -> None:
    """Move the running mean (2, n_edges) of the weights of [first, last) on by one update.

    The mean is over all updates of an edge, and later over about the last 1 / `least`.
    """
    for edge in range(np.uint64(first), np.uint64(last)):
        rows[AGE, edge] += 1.0
        share = max(least, 1.0 / rows[AGE, edge])
        rows[MEAN, edge] += (weight[edge] - rows[MEAN, edge]) * share


def averaged(rows: Floats, weight: Floats) -> Floats:
    """Return the mean weights; an edge that was never updated has the weight it has."""
    return np.where(rows[AGE] > 0.0, rows[MEAN], weight)


@kernel
def average_update(rows: Floats, weight: Floats, least: float) -> None:
    """Move the running mean of all weights on by one update, from Python."""
    average(rows, weight, least, 0, weight.size)
