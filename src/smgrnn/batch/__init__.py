"""Many runs at once: what to run, where finished runs are stored, and the workers that run them."""

from smgrnn.batch.condition import Condition
from smgrnn.batch.experiment import AnyCondition, Experiment, LazyMapping
from smgrnn.batch.runner import run_experiments
from smgrnn.batch.store import Store
from smgrnn.batch.workers import LocalProcesses

__all__ = [
    "AnyCondition",
    "Condition",
    "Experiment",
    "LazyMapping",
    "LocalProcesses",
    "Store",
    "run_experiments",
]
