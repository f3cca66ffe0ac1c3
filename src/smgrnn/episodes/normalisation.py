"""Normalisation: observations of mean 0 and deviation 1 for the student, whatever their units.

The statistics are taken once, before the first episode, and never change: what a weight means stays
the same while it is learned, and a student that is judged, loaded or exported sees what it learned
from.  They are those of a few training episodes in which the expert acts and every second action is
random, so that they cover where a student goes both early and late; of recorded examples, those of
the rows to learn from.
"""

from smgrnn.experts import Teacher
from smgrnn.experts.evaluation import play_expert
from smgrnn.policy import Normalisation
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, closing_env, make_env

EPISODES = 10
DISTURBANCE = 0.5


def normalisation_by(expert: Teacher, task: Task, seed: int) -> Normalisation:
    """Return the normalisation of a run in an environment."""
    with closing_env(make_env(task), task.id) as env:
        return Normalisation.of(
            [
                observation
                for number in range(EPISODES)
                for observation, _ in play_expert(
                    expert, task, env, episode_seed(seed, number, "train"), DISTURBANCE
                )
            ]
        )
