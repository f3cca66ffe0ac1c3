"""Size: how many edges the graph should have, now and in the end.

A run of known length passes the size that was asked for and comes back to it: the target rises to
1.3 times the size in the first 30 % of the run, falls to it until 60 %, and stays.  Nothing grows
after 40 %, and until 60 % an edge may still be exchanged for a better one, so that what is left of
the run trains a settled graph.

Without a size asked for, the size follows the error at the outputs.  Growth is a trial: the graph
may grow by 15 %, and after a few calls either the error has fallen by 1 % for each new edge, and
the next trial starts from there, or the graph is pruned back and the next waits twice as long.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined, kernel

PROGRESS, SIZE, START, RETURN, BEST, WORST, MET = range(7)
TARGET, BEFORE, STRAIN, COUNTDOWN, WAIT = range(7, 12)
"""Places in an aim: the share of the run that is behind, -1 if its length is not known; the size
asked for, 0 if none is; the size at the start; the mean return of the last episodes, its best and
worst so far, and whether it reaches the bar.  And where the size follows the error: the target, the
size and the error before the trial, growth calls until it is judged, and growth calls that the next
trial waits if this one fails."""

FIRST, PEAK = 0.3, 1.3
"""Share of the peak that the target starts from, and the peak as a multiple of the size."""
RISEN, GROWN, SETTLED = 0.3, 0.4, 0.6
"""Shares of a run by which the target is at its peak, growth ends, and the graph is settled."""
SLACK = 0.15
"""Share of the size by which growth may pass the target in a call, because pruning follows."""
PRICE, JUDGED_AFTER, LEAST_TRIAL = 0.01, 3, 6
"""Share of the error that an edge must save, growth calls after which a trial is judged, and the
fewest edges that one may add: enough for a hidden node."""
LESS = 0.1
"""Share of its edges that a graph which reaches the bar loses at a call, down to its first size."""
HURT, MENDED = 0.1, 0.8
"""Share of what returns have risen by, from the worst to the best, that pruning may cost before
edges are exchanged also after the graph is settled, and the share of a run until which they are."""
RECENT = 20
"""Episodes over which returns are averaged."""


class Goal(NamedTuple):
    """The size to aim at in one call."""

    size: int
    """Edges that the graph should have now."""
    slack: int
    """Edges by which one call may pass it, because pruning follows."""
    grows: bool
    """Whether nodes and edges may be added."""
    swaps: bool
    """Whether an edge may be added that takes the place of another one."""
    is_over: bool
    """Whether growth has ended for good."""


def start_aim(size: int | None, n_edges: int) -> Floats:
    """Return the aim of a loop that has not begun and whose length is not known."""
    aim = np.zeros(12)
    aim[START] = n_edges
    aim[PROGRESS], aim[RETURN], aim[STRAIN] = -1.0, -np.inf, np.inf
    aim[SIZE], aim[WAIT] = size or 0, JUDGED_AFTER
    aim[BEST], aim[WORST] = -np.inf, np.inf
    return aim


@kernel
def target_at(progress: float, size: int) -> float:
    """Return the edges that a graph should have at a share of a run that ends with `size`."""
    peak = PEAK * size
    if progress < RISEN:
        return peak * (FIRST + (1.0 - FIRST) * progress / RISEN)
    if progress < SETTLED:
        return peak + (size - peak) * (progress - RISEN) / (SETTLED - RISEN)
    return float(size)


@kernel
def goal_at(aim: Floats, n_edges: int, strain: float, is_growing: bool, dense_until: float) -> Goal:
    """Return the goal of a call; `strain` is the mean squared error at the outputs, or NaN.

    Up to the share `dense_until` of a run the graph may have the size that it has.
    """
    progress, size, is_met = aim[PROGRESS], int(aim[SIZE]), aim[MET] > 0.0
    is_over = progress >= GROWN
    if size == 0:
        if is_growing and not (is_over or is_met or np.isnan(strain)):
            _follow(aim, n_edges, strain)
        target = int(aim[TARGET]) if aim[TARGET] > 0.0 else n_edges
        grows = n_edges < target and not (is_over or is_met)
        return Goal(target, 0, grows, progress < SETTLED, is_over)
    if progress < 0.0:
        return Goal(size, 0, n_edges < size and not is_met, True, False)
    target, slack = int(target_at(progress, size)), max(1, int(SLACK * size))
    if progress < dense_until:
        target = max(target, n_edges)
    grows = not is_over
    if is_met and grows:  # the job is done with what there is, and perhaps with less
        fewer = max(n_edges - max(1, int(LESS * n_edges)), int(aim[START]))
        target, slack, grows = min(target, fewer), 0, False
    elif is_met:
        target, slack = min(target, n_edges), 0
    is_hurt = aim[RETURN] < aim[BEST] - HURT * (aim[BEST] - aim[WORST])
    swaps = not (grows or is_met) and (progress < SETTLED or (is_hurt and progress < MENDED))
    return Goal(target, slack, grows, swaps, is_over)


@kernel
def _follow(aim: Floats, n_edges: int, strain: float) -> None:
    """Judge the trial under way, and begin the next one when it is time."""
    aim[COUNTDOWN] -= 1.0
    if aim[COUNTDOWN] > 0.0:
        return
    is_trial = aim[TARGET] > aim[BEFORE]
    n_added = n_edges - aim[BEFORE]
    if is_trial and strain > aim[STRAIN] * (1.0 - PRICE) ** n_added:
        aim[TARGET], aim[COUNTDOWN] = aim[BEFORE], aim[WAIT]
        aim[WAIT] *= 2.0
        return
    if is_trial:
        aim[WAIT] = JUDGED_AFTER
    aim[BEFORE], aim[STRAIN], aim[COUNTDOWN] = n_edges, strain, JUDGED_AFTER
    aim[TARGET] = n_edges + max(LEAST_TRIAL, int(SLACK * n_edges))


@inlined
def note_return(aim: Floats, total: float, bar: float) -> None:
    """Note the return of an episode, and whether the mean of the last ones reaches the bar."""
    if aim[RETURN] == -np.inf:
        aim[RETURN] = total
    aim[RETURN] += (total - aim[RETURN]) / RECENT
    aim[BEST], aim[WORST] = max(aim[BEST], aim[RETURN]), min(aim[WORST], aim[RETURN])
    aim[MET] = 1.0 if aim[RETURN] >= bar else 0.0
