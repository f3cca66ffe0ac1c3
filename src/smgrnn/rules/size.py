"""Size: how many edges the graph should have, now and in the end.

In a run of known length the target rises to 1.3 times the size in the first 30 % of the run, falls
to it until 60 %, and stays.  Nothing grows after 40 %, and no edge is exchanged after 60 %.  These
are fractions of the updates expected in the run.

Without a size, the target follows the error at the outputs.  Growth by 15 % is a trial: after a few
calls either the error has fallen by 1 % for each new edge, and the next trial starts from there, or
the graph is pruned back and the next waits twice as long.  No trial starts once the error is below
1 % of what it was at the first call.
"""

from dataclasses import astuple, dataclass, fields
from math import inf, isnan
from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.errors import ShapeError

FIRST, PEAK = 0.3, 1.3  # where the target starts, in peaks, and the peak, in sizes
RISEN, GROWN, SETTLED = 0.3, 0.4, 0.6
"""Fractions of a run by which the target is at its peak, growth ends, and the graph is settled."""
SLACK = 0.15  # fraction of the size by which a call may pass the target, because pruning follows
PRICE, JUDGED_AFTER, LEAST_TRIAL = 0.01, 3, 6
"""Fraction of the error that an edge must save, growth calls after which a trial is judged, and the
fewest edges that one may add: enough for a hidden node."""
SOLVED = 0.01  # fraction of the first error below which no trial starts
LESS = 0.1  # fraction of its edges that a graph which reaches the target return loses at a call
HURT, MENDED = 0.1, 0.8
"""Fraction of the rise in return, from worst to best, that pruning may cost before a settled graph
exchanges edges again, and the fraction of a run until which it does."""
RECENT = 20  # episodes over which returns and lengths are averaged
N_CALLS, FEWEST, MOST, USUAL = 100, 500, 2500, 1000
"""Calls in a run; the fewest, the most and the usual updates between two of them."""


class Goal(NamedTuple):
    """The size to aim at in one call."""

    size: int  #: Edges that the graph should have now.
    slack: int  #: Edges by which one call may pass it, because pruning follows.
    grows: bool  #: Whether nodes and edges may be added.
    swaps: bool  #: Whether an edge may be added that takes the place of another one.
    is_over: bool  #: Whether growth has ended for good.


