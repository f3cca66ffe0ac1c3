"""Whole runs: their plans, their records, their figures, and their folders on disk."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smgrnn.policy import Policy
    from smgrnn.runs.evaluation import evaluate
    from smgrnn.runs.plan import Plan, plan_run
    from smgrnn.runs.record import Record, load
    from smgrnn.runs.run import Run, distill
    from smgrnn.runs.sequences import Sequence, sequence

_HOMES = {
    "Plan": "runs.plan",
    "Policy": "policy",
    "Record": "runs.record",
    "Run": "runs.run",
    "Sequence": "runs.sequences",
    "distill": "runs.run",
    "evaluate": "runs.evaluation",
    "load": "runs.record",
    "plan_run": "runs.plan",
    "sequence": "runs.sequences",
}

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


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"smgrnn.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'smgrnn.runs' has no attribute {name!r}")
