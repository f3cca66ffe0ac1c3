"""`smgrnn reproduce`: run the experiments."""

import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from smgrnn.commands.display import SessionDisplay, describe_session, stoppable
from smgrnn.commands.flags import Workers
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.experiments.cluster import cluster_executor
from smgrnn.experiments.experiment import Experiment
from smgrnn.experiments.local import LocalProcesses
from smgrnn.experiments.runner import Progress, run_experiments
from smgrnn.experiments.store import Store
from smgrnn.machine import usable_cores


def reproduce_command(
    experiments: Sequence[Experiment],
    store: Path,
    workers: Workers = Workers(),
    output: Output = Output(),
) -> None:
    """Run what the experiments still lack; exit with 1 if a run failed."""
    kept = Store(store)
    with (
        stoppable(f"Finished runs are in {store}; the same command goes on."),
        SessionDisplay(is_quiet=output.quiet) as display,
        find_executor(workers) as executor,
    ):
        progress = run_experiments(experiments, kept, executor, watch=display)
    words = [describe_session(progress, store)]
    words += [f"{reason} It was run again." for reason in kept.damaged.values()]
    ids = [experiment.id for experiment in experiments]
    figures = {"experiments": ids, **_figures(progress), "store": str(store)}
    output.result("\n".join(words), figures)
    if progress.failures:
        sys.exit(1)


def find_executor(workers: Workers) -> AbstractContextManager[Executor]:
    """Return the cluster of an address, or else processes here, one for each core."""
    jobs, scheduler = workers.jobs, workers.scheduler
    if jobs is not None and jobs < 1:
        raise ConfigError(f"The number of jobs must be at least 1. Got {jobs} instead.")
    if scheduler is None:
        return LocalProcesses(jobs or usable_cores())
    if jobs is not None:
        raise ConfigError("A cluster has the workers it has; give --jobs or --scheduler, not both.")
    return cluster_executor(scheduler)


def _figures(progress: Progress) -> dict[str, Any]:
    return {
        "runs": progress.n_runs,
        "found": progress.n_found,
        "done": progress.n_done,
        "lost": progress.n_lost,
        "steps": progress.steps,
        "seconds": progress.seconds,
        "failures": [failure._asdict() for failure in progress.failures],
    }
