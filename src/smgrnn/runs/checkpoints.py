"""The checkpoints of a run: the best network of every size, and which one is selected.

Networks are offered during a run and selected by successive halving: all play the same few
episodes, the best of them more, and the best of those many.  Training is not affected, and the
held-out episodes that evaluate the winner are others.  A run selects on about half as many episodes
as it trains on, and on at most 700.
"""

from collections.abc import Callable, Iterable, Iterator
from math import ceil
from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy

N_OFFERS, EVERY, EARLY = 50, 7, 0.6
"""Maximum offers in a run, evenly spaced, the fewest episodes between two of them, and the fraction
of the run in which only every other one is made."""
FIRST_ROUND = 4
"""Episodes that each network plays when it is offered."""
ROUNDS = ((8, 15), (3, 100))
"""How many of the best play on at the end of a run, and how many more episodes."""
FULL = 1400
"""Episodes of a run that selects by so many; a shorter one selects by fewer, in proportion."""

Play = Callable[[Policy, int, int], Floats]
"""Returns a policy's returns in the selection episodes first … last - 1."""


class Checkpoint(NamedTuple):
    """A network of a run that may be selected."""

    policy: Policy
    """The network."""
    episode: int
    """Training episodes before it."""
    returns: Floats
    """Its returns in the selection episodes so far (n_played,)."""

    @property
    def graph(self) -> Graph:
        """Its graph with the weights."""
        return self.policy.graph

    @property
    def n_parameters(self) -> int:
        """Number of edges."""
        return self.graph.n_edges

    @property
    def mean(self) -> float:
        """Its mean return in these episodes; minus infinity if there are none."""
        return float(self.returns.mean()) if self.returns.size else -np.inf

    @property
    def rank(self) -> tuple[int, float, int, int]:
        """Episodes played, mean return; of equals the smaller, then the later one is better."""
        return self.returns.size, self.mean, -self.n_parameters, self.episode


Checkpoints = tuple[Checkpoint, ...]


def in_proportion(n: int, n_episodes: int) -> int:
    """Return how many episodes a run plays where a long run plays `n`, at least one.

    >>> in_proportion(100, 2000), in_proportion(100, 140), in_proportion(4, 140)
    (100, 10, 1)
    """
    return ceil(n * min(n_episodes / FULL, 1.0))


def offers(n_episodes: int) -> list[int]:
    """Return the episodes of a run after which its networks are offered.

    >>> offers(10), offers(1000)[:4], len(offers(2000))
    ([7], [40, 80, 120, 160], 35)
    """
    every = max(ceil(n_episodes / N_OFFERS), EVERY)
    late = -(-EARLY * n_episodes // 1)
    return [n for n in range(every, n_episodes + 1, every) if n >= late or n % (2 * every) == 0]


def joined(checkpoints: Checkpoints, offered: Iterable[Checkpoint]) -> Checkpoints:
    """Return the checkpoints with new ones, without those that can neither win nor be the smallest.

    The best few stay for the next round, and the best of every size unless a smaller one is as
    good.
    """
    kept, smallest = [], np.inf
    for place, checkpoint in enumerate(ranked((*checkpoints, *offered))):
        if place < ROUNDS[0][0] or checkpoint.n_parameters < smallest:
            kept.append(checkpoint)
        smallest = min(smallest, checkpoint.n_parameters)
    return tuple(kept)


def best(checkpoints: Checkpoints, most_parameters: float = np.inf) -> Checkpoint | None:
    """Return the best checkpoint with at most some parameters, if any."""
    eligible = [each for each in checkpoints if each.n_parameters <= most_parameters]
    return max(eligible, key=lambda each: each.rank, default=None)


def halved(checkpoints: Checkpoints, play: Play, n_episodes: int) -> Iterator[Checkpoints]:
    """Let the best play more episodes, fewer of them each round; yield all checkpoints after each.

    One that has played its episodes is skipped, so a selection that was stopped resumes from any
    checkpoints that it yielded.
    """
    last = in_proportion(FIRST_ROUND, n_episodes)
    for n_members, n_more in ROUNDS:
        last += in_proportion(n_more, n_episodes)
        for checkpoint in ranked(checkpoints)[:n_members]:
            if checkpoint.returns.size < last:
                more = play(checkpoint.policy, checkpoint.returns.size, last)
                played = checkpoint._replace(returns=np.append(checkpoint.returns, more))
                checkpoints = tuple(played if each is checkpoint else each for each in checkpoints)
                yield tuple(ranked(checkpoints))


def ranked(checkpoints: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return checkpoints from the best to the worst."""
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.rank, reverse=True)
