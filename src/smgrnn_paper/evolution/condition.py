"""An evolutionary search as a condition of an experiment."""

from dataclasses import dataclass, replace
from typing import Any, Self

from smgrnn.batch.condition import check_length, describe_task
from smgrnn.runs.plan import EvolutionPlan
from smgrnn.runs.record import Record
from smgrnn_paper.evolution.config import EvolutionConfig
from smgrnn_paper.evolution.evolution import Evolution, find_evolution_plan

FEWEST = 4
"""Smallest population that a shortened evolution has."""


@dataclass(frozen=True)
class EvolutionCondition:
    """A task and the settings of its searches; the seed comes with each run."""

    task: str
    """A Gymnasium id."""
    settings: EvolutionConfig
    """Settings of the search; the seed in them is always 0."""

    @classmethod
    def evolve(cls, task: str, **changes: Any) -> Self:
        """Return a search; every field of EvolutionConfig is a keyword."""
        return cls(task, EvolutionConfig(**changes))

    @property
    def teachers(self) -> tuple[str, ...]:
        """No experts: a search has none."""
        return ()

    @property
    def stages(self) -> tuple[str, ...]:
        """The task."""
        return (self.task,)

    @property
    def variant(self) -> str:
        """The method."""
        return self.settings.method

    @property
    def episodes(self) -> int:
        """Episodes of a search, one for each candidate."""
        return self.settings.rollouts

    def with_episodes(self, n: int) -> Self:
        """Return the condition with `n` episodes; at least two generations stay.

        >>> EvolutionCondition.evolve("CartPole-v1").with_episodes(20).settings.population
        10
        """
        check_length(n)
        settings = self.settings
        population = max(min(settings.population, n // 2), FEWEST)
        rollouts, held_out = population * max(n // population, 2), min(settings.held_out, n)
        short = replace(settings, rollouts=rollouts, population=population, held_out=held_out)
        return replace(self, settings=short)

    def expert(self, seed: int) -> None:
        """Return None: a search has no expert."""

    def plan(self, seed: int) -> EvolutionPlan:
        """Return the plan of a search."""
        return find_evolution_plan(describe_task(self.task), replace(self.settings, seed=seed))

    def key(self, seed: int) -> str:
        """Return the digest of all that a search depends on; equal content has equal keys."""
        return self.plan(seed).key()

    def train(self, plan: EvolutionPlan) -> Record:
        """Run a plan of this condition and return its record."""
        return Evolution(plan, task=self.task).train()
