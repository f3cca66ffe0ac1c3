"""Normalisation: observations of mean 0 and deviation 1 for the student, whatever their units.

The statistics are taken once, before the first episode, and never change: what a weight means stays
the same while it is learned, and a student that is judged, loaded or exported sees what it learned
from.  They are those of a few training episodes in which the expert acts and every second action is
random, so that they cover where a student goes both early and late; of recorded examples, those of
the rows to learn from.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.experts import Teacher
from smgrnn.experts.evaluation import play_expert
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, make_env

EPISODES = 10
DISTURBANCE = 0.5


class Normalisation(NamedTuple):
    """What is taken off each value of an observation, and by what the rest is multiplied."""

    mean: Floats
    """(n_observed,)."""
    scale: Floats
    """One over the deviation (n_observed,); 1 for a value that never changed."""

    @classmethod
    def of(cls, observations: Any) -> Self:
        """Return what gives these observations (n, n_observed) mean 0 and deviation 1.

        >>> Normalisation.of([[1.0, 7.0], [3.0, 7.0]])([3.0, 8.0]).tolist()
        [1.0, 1.0]
        """
        rows = np.asarray(observations, dtype=np.float64)
        deviation = rows.std(axis=0)
        # Of a value that never changed, only the rounding of its mean could be seen.
        is_still = np.ptp(rows, axis=0) == 0
        return cls(rows.mean(axis=0), 1 / np.where(is_still, 1.0, deviation))

    def __call__(self, observations: Any) -> Any:
        """Return the observations (…, n_observed) normalised."""
        return (np.asarray(observations, dtype=np.float64) - self.mean) * self.scale


def normalisation_by(expert: Teacher, task: Task, seed: int) -> Normalisation:
    """Return the normalisation of a run in an environment."""
    env = make_env(task)
    try:
        return Normalisation.of(
            [
                observation
                for number in range(EPISODES)
                for observation, _ in play_expert(
                    expert, task, env, episode_seed(seed, number, "train"), DISTURBANCE
                )
            ]
        )
    finally:
        env.close()
