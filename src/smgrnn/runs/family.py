"""The family of a run: the best student that it saw for every size, and which one it hands over.

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


class Member(NamedTuple):
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


Family = tuple[Member, ...]


def offers(n_episodes: int) -> list[int]:
    """Return the episodes of a run after which its students are offered.

    >>> offers(10), offers(1000)[:4], len(offers(2000))
    ([2, 4, 6, 7, 8, 9, 10], [40, 80, 120, 160], 35)
    """
    every = -(-n_episodes // N_OFFERS)
    late = -(-EARLY * n_episodes // 1)
    return [n for n in range(every, n_episodes + 1, every) if n >= late or n % (2 * every) == 0]


def joined(family: Family, offered: Iterable[Member]) -> Family:
    """Return a family with more members, without those that can neither win nor be the smallest.

    The best few stay for the next round, and of every size the best, unless a smaller one is as
    good.
    """
    kept, smallest = [], np.inf
    for place, member in enumerate(ranked((*family, *offered))):
        if place < ROUNDS[0][0] or member.n_parameters < smallest:
            kept.append(member)
        smallest = min(smallest, member.n_parameters)
    return tuple(kept)


def best(family: Family, most_parameters: float = np.inf) -> Member | None:
    """Return the best member with at most so many parameters, or None if there is none."""
    eligible = (member for member in family if member.n_parameters <= most_parameters)
    return next(iter(ranked(eligible)), None)


def halved(family: Family, play: Play) -> Iterator[Family]:
    """Let the best members play on, ever fewer and longer; yield the family after each of them.

    A member that has played its part is not asked again, so that a choice that was stopped can go
    on from any family that it yielded, to the same end.
    """
    last = FIRST_ROUND
    for n_members, n_more in ROUNDS:
        last += n_more
        for member in ranked(family)[:n_members]:
            n_played = member.returns.size
            if n_played < last:
                more = play(member.policy, n_played, last)
                longer = member._replace(returns=np.append(member.returns, more))
                family = tuple(longer if each is member else each for each in family)
                yield tuple(ranked(family))


def ranked(members: Iterable[Member]) -> list[Member]:
    """Return members from the best to the worst."""
    return sorted(members, key=lambda member: member.rank, reverse=True)
