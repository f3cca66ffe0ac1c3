"""Experiments as data: a question, the conditions that answer it, and the runs that they need."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import find_teacher
from smgrnn.machine import check_memory
from smgrnn.runs.plan import AnyPlan, Plan, plan_run
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.sequences import Sequence, plan_sequence
from smgrnn.tasks import find_task
from smgrnn.validation import Count, checked

Value = TypeVar("Value", covariant=True)

THEN = " > "  # stands between the tasks of a sequence
SLOW_TASK, SLOW_STUDENT = 25.0, 10.0
"""Rough factors by which episodes take longer in Gymnasium, and with a student that only grows."""


@dataclass(frozen=True)
class AnyCondition(ABC):
    """One way to run a task: a distillation, or a search of another package."""

    task: str  # a Gymnasium id, or "xor"; those of a sequence with " > " between them
    settings: Any  # the settings of its runs; their seed is 0
    teachers: tuple[str, ...] = ()  # experts that the seeds use in turn; or the settings name one

    @abstractmethod
    def with_episodes(self, n: int) -> Self:
        """Return the condition with runs of `n` episodes."""

    @abstractmethod
    def plan(self, seed: int) -> AnyPlan:
        """Return the plan of a run; files, such as the expert's, enter it by their content."""

    @abstractmethod
    def train(self, plan: Any) -> Record:
        """Run a plan of this condition and return its record."""

    @property
    def variant(self) -> str:
        """The student that is trained, or the method that finds one."""
        return self.plan(0).student

    @property
    def episodes(self) -> int:
        """Episodes of a run."""
        return self.plan(0).n_episodes

    def expert(self, seed: int) -> str | None:
        """Return the expert of a run; a search has none."""
        return None

    def key(self, seed: int) -> str:
        """Return the digest of all that a run depends on; equal content has equal keys."""
        return self.plan(seed).key()


@dataclass(frozen=True)
class Condition(AnyCondition):
    """A task and all settings of its distillations; the seed comes with each run."""

    settings: RunConfig
    cue: bool = False  # whether the student of a sequence sees which of the tasks it is

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", replace(self.settings, seed=0))
        if self.teachers and self.settings.expert is not None:
            raise ConfigError("Give teachers, or an expert in the settings, not both.")

    @classmethod
    def distill(cls, task: str, *, teachers: tuple[str, ...] = (), **changes: Any) -> Self:
        """Return a distillation with the task's starting settings and some changes.

        >>> Condition.distill("CartPole-v1", plasticity={"window": 50}).settings.plasticity.window
        50
        """
        settings = RunConfig.for_task(task, **changes)
        # A stopped run starts again: checkpoints on the way would only cost time.
        return cls(task, replace(settings, checkpoint_every=settings.episodes), teachers)

    @classmethod
    def sequence(cls, tasks: tuple[str, ...], *, cue: bool = False, **changes: Any) -> Self:
        """Return tasks learned one after the other, with the settings of the first."""
        return replace(cls.distill(tasks[0], **changes), task=THEN.join(tasks), cue=cue)

    def with_episodes(self, n: int) -> Self:
        """Return the condition with runs of `n` episodes, and as many held-out ones at most."""
        held_out = min(self.settings.held_out, n)
        short = replace(self.settings, episodes=n, checkpoint_every=n, held_out=held_out)
        return replace(self, settings=short)

    def expert(self, seed: int) -> str | None:
        """Return the expert of a run; several teachers take turns by the seed."""
        if self.teachers:
            return self.teachers[seed % len(self.teachers)]
        return self.settings.expert

    def plan(self, seed: int) -> Plan:
        """Return the plan of a run."""
        expert = self.expert(seed)
        changed = Path(expert).stat().st_mtime_ns if expert and Path(expert).is_file() else 0
        return _reseeded(_first_plan(self, expert, changed), seed)

    def train(self, plan: Plan) -> Record:
        """Run a plan and return its record."""
        if plan.origin is not None:
            made = Sequence(plan.stages).train()
            return replace(made.record, before=made.spent_before)
        return Run(plan, task=self.task, expert=self.expert(plan.seed)).train()


@cache
def _first_plan(condition: Condition, expert: str | None, _: int) -> Plan:
    """Return the plan with seed 0, made again when the file of the expert has changed."""
    stages = tuple(condition.task.split(THEN))
    if len(stages) > 1:
        return plan_sequence(stages, condition.settings, cue=condition.cue)[-1]
    task = find_task(condition.task)
    return plan_run(condition.settings, task, find_teacher(expert, task)[0])


def _reseeded(plan: Plan, seed: int) -> Plan:
    origin = None if plan.origin is None else _reseeded(plan.origin, seed)
    return replace(plan, seed=seed, origin=origin)


class LazyMapping(Mapping[str, Value]):
    """A mapping that a function makes when its content is first asked for."""

    def __init__(self, make: Callable[[], Mapping[str, Value]]) -> None:
        self._made = cache(make)

    def __getitem__(self, name: str) -> Value:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A question, the runs that answer it, and the tables and figures that show the answer."""

    id: str  # its name, ending in -vN; N rises when its runs change
    question: str = ""  # in one sentence
    artefacts: tuple[str, ...] = ()  # tables and figures, by number in the paper or by name
    conditions: Mapping[str, AnyCondition]  # by name; the same condition may have several
    seeds: tuple[int, ...]  # of each condition; tables and figures are over them
    more: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Further seeds by the name of the condition; claims use all seeds."""

    def all_seeds(self, name: str) -> tuple[int, ...]:
        """Return all seeds of a condition."""
        return (*self.seeds, *self.more.get(name, ()))

    def runs(self) -> Iterator[tuple[str, AnyCondition, int]]:
        """Yield all runs: the name of a condition, the condition, a seed."""
        for name, condition in self.conditions.items():
            for seed in self.all_seeds(name):
                yield name, condition, seed

    def scaled(self, *, seeds: int | None = None, episodes: int | None = None) -> Self:
        """Return the experiment with another number of seeds, without `more`, or of episodes."""
        checked(seeds, Count | None, "The number of seeds")
        checked(episodes, Count | None, "The number of episodes")
        n_runs = len(self.conditions) * (seeds or len(self.seeds))
        check_memory(1e4 * n_runs, f"A list of {n_runs} runs")
        found = self
        if episodes is not None:
            short = {name: each.with_episodes(episodes) for name, each in self.conditions.items()}
            found = replace(found, conditions=short)
        return found if seeds is None else replace(found, seeds=tuple(range(seeds)), more={})


class QueuedRun(NamedTuple):
    """A run, named by the first experiment and condition that need it, and the seed."""

    key: str
    condition: AnyCondition
    seed: int
    name: str
    length: float  # rough time that it takes, in compiled episodes


def queue_runs(experiments: Iterable[Experiment]) -> list[QueuedRun]:
    """Return the runs of all experiments, equal ones once, longest first to fill the workers."""
    runs: dict[str, QueuedRun] = {}
    for experiment in experiments:
        for name, condition, seed in experiment.runs():
            plan = condition.plan(seed)
            is_fast = plan.task.facts.code is not None or plan.task.is_supervised
            length = float(plan.n_episodes * len(condition.task.split(THEN)))
            length *= 1.0 if is_fast else SLOW_TASK
            length *= SLOW_STUDENT if plan.student == "growth-only" else 1.0
            called = f"{experiment.id} {name} seed {seed}"
            runs.setdefault(key := plan.key(), QueuedRun(key, condition, seed, called, length))
    return sorted(runs.values(), key=lambda run: -run.length)
