"""Evolution: NEAT and NDP on the budget of a distillation."""

from smgrnn_paper.evolution.config import EvolutionConfig
from smgrnn_paper.evolution.evolution import Evolution, EvolutionCondition, evolve

__all__ = ["Evolution", "EvolutionCondition", "EvolutionConfig", "evolve"]
