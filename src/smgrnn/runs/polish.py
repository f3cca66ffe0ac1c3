"""Polish: search the weights of the selected network for a higher return.

Separable CMA-ES (Ros and Hansen, 2008).  The unit of a weight is the root mean square of its
target's sum over that of its source's state, so steps of one length change all sums by the same
fraction.  All candidates of a generation play the same new episodes.  The mean of the search is
offered every few generations.  The best of these means and of the network before the search is
selected on further episodes, which are neither those of the search nor the held-out ones.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.config import Objective
from smgrnn.episodes.backends import Backend, GymnasiumBackend
from smgrnn.machine import usable_cores
from smgrnn.policy import Policy
from smgrnn.seeding import Purpose, episode_seeds, stream
from smgrnn.tasks import Task
from smgrnn.workers import LocalProcesses

FIRST_STEP = 0.1
"""First standard deviation of the search, as a fraction of the sums."""
EPISODES, OFFER_EVERY = 10, 10
"""Episodes of a generation, and generations between two offers."""
FIRST_ROUND, N_FINALISTS, SECOND_ROUND = 20, 3, 80
"""Episodes in which all offered networks are compared, how many of the best play on beside the one
before the search, and in how many more episodes."""
FIRST_EPISODE = 1_000_000
"""Number of the first episode, for the search and for selection: earlier ones trained and selected
the network."""
TAIL = 0.1
"""Fraction of the episodes that are the worst ones."""
FAINTEST = 1e-3
"""Least root mean square of a state or a sum: of one that is zero, no unit would follow."""

Play = Callable[[Floats, list[int]], Floats]
"""Returns the returns (n, n_episodes) of networks with these weights (n, n_edges)."""


class Polish(NamedTuple):
    """The state of a search, and the networks that it offers."""

    weight: Floats
    """Weights of the network that is selected; those before the search until then (n_edges,)."""
    scale: Floats
    """Unit of each weight (n_edges,)."""
    generation: int
    """Generations that have played."""
    step: float
    """Standard deviation of the search, in these units."""
    mean: Floats
    """Mean of the search, less the weights before it, in these units (n_edges,)."""
    variance: Floats
    """Variance of each coordinate, relative to that of the search (n_edges,)."""
    step_path: Floats
    variance_path: Floats
    """The evolution paths (n_edges,)."""
    offered: Floats
    """Weights that may be selected, those before the search first (n_offered, n_edges)."""
    compared: Floats
    """Returns of all offered networks in the first round of selection (n_offered, n)."""
    judged: Floats
    """Returns of the finalists in the second round (n_finalists, n)."""
    before: Floats
    """Held-out returns of the network before the search; empty before the end."""

    @classmethod
    def start(cls, policy: Policy, backend: GymnasiumBackend, seed: int) -> Self:
        """Return a search that has not begun; a few episodes of the network measure the units."""
        watched = _Watched(
            policy.graph, policy.config, policy.task, normalisation=policy.normalisation
        )
        backend.play(watched, _seeds(seed, "train", 0, EPISODES))
        means = watched.squares / watched.n_seen
        states, sums = (np.maximum(np.sqrt(each), FAINTEST) for each in means)
        weight, zeros = policy.graph.weight, np.zeros(policy.graph.n_edges)
        paths, none = (zeros, zeros + 1.0, zeros, zeros), np.zeros((0, 0))
        scale = sums[policy.graph.target] / states[policy.graph.source]
        return cls(weight, scale, 0, FIRST_STEP, *paths, weight[None], none, none, np.zeros(0))

    @property
    def population(self) -> int:
        """Candidates of a generation."""
        return 4 + int(3.0 * np.log(self.weight.size))

    @property
    def n_searched(self) -> int:
        """Episodes of the search so far, with those that measured the units."""
        return EPISODES * (1 + self.generation * self.population)

    @property
    def n_choosing(self) -> int:
        """Episodes of the selection so far."""
        return self.compared.size + self.judged.size

    @property
    def is_valid(self) -> bool:
        """Whether the arrays fit together."""
        n, columns = self.weight.size, (self.scale, self.mean, self.variance, self.step_path)
        are_like = all(each.shape == (n,) for each in (*columns, self.variance_path))
        return are_like and self.offered.shape == (max(len(self.offered), 1), n)

    def n_generations(self, n_episodes: int) -> int:
        """Return the generations of a search of so many episodes, at least one."""
        return max(n_episodes // (EPISODES * self.population), 1)

    def has_searched(self, n_episodes: int) -> bool:
        """Return whether only the selection is left of a search of so many episodes."""
        return self.generation >= self.n_generations(n_episodes)

    def reopened(self) -> Self:
        """Return the search as it was before the selection, to continue it."""
        offered, none = self.offered[: 1 + self.generation // OFFER_EVERY], np.zeros((0, 0))
        found = self._replace(weight=offered[0], offered=offered, before=np.zeros(0))
        return found._replace(compared=none, judged=none)

    def advanced(
        self, play: Play, seed: int, n_episodes: int, key: Callable[[Floats], Ints]
    ) -> Self | None:
        """Return the search after its next generation or round of selection; None at its end.

        `key` gives the order of networks by their returns, the best first.
        """
        if not self.has_searched(n_episodes):
            return self._searched(play, seed, key)
        offered = self.offered
        if not self.compared.size:
            if self.generation % OFFER_EVERY:
                offered = np.vstack([offered, self._weights(self.mean)])
            returns = play(offered, _seeds(seed, "choosing", 0, FIRST_ROUND))
            return self._replace(offered=offered, compared=returns)
        if self.judged.size:
            return None
        finalists = np.unique([0, *key(self.compared)[:N_FINALISTS]])
        seeds = _seeds(seed, "choosing", FIRST_ROUND, FIRST_ROUND + SECOND_ROUND)
        judged = play(offered[finalists], seeds)
        best = key(np.hstack([self.compared[finalists], judged]))[0]
        return self._replace(judged=judged, weight=offered[finalists[best]])

    def _weights(self, place: Floats) -> Floats:
        """Return the weights at a place of the search, or at several (…, n_edges)."""
        weights: Floats = self.offered[0] + self.scale * place
        return weights

    def _searched(self, play: Play, seed: int, key: Callable[[Floats], Ints]) -> Self:
        """Return the search after one generation, with the usual settings of its size."""
        n, population, generation = self.mean.size, self.population, self.generation + 1
        shares = np.log((population + 1) / 2) - np.log(np.arange(1, population // 2 + 1))
        shares /= shares.sum()
        mass = 1.0 / np.square(shares).sum()
        step_rate = (mass + 2.0) / (n + mass + 5.0)
        damping = 1.0 + 2.0 * max(0.0, np.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + step_rate
        path_rate = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
        one_rate = 2.0 / ((n + 1.3) ** 2 + mass) * (n + 2.0) / 3.0
        most_rate = 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass) * (n + 2.0) / 3.0
        most_rate = min(1.0 - one_rate, most_rate)
        usual = np.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))  # of a normal's length

        drawn = stream(seed, "polish", self.generation).standard_normal((population, n))
        steps = np.sqrt(self.variance) * drawn
        first = EPISODES * generation
        seeds = _seeds(seed, "train", first, first + EPISODES)
        returns = play(self._weights(self.mean + self.step * steps), seeds)
        best = key(returns)[: shares.size]
        move = shares @ steps[best]
        step_path = (1.0 - step_rate) * self.step_path
        step_path += np.sqrt(step_rate * (2.0 - step_rate) * mass) * (shares @ drawn[best])
        length = np.sqrt(np.square(step_path).sum())
        is_short = length / np.sqrt(1.0 - (1.0 - step_rate) ** (2 * generation)) < usual * (
            1.4 + 2.0 / (n + 1.0)
        )
        variance_path = (1.0 - path_rate) * self.variance_path
        variance_path += is_short * np.sqrt(path_rate * (2.0 - path_rate) * mass) * move
        lost = (1.0 - is_short) * path_rate * (2.0 - path_rate)
        variance = (1.0 - one_rate - most_rate + one_rate * lost) * self.variance
        variance += one_rate * variance_path**2 + most_rate * (shares @ steps[best] ** 2)
        found = self._replace(
            generation=generation,
            mean=self.mean + self.step * move,
            step=self.step * float(np.exp(min(1.0, step_rate / damping * (length / usual - 1.0)))),
            variance=variance,
            step_path=step_path,
            variance_path=variance_path,
        )
        if generation % OFFER_EVERY == 0:
            found = found._replace(offered=np.vstack([self.offered, found._weights(found.mean)]))
        return found


def ranking(objective: Objective, threshold: float | None) -> Callable[[Floats], Ints]:
    """Return a function that orders networks by their returns (n, n_episodes), the best first.

    >>> returns = np.array([[5.0, 5.0], [9.0, 2.0], [4.0, 4.0]])
    >>> [ranking(each, 4.0)(returns).tolist() for each in ("mean", "worst", "share-above")]
    [[1, 0, 2], [0, 2, 1], [0, 2, 1]]
    """

    def order(returns: Floats) -> Ints:
        means = returns.mean(axis=1)
        if objective == "mean":
            found = means
        elif objective == "worst":
            n_worst = max(int(TAIL * returns.shape[1]), 1)
            found = np.sort(returns, axis=1)[:, :n_worst].mean(axis=1)
        else:
            assert threshold is not None
            found = (returns >= threshold).mean(axis=1)
        return np.lexsort((-means, -found))  # stable: of equals, the first

    return order


def _seeds(seed: int, purpose: Purpose, first: int, last: int) -> list[int]:
    return episode_seeds(seed, FIRST_EPISODE + first, FIRST_EPISODE + last, purpose)


class _Watched(Policy):
    """A policy that adds up the squares of its states, and of the sums that they are made of."""

    def answer(self, observation: Any) -> Any:
        """Answer, and add up."""
        found, graph = super().answer(observation), self.graph
        if not hasattr(self, "squares"):
            self.squares, self.n_seen = np.zeros((2, graph.n_nodes)), 0
        states = self.player.states
        sums = np.bincount(graph.target, graph.weight * states[graph.source], graph.n_nodes)
        self.squares += np.square([states, sums])
        self.n_seen += 1
        return found


@contextmanager
def playing(policy: Policy, task: Task, backend: Backend) -> Iterator[Play]:
    """Yield a function that plays episodes with other weights of a network.

    Environments in Python are played in one process per core, if loky is installed.
    """

    def here(weights: Floats, seeds: list[int]) -> Floats:
        return np.array(
            [backend.play(policy.with_weights(each), seeds).returns for each in weights]
        )

    is_driver = multiprocessing.current_process().name == "MainProcess"
    n_workers = usable_cores() if find_spec("loky") is not None and is_driver else 1
    if n_workers == 1 or not isinstance(backend, GymnasiumBackend):
        yield here
        return
    import cloudpickle

    try:
        content = cloudpickle.dumps((policy, task))
    except Exception:  # an environment that no other process can have
        yield here
        return
    with LocalProcesses(n_workers) as pool:

        def there(weights: Floats, seeds: list[int]) -> Floats:
            futures = [pool.submit(_play, content, each, seeds) for each in weights]
            try:
                return np.array([each.result() for each in futures])
            except BrokenExecutor:  # a process died, such as for lack of memory
                return here(weights, seeds)

        yield there


def _play(content: bytes, weight: Floats, seeds: list[int]) -> Floats:
    """Play in a worker, which keeps the environment."""
    policy, backend = _opened(content)
    return backend.play(policy.with_weights(weight), seeds).returns


@lru_cache(1)
def _opened(content: bytes) -> tuple[Policy, GymnasiumBackend]:
    import cloudpickle

    policy, task = cloudpickle.loads(content)
    return policy, GymnasiumBackend(task)
