"""Queue: the runs that some experiments need, each once, the longest first."""

from collections.abc import Iterable
from typing import NamedTuple

from smgrnn.batch.experiment import AnyCondition, Experiment

EPISODE_SECONDS = {"CartPole-v1": 0.001, "Acrobot-v1": 0.0005, "xor": 0.0003}
"""Rough seconds per episode of the standard student, by compiled task."""
GYMNASIUM_SECONDS = 0.025
"""Rough seconds per episode of the standard student on any other task."""
FACTORS = {"growth-only": 10.0}
"""How many times as long an episode takes for students much slower than the standard one."""
RUN_SECONDS = 0.05
"""Rough seconds that every run takes beside its episodes, such as for evaluating the student."""


class QueuedRun(NamedTuple):
    """A run that some experiments need."""

    key: str
    condition: AnyCondition
    seed: int
    name: str
    """Its name: the first experiment and condition that need it, and the seed."""

    @property
    def seconds(self) -> float:
        """Rough seconds that it will take, before any run was measured."""
        stages, variant = self.condition.stages, self.condition.variant
        task = stages[0].partition(",")[0]
        episode = EPISODE_SECONDS.get(task, GYMNASIUM_SECONDS) * FACTORS.get(variant, 1.0)
        return len(stages) * (RUN_SECONDS + episode * self.condition.episodes)


def queue_runs(experiments: Iterable[Experiment]) -> list[QueuedRun]:
    """Return the runs of all experiments, those of equal content once, the longest first.

    Started last, a long run would keep one worker busy while all the others have nothing to do.
    """
    runs: dict[str, QueuedRun] = {}
    for experiment in experiments:
        for name, condition, seed in experiment.runs():
            key = condition.key(seed)
            called = f"{experiment.id} {name} seed {seed}"
            runs.setdefault(key, QueuedRun(key, condition, seed, called))
    return sorted(runs.values(), key=lambda run: -run.seconds)
