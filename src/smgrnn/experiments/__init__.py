"""Experiments: the paper's questions as data, the runs that answer them, and their store."""

from smgrnn.experiments.condition import Condition
from smgrnn.experiments.experiment import Experiment
from smgrnn.experiments.local import LocalProcesses
from smgrnn.experiments.registry import EXPERIMENTS, STUDIES, choose_experiments, find_experiment
from smgrnn.experiments.runner import run_experiments
from smgrnn.experiments.store import Store

__all__ = [
    "EXPERIMENTS",
    "STUDIES",
    "Condition",
    "Experiment",
    "LocalProcesses",
    "Store",
    "choose_experiments",
    "find_experiment",
    "run_experiments",
]
