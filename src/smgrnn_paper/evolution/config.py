"""Settings of an evolutionary search, and its plan."""

from dataclasses import dataclass, replace
from typing import Annotated

from smgrnn.config import Method
from smgrnn.errors import ConfigError
from smgrnn.machine import check_memory
from smgrnn.runs.plan import EvolutionPlan, check_episodes
from smgrnn.tasks import Task
from smgrnn.validation import Count, Settings, Whole, Within


@dataclass(frozen=True, kw_only=True)
class EvolutionConfig(Settings):
    """Settings of an evolutionary search; with the task they suffice to repeat it (Sec. IV-A4).

    Examples
    --------
    >>> from smgrnn_paper import EvolutionConfig
    >>> EvolutionConfig(method="ndp", rollouts=1000).generations
    20
    """

    method: Method = "neat"
    """Topologies and weights by NEAT, or developmental programs (NDP) by CMA-ES."""
    seed: Whole = 0
    """Seed of the search and of the episodes."""
    rollouts: Count = 2000
    """Episodes in all, one for each candidate."""
    population: Annotated[int, Within("[2, inf)")] = 50
    """Candidates in a generation."""
    held_out: Count = 100
    """Held-out episodes that judge the champion."""
    neat_config: str | None = None
    """Configuration file for neat-python; None is the package's own for the task."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rollouts % self.population:
            raise ConfigError(
                f"A budget of {self.rollouts} rollouts does not divide into generations of "
                f"{self.population}."
            )

    @property
    def generations(self) -> int:
        """Generations that the budget pays for."""
        return self.rollouts // self.population


def plan_evolution(config: EvolutionConfig, task: Task, neat_settings: str) -> EvolutionPlan:
    """Return the plan of a search; `neat_settings` is the text of NEAT's configuration."""
    if config.method != "neat" and config.neat_config is not None:
        raise ConfigError("A configuration for NEAT says nothing to NDP; leave it out.")
    check_episodes(config.held_out)
    check_memory(2e4 * config.population, f"A population of {config.population} candidates")
    return EvolutionPlan(
        task=replace(task, make=None),
        method=config.method,
        seed=config.seed,
        rollouts=config.rollouts,
        population=config.population,
        held_out=config.held_out,
        neat_settings=neat_settings,
    )
