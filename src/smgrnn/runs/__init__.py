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
    "policy": ("Policy",),
    "runs.evaluation": ("evaluate",),
    "runs.plan": ("Plan", "plan_run"),
    "runs.record": ("Record", "load"),
    "runs.run": ("Run", "distill"),
    "runs.sequences": ("Sequence", "sequence"),
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
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"smgrnn.{home}"), name)
    raise AttributeError(f"module 'smgrnn.runs' has no attribute {name!r}")
