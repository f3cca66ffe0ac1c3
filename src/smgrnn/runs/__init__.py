"""Whole runs: their plans, their records, their figures, and their folders on disk."""

from smgrnn.policy import Policy
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.runs.record import Record, load
from smgrnn.runs.run import Run, distill
from smgrnn.runs.sequences import Sequence, sequence

__all__ = [
    "Plan",
    "Policy",
    "Record",
    "Run",
    "Sequence",
    "distill",
    "evaluate",
    "load",
    "plan_run",
    "sequence",
]
