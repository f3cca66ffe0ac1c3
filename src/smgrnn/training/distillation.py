"""Distillation: a growing student learns from a frozen expert while it acts.  Paper: Sec. III-E."""

from functools import cached_property

from smgrnn.config import RunConfig
from smgrnn.experts import Expert, check_expert, load_expert
from smgrnn.graph.state import Floats
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task
from smgrnn.training.backends import find_backend
from smgrnn.training.record import Episodes
from smgrnn.training.students import new_learner


class Distillation:
    """A run in progress: the task, the expert, the student and where episodes happen."""

    def __init__(self, task: Task, config: RunConfig) -> None:
        self.task = task
        self.config = config
        self.learner = new_learner(config, task)
        self.backend = find_backend(task, config.env_backend)

    @cached_property
    def expert(self) -> Expert | None:
        """The teacher, which only training needs; examples teach themselves."""
        if self.task.is_supervised:
            return None
        expert = load_expert(self.config.expert or self.task.id)
        check_expert(expert, self.task)
        return expert

    def train(self, first: int, last: int) -> Episodes:
        """Train on the episodes first … last - 1 and return their record."""
        seeds = [episode_seed(self.config.seed, number, "train") for number in range(first, last)]
        return self.backend.distil(self.learner, self.expert, seeds)

    def score(self, first: int, last: int) -> Floats:
        """Return the returns of the student as it is on held-out episodes first … last - 1."""
        seeds = held_out_seeds(self.config.seed, first, last)
        return self.backend.play(self.learner, seeds).returns


def held_out_seeds(seed: int, first: int, last: int) -> list[int]:
    """Return the reset seeds of the held-out episodes first … last - 1."""
    return [episode_seed(seed, number, "held_out") for number in range(first, last)]
