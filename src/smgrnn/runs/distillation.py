"""Distillation: a growing student learns from a frozen expert while it acts.  Paper: Sec. III-E."""

from functools import cached_property

from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import Teacher, find_expert, is_function_name
from smgrnn.arrays import Floats
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task
from smgrnn.episodes.backends import Backend, GymnasiumBackend, find_backend
from smgrnn.episodes.examples import Examples, ExamplesBackend, find_examples
from smgrnn.episodes.normalisation import Normalisation, normalisation_by
from smgrnn.episodes.table import Episodes
from smgrnn.runs.students import new_learner

N_CHECKED = 10  # held-out episodes that score a checkpoint
FIRST_CHECKED = 1_000_000  # numbered apart from those of the final evaluation


class Distillation:
    """A run in progress: the task, the expert, the student and where episodes happen.

    Parameters
    ----------
    task
        What to do.
    config
        Settings of the run.
    expert
        A teacher instead of the one that the settings name.
    normalisation
        Statistics to go on with instead of taking new ones.
    """

    def __init__(
        self,
        task: Task,
        config: RunConfig,
        expert: Teacher | None = None,
        normalisation: Normalisation | None = None,
    ) -> None:
        if task.recording is not None and config.carry_state:
            raise ConfigError("Recorded examples come in no order; set carry_state to False.")
        self.task = task
        self.config = config
        self.learner = new_learner(config, task)
        self._expert, self._normalisation = expert, normalisation

    @cached_property
    def expert(self) -> Teacher | None:
        """The teacher, which only training needs; examples teach themselves."""
        if self.task.is_supervised and self.config.expert is None:
            return None
        if self._expert is not None and not self.task.is_supervised:
            return self._expert
        return find_expert(self.config.expert, self.task)

    @cached_property
    def examples(self) -> Examples | None:
        """What to learn from where there is no environment."""
        return find_examples(self.task, self.config.seed) if self.task.is_supervised else None

    @property
    def digest(self) -> str:
        """Digest of the teacher or of the examples; a run never goes on with others."""
        if self.expert is not None:
            return self.expert.digest
        return "" if self.examples is None else self.examples.digest

    @cached_property
    def normalisation(self) -> Normalisation | None:
        """What the student's observations are normalised by."""
        if not self.config.normalise or self._normalisation is not None:
            return self._normalisation
        if self.examples is not None:
            return Normalisation.of(self.examples.train.observations)
        assert self.expert is not None
        return normalisation_by(self.expert, self.task, self.config.seed)

    @cached_property
    def backend(self) -> Backend:
        """Where episodes happen: in compiled code if they can and nothing else was asked for."""
        if self.examples is not None:
            return ExamplesBackend(self.task, self.examples, self.normalisation)
        is_function = self._expert is not None or is_function_name(self.config.expert or "")
        is_python = is_function or self.config.normalise
        if self.config.env_backend == "compiled" and not is_python:
            return find_backend(self.task)
        return GymnasiumBackend(self.task, normalisation=self.normalisation)

    def train(self, first: int, last: int) -> Episodes:
        """Train on the episodes first … last - 1 and return their record."""
        seeds = [episode_seed(self.config.seed, number, "train") for number in range(first, last)]
        return self.backend.distil(self.learner, self.expert, seeds)

    def score(self, first: int, last: int) -> Floats:
        """Return the returns of the student as it is on held-out episodes first … last - 1."""
        seeds = held_out_seeds(self.config.seed, first, last)
        return self.backend.play(self.learner, seeds).returns

    def check(self) -> float:
        """Return the score of the student as it is, to compare it with other checkpoints."""
        seeds = held_out_seeds(self.config.seed, FIRST_CHECKED, FIRST_CHECKED + N_CHECKED)
        return float(self.backend.check(self.learner, seeds).returns.mean())


def held_out_seeds(seed: int, first: int, last: int) -> list[int]:
    """Return the reset seeds of the held-out episodes first … last - 1."""
    return [episode_seed(seed, number, "held_out") for number in range(first, last)]
