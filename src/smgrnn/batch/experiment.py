"""Experiment: a question as data, the conditions that answer it, and the runs that they need."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from smgrnn.batch.condition import THEN
from smgrnn.errors import ConfigError
from smgrnn.machine import check_memory
from smgrnn.runs.plan import AnyPlan
from smgrnn.runs.record import Record

Value = TypeVar("Value", covariant=True)

EPISODE_SECONDS = {"CartPole-v1": 0.001, "Acrobot-v1": 0.0005, "xor": 0.0003}
"""Rough seconds per episode by compiled task; any other task takes GYMNASIUM_SECONDS."""
GYMNASIUM_SECONDS = 0.025
SLOW_VARIANT, SLOW_FACTOR = "growth-only", 10.0
"""A student whose episodes take many times as long as those of the standard one."""
RUN_SECONDS = 0.05
"""Rough seconds that every run takes beside its episodes, such as for evaluating the student."""


class AnyCondition(Protocol):
    """One way to run a task: a distillation, or a search of another package."""

    @property
    def task(self) -> str:
        """The task's id."""

    @property
    def settings(self) -> Any:
        """The settings of its runs; the seed in them is 0."""

    @property
    def teachers(self) -> tuple[str, ...]:
        """Experts that the seeds take in turn."""

    @property
    def variant(self) -> str:
        """The student that is trained, or the method that finds one."""

    @property
    def episodes(self) -> int:
        """Episodes of a run."""

    def with_episodes(self, n: int) -> Self:
        """Return the condition with runs of `n` episodes."""

    def expert(self, seed: int) -> str | None:
        """Return the expert of a run."""

    def plan(self, seed: int) -> AnyPlan:
        """Return the plan of a run."""

    def key(self, seed: int) -> str:
        """Return the digest of all that a run depends on."""

    def train(self, plan: Any) -> Record:
        """Run a plan of this condition and return its record."""


class LazyMapping(Mapping[str, Value]):
    """A mapping that a function makes when its content is first asked for.

    >>> dict(LazyMapping(lambda: {"a": 1}))
    {'a': 1}
    """

    def __init__(self, make: Callable[[], Mapping[str, Value]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, Value]:
        return self._make()

    def __getitem__(self, name: str) -> Value:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A question, the runs that answer it, and the tables and figures that show the answer."""

    id: str
    """Its name, ending in -vN; N is raised when what it runs changes."""
    question: str
    """The question in one sentence."""
    artefacts: tuple[str, ...]
    """Tables and figures that it fills, by their numbers in the paper or, if ours, by name."""
    conditions: Mapping[str, AnyCondition]
    """The conditions by name; the same condition may have several."""
    seeds: tuple[int, ...]
    """Seeds of each condition, as many as the paper has: tables and figures are over them."""
    more: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Further seeds by the name of the condition; all of its seeds together decide claims."""

    def all_seeds(self, name: str) -> tuple[int, ...]:
        """Return the seeds of a condition: those of every condition, and its further ones."""
        return (*self.seeds, *self.more.get(name, ()))

    def runs(self) -> Iterator[tuple[str, AnyCondition, int]]:
        """Go through all runs: the name of a condition, the condition, a seed."""
        if unknown := self.more.keys() - self.conditions.keys():
            raise ConfigError(f"{self.id} has more seeds for {min(unknown)!r}, but no condition.")
        for name, condition in self.conditions.items():
            for seed in self.all_seeds(name):
                yield name, condition, seed

    def scaled(self, *, seeds: int | None = None, episodes: int | None = None) -> Self:
        """Return the experiment with another number of seeds or episodes; None leaves them.

        A number of seeds is that of each condition: there are no further ones.
        """
        if seeds is not None and seeds < 1:
            raise ConfigError(f"The number of seeds must be at least 1. Got {seeds} instead.")
        n_runs = len(self.conditions) * (len(self.seeds) if seeds is None else seeds)
        check_memory(1e4 * n_runs, f"A list of {n_runs} runs")
        conditions = self.conditions
        if episodes is not None:
            conditions = {name: c.with_episodes(episodes) for name, c in conditions.items()}
        if seeds is None:
            return replace(self, conditions=conditions)
        return replace(self, conditions=conditions, seeds=tuple(range(seeds)), more={})


class QueuedRun(NamedTuple):
    """A run that some experiments need."""

    key: str
    condition: AnyCondition
    seed: int
    name: str
    """Its name: the first experiment and condition that need it, and the seed."""

    @property
    def seconds(self) -> float:
        """Rough seconds that it will take."""
        stages = self.condition.task.split(THEN)
        episode = EPISODE_SECONDS.get(stages[0].partition(",")[0], GYMNASIUM_SECONDS)
        if self.condition.variant == SLOW_VARIANT:
            episode *= SLOW_FACTOR
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
