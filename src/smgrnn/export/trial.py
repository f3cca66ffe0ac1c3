"""Trials: a policy plays its task, to record what it sees, or beside another that it replaces."""

from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.episodes.backends import Backend, find_backend
from smgrnn.errors import ConfigError, ShapeError
from smgrnn.policy import BARE, Policy
from smgrnn.seeding import episode_seeds
from smgrnn.tasks import Task, TaskSource, find_again

RECORDED_EPISODES, MOST_RECORDED = 10, 5000
"""Episodes that are recorded, and the most steps of them."""
CLOSE = 0.01
"""Continuous actions agree if they differ by at most this fraction of the range."""


class Recorded(NamedTuple):
    """What a policy saw."""

    observations: Floats
    """(n, n_observed)."""
    starts: Any
    """Whether an episode starts (n,)."""


class Trial(NamedTuple):
    """How a policy does beside the one that it replaces."""

    returns: Floats
    """Of the policy, by held-out episode."""
    agreement: float
    """Fraction of its steps on which both act alike."""


class _Watched(Policy):
    """A policy whose steps are noted, and compared with another's."""

    def __init__(self, policy: Policy, other: Policy) -> None:
        self.__dict__.update(policy.__dict__)
        self._policy, self._other = policy, other
        self._is_start = True
        self.seen: list[Any] = []
        self.starts: list[bool] = []
        self.n_alike = 0

    def reset(self) -> None:
        self._policy.reset()
        self._other.reset()
        self._is_start = True

    def answer(self, observation: Any) -> Any:
        given, rows = self._policy.answer(observation), np.atleast_2d(observation)
        wanted = given if self._other is self._policy else self._other.answer(observation)
        difference = np.abs(np.asarray(given) - wanted).reshape(len(rows), -1).max(axis=1)
        self.n_alike += int((difference <= (0 if self.task.is_discrete else 2 * CLOSE)).sum())
        self.seen += list(rows)
        self.starts += [True] * len(rows) if np.ndim(observation) == 2 else [self._is_start]
        self._is_start = False
        return given


def find_place(policy: Policy, task: TaskSource | Task | None = None, seed: int = 0) -> Backend:
    """Return where a policy can play; `task` is its task if that is the user's own code."""
    if policy.task.id == BARE:
        raise ConfigError(
            "A bare network has no task to play. Pass observations that it will see as recording."
        )
    return find_backend(find_again(policy.task, task), seed, in_python=True)


def record(policy: Policy, place: Backend, seed: int = 0) -> Recorded:
    """Return what a policy sees in episodes that neither trained nor judge it."""
    watched = _Watched(policy, policy)
    place.compare(watched, episode_seeds(seed, 0, RECORDED_EPISODES, "choosing"))
    return Recorded(np.array(watched.seen[:MOST_RECORDED]), watched.starts[:MOST_RECORDED])


def try_beside(policy: Policy, other: Policy, place: Backend, n: int, seed: int = 0) -> Trial:
    """Return how a policy does on held-out episodes, and how often another would act alike."""
    watched = _Watched(policy, other)
    returns = place.play(watched, episode_seeds(seed, 0, n, "held_out")).returns
    return Trial(returns, watched.n_alike / len(watched.seen))


def recorded_steps(policy: Policy, recording: Any, task: TaskSource | Task | None) -> Recorded:
    """Return a recording of the user's, or what a policy sees in its task."""
    if recording is None:
        return record(policy, find_place(policy, task))
    rows = np.asarray(recording, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != policy.task.n_inputs or not len(rows):
        raise ShapeError(
            f"Expected a recording of rows of {policy.task.n_inputs} numbers. Got shape "
            f"{rows.shape} instead."
        )
    return Recorded(rows, np.arange(len(rows)) == 0)
