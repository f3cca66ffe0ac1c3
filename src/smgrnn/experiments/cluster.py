"""Cluster: an executor over a Dask cluster.  Workers need smgrnn, and no disk in common."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from smgrnn.errors import ConfigError


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at an address, such as tcp://10.0.0.1:8786.

    Start its workers with one thread each (`dask worker --nthreads 1`): threads of one process
    would wait for each other in tasks that are not compiled.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            "A cluster needs dask: pip install 'smgrnn[cluster]', here and on its workers."
        ) from error
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise ConfigError(f"There is no Dask scheduler at {address}.") from error
    with client:
        yield client.get_executor(pure=False)
