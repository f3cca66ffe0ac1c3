"""Execution: one run from its condition to its record, in any process."""

import os
import socket
import threading
import warnings
from dataclasses import replace
from typing import NamedTuple

from smgrnn.batch.experiment import AnyCondition
from smgrnn.errors import ConfigError, GrowthLimitWarning
from smgrnn.runs.record import Record


class OtherWorkerError(ConfigError):
    """A worker would answer another question than its driver asked."""


class Finished(NamedTuple):
    """A run as a worker sends it back."""

    record: Record
    worker: str
    """Name of the worker: its host, process and thread."""


def execute(condition: AnyCondition, seed: int, key: str) -> Finished:
    """Run a condition with a seed and return its record.

    The key is computed again here: a worker with another version or another expert would answer
    another question than the one that was asked.
    """
    plan = condition.plan(seed)
    if plan.key() != key:
        raise OtherWorkerError("A worker has another smgrnn, or other experts, than its driver.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrowthLimitWarning)  # it is on record
        record = condition.train(plan)
    worker = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
    return Finished(replace(record, resume=None), worker)
