"""Condition: one way to run a task, whatever the seed.  The store knows its runs by their plans."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError
from smgrnn.experts import TeacherId, find_teacher
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.sequences import Sequence, plan_sequence
from smgrnn.tasks import Task, find_task

THEN = " > "
"""Stands between the tasks of a sequence."""


@dataclass(frozen=True)
class Condition:
    """A task and all settings of its runs; the seed comes with each run."""

    task: str
    """A Gymnasium id, or "xor"; those of a sequence with " > " between them."""
    settings: RunConfig
    """Settings of a distillation; the seed in them is always 0."""
    teachers: tuple[str, ...] = ()
    """Experts that the seeds take in turn; none leaves the expert to the settings."""
    cue: bool = False
    """Whether the student of a sequence is told which of the tasks it is."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", replace(self.settings, seed=0))
        if self.teachers and self.settings.expert is not None:
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

    @property
    def variant(self) -> str:
        """The student that is trained."""
        return self.settings.student

    @property
    def episodes(self) -> int:
        """Episodes of a run."""
        return self.settings.episodes

    def with_episodes(self, n: int) -> Self:
        """Return the condition with runs of `n` episodes.

        >>> Condition.distill("CartPole-v1").with_episodes(20).settings.held_out
        20
        """
        check_length(n)
        held_out = min(self.settings.held_out, n)
        short = replace(self.settings, episodes=n, checkpoint_every=n, held_out=held_out)
        return replace(self, settings=short)

    def expert(self, seed: int) -> str | None:
        """Return the expert of a run: of several teachers the one whose turn it is by the seed.

        >>> Condition.distill("CartPole-v1", teachers=("one", "other")).expert(seed=3)
        'other'
        """
        if self.teachers:
            return self.teachers[seed % len(self.teachers)]
        return self.settings.expert

    def plan(self, seed: int) -> Plan:
        """Return the plan of a run; files, such as the expert's, enter it by their content."""
        if len(self.stages) > 1:
            return _reseeded(_plan_sequence(self.stages, self.settings, self.cue), seed)
        task, expert = describe_task(self.task), self.expert(seed)
        teacher = _find_teacher(expert, task, _modified(expert))
        return _reseeded(_plan_run(self.settings, task, teacher), seed)

    def key(self, seed: int) -> str:
        """Return the digest of all that a run depends on; equal content has equal keys."""
        return self.plan(seed).key()

    def train(self, plan: Plan) -> Record:
        """Run a plan of this condition and return its record."""
        if plan.origin is not None:
            made = Sequence(plan.stages).train()
            return replace(made.record, before=made.spent_before)
        return Run(plan, task=self.task, expert=self.expert(plan.seed)).train()


def check_length(n: int) -> None:
    """Refuse runs without episodes."""
    if n < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {n} instead.")


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
def describe_task(name: str) -> Task:
    """Return the description of a task, for which its environment is made only once."""
    return find_task(name)


@cache
def _find_teacher(expert: str | None, task: Task, _: int) -> TeacherId:
    """Return the identity of an expert, which is digested anew only when its file changes."""
    return find_teacher(expert, task)[0]


def _modified(path: str | None) -> int:
    """Return when the file of an expert last changed, or 0 for an expert that is not a file."""
    return Path(path).stat().st_mtime_ns if path and Path(path).is_file() else 0
