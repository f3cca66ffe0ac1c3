"""Whole runs: distillation, their record, their figures, and what is left of them on disk."""

from smgrnn.training.evolution import Evolution, evolve
from smgrnn.training.policy import Policy, load
from smgrnn.training.run import Run, distill

__all__ = ["Evolution", "Policy", "Run", "distill", "evolve", "load"]
