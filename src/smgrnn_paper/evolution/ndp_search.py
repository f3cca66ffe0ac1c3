"""NDP's search: CMA-ES over developmental programs.  Paper: Sec. IV-A4.

The strategy is that of the package `cma`: x0 uniform in [-1, 1], σ0 = 0.1, elitist.  Its authors
gave it a budget over a hundred times larger than the 2000 episodes here.

Two choices keep the search at work.  A graph too small for the task scores the nodes it lacks,
below zero; where returns are negative too, that would be the best score there is, so here such
graphs rank below all that have played.  And as every second x0 grows too small a graph, x0 is drawn
until it does not, which takes no episode.
"""

from typing import Any

import numpy as np

from smgrnn.arrays import Bools, Floats
from smgrnn.seeding import stream
from smgrnn.tasks import Task
from smgrnn_paper.evolution.ndp import Program, controller, develop, n_parameters
from smgrnn_paper.evolution.search import Candidate, Search, TooSmall

# Sizes of an embedding and of a hidden layer.
_SIZES = {"LunarLander-v3": (16, 10)}
_DEFAULT_SIZES = (5, 5)
_SIGMA = 0.1
_BELOW_ALL = 1e9  # CMA-ES looks at ranks only


class NDPSearch(Search):
    """CMA-ES over developmental programs for a task.

    Parameters
    ----------
    task, population, generations
        See `Search`.
    seed
        Seed of every random choice.

    Examples
    --------
    >>> from smgrnn.tasks import find_task
    >>> search = NDPSearch(find_task("CartPole-v1"), population=50, generations=40, seed=0)
    >>> len(search.ask())
    50
    """

    def __init__(self, task: Task, *, population: int, generations: int, seed: int) -> None:
        super().__init__(task, population, generations)
        self._sizes = _SIZES.get(task.id, _DEFAULT_SIZES)
        self.n_parameters = n_parameters(*self._sizes)
        """Numbers that make up a program."""
        rng = stream(seed, "init")
        start = rng.uniform(-1, 1, self.n_parameters)
        while isinstance(self._grow(start), TooSmall):
            start = rng.uniform(-1, 1, self.n_parameters)
        options = {
            "popsize": population,
            "CMA_elitist": True,
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": np.nan,  # nothing to seed: `randn` draws from a generator of its own
            "verbose": -9,
            "verb_log": 0,
            "signals_filename": "",  # reads nothing from the working directory
        }
        import cma  # takes a second

        self._strategy: Any = cma.CMAEvolutionStrategy(start, _SIGMA, options)
        self._vectors: list[Floats] = []

    def _draw(self) -> int:
        self._vectors = self._strategy.ask()
        return len(self._vectors)

    def _candidate(self, place: int) -> Candidate:
        return self._grow(self._vectors[place])

    def _breed(self, scores: Floats, is_small: Bools) -> None:
        costs = _BELOW_ALL * is_small - scores
        self._strategy.tell(self._vectors, costs.tolist())

    def _grow(self, vector: Floats) -> Candidate:
        """Return the candidate grown by the program that a vector encodes."""
        return controller(develop(Program.from_vector(vector, *self._sizes)), self.task)
