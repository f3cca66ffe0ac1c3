"""Evolution: NEAT and NDP on the budget of a distillation."""

from smgrnn_paper.evolution.condition import EvolutionCondition
from smgrnn_paper.evolution.config import EvolutionConfig
from smgrnn_paper.evolution.evolution import Evolution, evolve

__all__ = ["Evolution", "EvolutionCondition", "EvolutionConfig", "evolve"]
