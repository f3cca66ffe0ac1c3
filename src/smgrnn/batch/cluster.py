"""Cluster: an executor over a Dask cluster.  Workers need smgrnn, and no disk in common."""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from typing import Any, ParamSpec, TypeVar

from smgrnn.errors import ConfigError, needs

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

PATIENCE = 10.0
"""Seconds in which a scheduler must answer, or be back."""


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at an address, such as tcp://10.0.0.1:8786.

    Start its workers with one thread each (`dask worker --nthreads 1`): threads of one process
    would wait for each other in tasks that are not compiled.
    """
    with needs("A cluster"):
        from distributed import Client
    _hush()
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ConfigError(f"There is no Dask scheduler at {address}.") from error
    try:
        yield Cluster(client, address)
    finally:
        with suppress(Exception):  # of a scheduler that is gone
            client.close(timeout=2)


class Cluster(Executor):
    """The workers of a Dask scheduler, as long as there is one."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._executor: Executor = client.get_executor(pure=False)

    def submit(
        self,
        fn: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Result]:
        """Call a function on the next worker that is free; refuse if the scheduler is gone.

        The client of Dask looks for a lost scheduler by itself, for a while.
        """
        begin = time.monotonic()
        while self._client.status != "running":
            if self._client.status == "closed" or time.monotonic() - begin > 2 * PATIENCE:
                raise ConfigError(
                    f"The Dask scheduler at {self._address} is gone; runs that had finished are "
                    f"kept, and the same command goes on with the others."
                )
            time.sleep(0.1)
        return self._executor.submit(fn, *args, **kwargs)


def _hush() -> None:
    """Let Dask say nothing: it reports a lost connection by hundreds of lines from many threads."""
    for name in ("asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
