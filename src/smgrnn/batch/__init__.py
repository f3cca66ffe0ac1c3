"""Many runs at once: what to run, where finished runs are stored, and the workers that run them."""

from smgrnn.batch.experiment import AnyCondition, Condition, Experiment, LazyMapping
from smgrnn.batch.runner import Store, run_experiments
from smgrnn.workers import LocalProcesses
