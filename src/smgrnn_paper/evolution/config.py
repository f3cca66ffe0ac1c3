"""Settings of an evolutionary search."""

from dataclasses import dataclass
from typing import Annotated

from smgrnn.config import Method
from smgrnn.errors import ConfigError
from smgrnn.validation import Count, Settings, Whole, Within

METHODS = {
    "neat": "topologies and weights evolved together, by neat-python",
    "ndp": "developmental programs that grow a network, by CMA-ES",
}
"""The evolutionary methods by name."""


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
        if self.method != "neat" and self.neat_config is not None:
            raise ConfigError("A NEAT configuration has no effect on NDP. Remove it.")

    @property
    def generations(self) -> int:
        """Generations that the budget pays for."""
        return self.rollouts // self.population
