"""The executor of many runs: processes of this machine, or a Dask cluster."""

from concurrent.futures import Executor
from contextlib import AbstractContextManager

from smgrnn.batch.cluster import cluster_executor
from smgrnn.batch.local import LocalProcesses
from smgrnn.errors import ConfigError
from smgrnn.machine import usable_cores


def find_executor(jobs: int | None, scheduler: str | None) -> AbstractContextManager[Executor]:
    """Return the cluster of an address, or else processes here, one for each core."""
    if jobs is not None and jobs < 1:
        raise ConfigError(f"The number of jobs must be at least 1. Got {jobs} instead.")
    if scheduler is None:
        return LocalProcesses(jobs or usable_cores())
    if jobs is not None:
        raise ConfigError("A cluster has the workers it has; give --jobs or --scheduler, not both.")
    return cluster_executor(scheduler)
