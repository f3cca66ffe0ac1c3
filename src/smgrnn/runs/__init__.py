"""Whole runs: distillation, their record, their figures, and what is left of them on disk."""

from smgrnn.runs.evolution import Evolution, evolve
from smgrnn.runs.policy import Policy, load
from smgrnn.runs.run import Run, distill

__all__ = ["Evolution", "Policy", "Run", "distill", "evolve", "load"]
