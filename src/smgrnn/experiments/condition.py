"""Condition: one way to run a task, whatever the seed.  The store knows its runs by their plans."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from smgrnn.config import EvolutionConfig, RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import TeacherId, find_teacher
from smgrnn.runs.evolution import find_evolution_plan
from smgrnn.runs.plan import AnyPlan, Plan, plan_run
from smgrnn.runs.sequences import plan_sequence
from smgrnn.tasks import Task, find_task

THEN = " > "
"""Stands between the tasks of a sequence."""
FEWEST = 4
"""Smallest population that a shortened evolution has."""


@dataclass(frozen=True)
class Condition:
    """A task and all settings of its runs; the seed comes with each run."""

    task: str
    """A Gymnasium id, or "xor"; those of a sequence with " > " between them."""
    settings: RunConfig | EvolutionConfig
    """Settings of a distillation or of an evolution; the seed in them is always 0."""
    teachers: tuple[str, ...] = ()
    """Experts that the seeds take in turn; none leaves the expert to the settings."""
    cue: bool = False
    """Whether the student of a sequence is told which of the tasks it is."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", replace(self.settings, seed=0))
        is_open = isinstance(self.settings, RunConfig) and self.settings.expert is None
        if self.teachers and not is_open:
            raise ConfigError("Teachers are for a distillation whose settings name no expert.")

    @classmethod
    def distill(cls, task: str, *, teachers: tuple[str, ...] = (), **changes: Any) -> Self:
        """Return a distillation with the task's starting settings and some changes.

        A run that is stopped is run again from its start, so it has no checkpoints on the way:
        scoring each of them on held-out episodes takes a tenth of the time.

        >>> Condition.distill("CartPole-v1", plasticity={"window": 50}).settings.plasticity.window
        50
        """
        settings = RunConfig.for_task(task, **changes)
        return cls(task, replace(settings, checkpoint_every=settings.episodes), teachers)

    @classmethod
    def sequence(cls, tasks: tuple[str, ...], *, cue: bool = False, **changes: Any) -> Self:
        """Return tasks learned one after the other, with the settings of the first.

        >>> Condition.sequence(("CartPole-v1", "CartPole-v1,mirrored"), episodes=9).stages
        ('CartPole-v1', 'CartPole-v1,mirrored')
        """
        settings = RunConfig.for_task(tasks[0], **changes)
        return cls(THEN.join(tasks), replace(settings, checkpoint_every=settings.episodes), cue=cue)

    @property
    def stages(self) -> tuple[str, ...]:
        """The tasks, one after the other; usually there is one."""
        return tuple(self.task.split(THEN))

    @classmethod
    def evolve(cls, task: str, **changes: Any) -> Self:
        """Return an evolutionary search; every field of EvolutionConfig is a keyword."""
        return cls(task, EvolutionConfig(**changes))

    @property
    def variant(self) -> str:
        """The student that is trained, or the method that evolves one."""
        settings = self.settings
        return settings.student if isinstance(settings, RunConfig) else settings.method

    @property
    def episodes(self) -> int:
        """Episodes of a run, one for each candidate of an evolution."""
        settings = self.settings
        return settings.episodes if isinstance(settings, RunConfig) else settings.rollouts

    def with_episodes(self, n: int) -> Self:
        """Return the condition with runs of `n` episodes; evolutions keep two generations.

        >>> Condition.evolve("CartPole-v1").with_episodes(20).settings.population
        10
        """
        if n < 1:
            raise ConfigError(f"The number of episodes must be at least 1. Got {n} instead.")
        short: dict[str, Any] = {"held_out": min(self.settings.held_out, n)}
        if isinstance(self.settings, RunConfig):
            short |= {"episodes": n, "checkpoint_every": n}
        else:
            population = max(min(self.settings.population, n // 2), FEWEST)
            rollouts = population * max(n // population, 2)
            short |= {"rollouts": rollouts, "population": population}
        return replace(self, settings=replace(self.settings, **short))

    def expert(self, seed: int) -> str | None:
        """Return the expert of a run: of several teachers the one whose turn it is by the seed.

        >>> Condition.distill("CartPole-v1", teachers=("one", "other")).expert(seed=3)
        'other'
        """
        if self.teachers:
            return self.teachers[seed % len(self.teachers)]
        return self.settings.expert if isinstance(self.settings, RunConfig) else None

    def plan(self, seed: int) -> AnyPlan:
        """Return the plan of a run; files, such as the expert's, enter it by their content."""
        if len(self.stages) > 1:
            assert isinstance(self.settings, RunConfig)
            return _reseeded(_plan_sequence(self.stages, self.settings, self.cue), seed)
        task = _find_task(self.task)
        if isinstance(self.settings, EvolutionConfig):
            return find_evolution_plan(task, replace(self.settings, seed=seed))
        expert = self.expert(seed)
        teacher = _find_teacher(expert, task, _modified(expert))
        return _reseeded(_plan_run(self.settings, task, teacher), seed)

    def key(self, seed: int) -> str:
        """Return the digest of all that a run depends on; equal content has equal keys."""
        return self.plan(seed).key()


@cache
def _plan_run(settings: RunConfig, task: Task, teacher: TeacherId) -> Plan:
    """Return the plan with seed 0; a report asks for that of every run several times."""
    return plan_run(settings, task, teacher)


@cache
def _plan_sequence(stages: tuple[str, ...], settings: RunConfig, cue: bool) -> Plan:
    """Return the plan of the last stage with seed 0; finding all tasks and teachers takes time."""
    return plan_sequence(stages, settings, cue=cue)[-1]


def _reseeded(plan: Plan, seed: int) -> Plan:
    origin = None if plan.origin is None else _reseeded(plan.origin, seed)
    return replace(plan, seed=seed, origin=origin)


@cache
def _find_task(name: str) -> Task:
    """Return the description of a task, for which its environment is made only once."""
    return find_task(name)


@cache
def _find_teacher(expert: str | None, task: Task, _: int) -> TeacherId:
    """Return the identity of an expert, which is digested anew only when its file changes."""
    return find_teacher(expert, task)[0]


def _modified(path: str | None) -> int:
    """Return when the file of an expert last changed, or 0 for an expert that is not a file."""
    return Path(path).stat().st_mtime_ns if path and Path(path).is_file() else 0
