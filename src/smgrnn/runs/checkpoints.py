"""The checkpoints of a run: the best student of every size, and which one is selected.

Students are offered all along a run and chosen by successive halving, on episodes of their own: all
play the same few, the best of them go on to more, and the best of those to many.  Training does not
notice, and the held-out episodes that judge the winner are others.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.policy import Policy

N_OFFERS, EARLY = 50, 0.6
"""Most moments of a run, evenly spaced, at which its students are offered, beside its end; and the
share of a run before which only every other one is used."""
FIRST_ROUND = 4
"""Episodes that each student plays when it is offered."""
ROUNDS = ((8, 15), (3, 100))
"""How many of the best go on at the end of a run, and how many more episodes they play."""

Play = Callable[[Policy, int, int], Floats]
"""Returns a policy's returns in the episodes first … last - 1 of those that students are chosen by.
"""


class Checkpoint(NamedTuple):
    """A student of a run that can be handed over."""

    policy: Policy
    """The student."""
    episode: int
    """Training episodes that had ended when it was as it is."""
    returns: Floats
    """Its returns in the episodes that students are chosen by, as far as it got (n_played,)."""

    @property
    def n_parameters(self) -> int:
        """Number of edges."""
        return self.policy.graph.n_edges

    @property
    def mean(self) -> float:
        """Its mean return in these episodes; minus infinity if it has played none."""
        return float(self.returns.mean()) if self.returns.size else -np.inf

    @property
    def rank(self) -> tuple[int, float, int, int]:
        """How far it got, how well it did; of equals the smaller, and then the later is better."""
        return self.returns.size, self.mean, -self.n_parameters, self.episode


Checkpoints = tuple[Checkpoint, ...]


def offers(n_episodes: int) -> list[int]:
    """Return the episodes of a run after which its students are offered.

    >>> offers(10), offers(1000)[:4], len(offers(2000))
    ([2, 4, 6, 7, 8, 9, 10], [40, 80, 120, 160], 35)
    """
    every = -(-n_episodes // N_OFFERS)
    late = -(-EARLY * n_episodes // 1)
    return [n for n in range(every, n_episodes + 1, every) if n >= late or n % (2 * every) == 0]


def joined(checkpoints: Checkpoints, offered: Iterable[Checkpoint]) -> Checkpoints:
    """Return the checkpoints with new ones, without those that can neither win nor be the smallest.

    The best few stay for the next round, and of every size the best, unless a smaller one is as
    good.
    """
    kept, smallest = [], np.inf
    for place, checkpoint in enumerate(ranked((*checkpoints, *offered))):
        if place < ROUNDS[0][0] or checkpoint.n_parameters < smallest:
            kept.append(checkpoint)
        smallest = min(smallest, checkpoint.n_parameters)
    return tuple(kept)


def best(checkpoints: Checkpoints, most_parameters: float = np.inf) -> Checkpoint | None:
    """Return the best checkpoint with at most so many parameters, or None if there is none."""
    eligible = (
        checkpoint for checkpoint in checkpoints if checkpoint.n_parameters <= most_parameters
    )
    return next(iter(ranked(eligible)), None)


def halved(checkpoints: Checkpoints, play: Play) -> Iterator[Checkpoints]:
    """Let the best play more episodes, ever fewer of them; yield all checkpoints after each.

    A checkpoint that has played its episodes is skipped, so a selection that was stopped resumes
    from any checkpoints that it yielded.
    """
    last = FIRST_ROUND
    for n_members, n_more in ROUNDS:
        last += n_more
        for checkpoint in ranked(checkpoints)[:n_members]:
            n_played = checkpoint.returns.size
            if n_played < last:
                more = play(checkpoint.policy, n_played, last)
                longer = checkpoint._replace(returns=np.append(checkpoint.returns, more))
                checkpoints = tuple(longer if each is checkpoint else each for each in checkpoints)
                yield tuple(ranked(checkpoints))


def ranked(checkpoints: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return checkpoints from the best to the worst."""
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.rank, reverse=True)
