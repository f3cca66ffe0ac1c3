"""How well an expert teaches: the returns of MLP students that learn from it.

An expert that is good by itself can be rugged, and then no student learns it.  These students are
small and have seeds of their own.  To choose an expert by them still favours students of their
kind, so experts that are chosen so are for users who want a good controller, not for comparisons.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import RunConfig
from smgrnn.episodes.backends import find_backend
from smgrnn.experts import Expert, TeacherId
from smgrnn.runs.metrics import late_share
from smgrnn.runs.plan import plan_run
from smgrnn.runs.students import new_learner
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task

SEEDS = (1000, 1001, 1002)
EPISODES = 200
HIDDEN = 16


class Teachability(NamedTuple):
    """Late returns of MLP students of an expert, summed up."""

    mean: float
    std: float
    episodes: int
    seeds: tuple[int, ...]
    hidden: int


def teachability(expert: Expert, task: Task) -> Teachability:
    """Return mean and standard deviation of the late returns of an expert's MLP students."""
    returns = late_returns(expert, task)
    return Teachability(float(returns.mean()), float(returns.std()), EPISODES, SEEDS, HIDDEN)


def late_returns(
    expert: Expert, task: Task, episodes: int = EPISODES, seeds: Sequence[int] = SEEDS
) -> Floats:
    """Return the mean return over the final quarter of the episodes, one entry per seed."""
    budget = HIDDEN * (task.n_inputs + 1 + task.n_outputs) + task.n_outputs
    backend = find_backend(task)
    identity = TeacherId(kind="file", name="", digest=expert.digest)
    returns = []
    for seed in seeds:
        config = RunConfig.for_task(task.id, student="mlp-100", budget=budget, seed=seed)
        student = new_learner(plan_run(config, task, identity))
        starts = [episode_seed(seed, episode, "train") for episode in range(episodes)]
        progress = np.arange(len(starts)) / len(starts)
        record = backend.distil(student, expert, starts, progress)
        returns.append(record.returns[late_share(episodes)].mean())
    return np.array(returns)