@dataclass
class Aim:
    """How far a run is, how well it goes, and the size that this asks for."""

    size: int = 0  # edges asked for; 0 if the size follows the error
    start: int = 0  # edges at the start
    progress: float = -1.0  # fraction of the run completed; -1 if its length is not known
    mean_return: float = -inf  # mean return of the last episodes
    best: float = -inf  # its best value so far
    worst: float = inf  # its worst value so far
    is_met: bool = False  # whether it reaches the target return
    target: float = 0.0  # edges to grow to, where the size follows the error
    before: float = 0.0  # edges before the trial
    strain: float = inf  # error before the trial
    countdown: float = 0.0  # growth calls until the trial is judged
    wait: float = JUDGED_AFTER  # growth calls that the next trial waits if this one fails
    first: float = inf  # error at the first call
    n_episodes: float = 0.0  # episodes so far
    n_updates: float = 0.0  # updates in them
    length: float = 0.0  # mean updates of the last episodes

    def to_array(self) -> Floats:
        """Return the values in the order of the fields."""
        return np.array(astuple(self), dtype=np.float64)

    @classmethod
    def from_array(cls, values: Floats) -> Self:
        """Rebuild an aim from `to_array`; refuse other values than it gives."""
        is_whole = values.shape == (len(fields(cls)),) and values.dtype == np.float64
        if not (is_whole and np.isfinite(values[:3]).all()) or np.isnan(values).any():
            raise ShapeError("The saved size and progress are not those of a run.")
        size, start, *others = values.tolist()
        made = cls(int(size), int(start), *others)
        made.is_met = bool(made.is_met)
        return made

    def note_return(self, total: float, target: float, n_updates: int = 0) -> None:
        """Note the return of an episode, and its length from the number of all updates so far."""
        length = n_updates - self.n_updates
        self.length += (length - self.length) / min(self.n_episodes + 1.0, RECENT)
        self.n_episodes, self.n_updates = self.n_episodes + 1.0, float(n_updates)
        if self.mean_return == -inf:
            self.mean_return = total
        self.mean_return += (total - self.mean_return) / RECENT
        self.best, self.worst = max(self.best, self.mean_return), min(self.worst, self.mean_return)
        self.is_met = self.mean_return >= target

    def in_updates(self, fraction: float) -> float:
        """Return the fraction of a run's updates done, if episodes stay as long as recent ones."""
        if self.n_updates == 0.0:
            return fraction
        longer = self.length * self.n_episodes / self.n_updates
        return fraction / (fraction + (1.0 - fraction) * longer)

    def interval(self, n_updates: int) -> float:
        """Return the updates between two calls: a hundredth of those expected in the run."""
        if self.progress < 0.0:
            return USUAL
        expected = n_updates / max(self.progress, 1e-9)
        return min(max(expected / N_CALLS, FEWEST), MOST)

    def goal(self, n_edges: int, strain: float, *, is_growing: bool, dense_until: float) -> Goal:
        """Return the goal of a call; `strain` is the mean squared error at the outputs, or NaN.

        Up to the fraction `dense_until` of a run the graph may keep its present size.
        """
        progress, size, is_met = self.progress, self.size, self.is_met
        is_over = progress >= GROWN
        if size == 0:
            if is_growing and not (is_over or is_met or isnan(strain)):
                self._follow(n_edges, strain)
            target = int(self.target) if self.target > 0.0 else n_edges
            grows = n_edges < target and not (is_over or is_met)
            return Goal(target, 0, grows, progress < SETTLED, is_over)
        if progress < 0.0:
            return Goal(size, 0, n_edges < size and not is_met, True, False)
        target, slack = int(target_at(progress, size)), max(1, int(SLACK * size))
        if progress < dense_until:
            target = max(target, n_edges)
        grows = not is_over
        if is_met and grows:  # the job is done with these edges, and perhaps with fewer
            fewer = max(n_edges - max(1, int(LESS * n_edges)), self.start)
            target, slack, grows = min(target, fewer), 0, False
        elif is_met:
            target, slack = min(target, n_edges), 0
        is_hurt = self.mean_return < self.best - HURT * (self.best - self.worst)
        swaps = not (grows or is_met) and (progress < SETTLED or (is_hurt and progress < MENDED))
        return Goal(target, slack, grows, swaps, is_over)

    def _follow(self, n_edges: int, strain: float) -> None:
        """Judge the trial under way, and begin the next one when it is time."""
        if self.first == inf:
            self.first = strain
        self.countdown -= 1.0
        if self.countdown > 0.0:
            return
        is_trial = self.target > self.before
        n_added = n_edges - self.before
        if is_trial and strain > self.strain * (1.0 - PRICE) ** n_added:
            self.target, self.countdown = self.before, self.wait
            self.wait *= 2.0
            return
        if is_trial:
            self.wait = JUDGED_AFTER
        self.before, self.strain, self.countdown = n_edges, strain, JUDGED_AFTER
        is_solved = strain < SOLVED * self.first
        self.target = n_edges + (0 if is_solved else max(LEAST_TRIAL, int(SLACK * n_edges)))


def target_at(progress: float, size: int) -> float:
    """Return the edges that a graph should have at a fraction of a run that ends with `size`."""
    peak = PEAK * size
    if progress < RISEN:
        return peak * (FIRST + (1.0 - FIRST) * progress / RISEN)
    if progress < SETTLED:
        return peak + (size - peak) * (progress - RISEN) / (SETTLED - RISEN)
    return float(size)
