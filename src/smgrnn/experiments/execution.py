"""Execution: one run from its condition to its record, in whatever process it happens."""

import os
import socket
import threading
import time
import warnings
from dataclasses import replace
from typing import NamedTuple

from smgrnn.config import EvolutionConfig
from smgrnn.errors import ConfigError, GrowthLimitWarning
from smgrnn.experiments.condition import Condition
from smgrnn.experiments.record import RunRecord
from smgrnn.runs.evolution import Evolution
from smgrnn.runs.run import Run, new_run


class Finished(NamedTuple):
    """What a worker sends back."""

    record: RunRecord
    worker: str
    """Which worker it was."""


def execute(condition: Condition, seed: int, key: str) -> Finished:
    """Run a condition with a seed and return its record.

    The key is computed again here: a worker with another version or another expert would answer
    another question than the one that was asked.
    """
    if condition.key(seed) != key:
        raise ConfigError("A worker has another smgrnn, or other experts, than its driver.")
    began, start = time.time(), time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GrowthLimitWarning)
        run, started = _train(condition, seed)
    record = RunRecord.of(
        run,
        started=started,
        warnings=tuple(dict.fromkeys(str(each.message) for each in caught)),
        began=began,
        seconds=time.perf_counter() - start,
    )
    return Finished(record, f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}")


def _train(condition: Condition, seed: int) -> tuple[Run | Evolution, tuple[int, int]]:
    """Return the finished run, and the nodes and edges it started from."""
    settings = replace(condition.settings, seed=seed)
    if isinstance(settings, EvolutionConfig):
        evolution = Evolution(condition.task, settings)
        evolution.train()
        first = evolution.generations
        return evolution, (int(first.n_nodes[0]), int(first.n_edges[0]))
    run = new_run(condition.task, settings, folder=None)
    started = run.graph.n_nodes, run.graph.n_edges
    run.train()
    return run, started
