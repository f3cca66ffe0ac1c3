"""Search: controllers bred by the generation.  Paper: Sec. IV-A4.

`ask` returns the candidates of a generation, and `tell` takes their scores.  It plays nothing
itself: a candidate is a policy like any other.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.errors import ConfigError, NonFiniteError, ShapeError, TaskError
from smgrnn.policy import Policy
from smgrnn.tasks import Task


class TooSmall(NamedTuple):
    """A candidate with fewer nodes than the task has inputs and outputs; it cannot play."""

    score: float
    """Score that `tell` gets for it."""


Candidate = Policy | TooSmall


class Player(NamedTuple):
    """A controller that has played its episode."""

    policy: Policy
    episode_return: float
    """The return of the one episode it was judged by."""
    generation: int
    """Generation in which it played that episode, from 1."""


class Search(ABC):
    """Breeds controllers for a task; returns are maximised.

    Parameters
    ----------
    task
        A task with discrete actions.
    population
        Candidates in a generation.
    generations
        Generations in all; nothing is bred after the last.

    Examples
    --------
    >>> def play_all(search, play):
    ...     for _ in range(search.generations):
    ...         found = search.ask()
    ...         search.tell([c.score if isinstance(c, TooSmall) else play(c) for c in found])
    """

    def __init__(self, task: Task, population: int, generations: int) -> None:
        if not task.is_discrete:
            raise TaskError(
                f"Evolution is for tasks with discrete actions; those of {task.id!r} are not."
            )
        self.task = task
        self.population = population
        self.generations = generations
        self.generation = 0
        """Generations scored so far."""
        self.best: Player | None = None
        """The best of the last generation scored; None if all were too small to play."""
        self.champion: Player | None = None
        """The best of all generations so far, the later of equals."""
        self._asked: list[Candidate] = []

    def ask(self) -> list[Candidate]:
        """Return the candidates of this generation, the same until `tell`."""
        if self.generation == self.generations:
            raise ConfigError(f"The search is over after its {self.generations} generations.")
        if not self._asked:
            self._asked = self._draw()
        return self._asked

    def tell(self, returns: Sequence[float] | Floats) -> None:
        """Take the returns of this generation's candidates, in order, and breed the next."""
        candidates, scores = self.ask(), np.asarray(returns, dtype=np.float64)
        if scores.shape != (len(candidates),):
            raise ShapeError(
                f"Expected {len(candidates)} returns, one per candidate. "
                f"Got shape {scores.shape} instead."
            )
        if not np.isfinite(scores).all():
            raise NonFiniteError(f"A return of generation {self.generation + 1} is not finite.")
        self.generation += 1
        players = [
            Player(candidate, score, self.generation)
            for candidate, score in zip(candidates, scores.tolist(), strict=True)
            if isinstance(candidate, Policy)
        ]
        # The later of equals has been selected for longer; in a generation survivors stand first.
        self.best = max(players, key=_by_return, default=None)
        rivals = [player for player in (self.best, self.champion) if player is not None]
        self.champion = max(rivals, key=_by_return, default=None)
        if self.generation < self.generations:
            is_small = [not isinstance(candidate, Policy) for candidate in candidates]
            self._breed(scores, np.array(is_small))
        self._asked = []

    @abstractmethod
    def _draw(self) -> list[Candidate]:
        """Return the candidates of this generation."""

    @abstractmethod
    def _breed(self, scores: Floats, is_small: Bools) -> None:
        """Breed the next generation from the scores of this one, and which could not play."""


def _by_return(player: Player) -> float:
    return player.episode_return
