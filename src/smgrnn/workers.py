"""Workers: processes of this machine, or a Dask cluster, as executors of `concurrent.futures`."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from smgrnn.errors import ConfigError, needs
from smgrnn.machine import usable_cores
from smgrnn.validation import Count, checked

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_ENVIRONMENT = dict.fromkeys(_THREADS, "1") | {
    "PYTHONWARNINGS": "ignore:Compiled code cannot be kept",  # the driver has said so
    "PYTHONSAFEPATH": "1",  # or they would import from the working directory first
}
PATIENCE = 10.0
"""Seconds in which a Dask scheduler must answer, or be back."""


def find_executor(jobs: int | None, scheduler: str | None) -> Executor:
    """Return the cluster at an address or, without one, processes here: one for each core."""
    checked(jobs, Count | None, "--jobs")
    if jobs is not None and scheduler is not None:
        raise ConfigError("Give --jobs or --scheduler, not both: a cluster has its own workers.")
    return LocalProcesses(jobs or usable_cores()) if scheduler is None else Cluster(scheduler)


class LocalProcesses(ThreadPoolExecutor):
    """Calls functions in up to `n_workers` processes of this machine, one thread in each.

    A pool breaks as a whole when one of its processes dies.  So each process is a pool, with a
    thread here, and one that dies loses only its own call.  Leaving the `with` block by an
    exception stops the processes at once; they also end when this process is killed.
    """

    def __init__(self, n_workers: int) -> None:
        with needs("A worker process"):
            import loky
        super().__init__(n_workers, initializer=_leave_interrupts_to_driver)
        self._reader, self._writer = multiprocessing.Pipe(duplex=False)
        start = {"initializer": _follow_driver, "initargs": (self._reader,), "env": _ENVIRONMENT}
        self._new_pool = partial(loky.ProcessPoolExecutor, 1, **start)
        self._own = threading.local()
        """The pool of each thread, of one process."""
        # Starts Python's resource tracker: in a thread below, that would unblock SIGINT again.
        multiprocessing.get_context("spawn").Lock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in the next process that is free."""
        return super().submit(self._call, fn, *args, **kwargs)

    def _call(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(self._own, "pool"):
            self._own.pool = self._new_pool()
        try:
            return self._own.pool.submit(fn, *args, **kwargs).result()
        except BrokenExecutor as error:
            del self._own.pool
            raise BrokenExecutor("The worker process died.") from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the processes: after all calls, or those already begun; at once without `wait`."""
        super().shutdown(wait=wait, cancel_futures=cancel_futures or not wait)
        self._writer.close()  # which the processes follow
        super().shutdown()

    def __exit__(self, kind: object, *details: object) -> None:
        self.shutdown(wait=kind is None)


def _leave_interrupts_to_driver() -> None:
    """Let the processes that this thread starts ignore Ctrl-C from their first moment."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _follow_driver(connection: Connection) -> None:
    """End this process when its driver ends, even in the middle of a run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        with suppress(EOFError, OSError):
            connection.recv_bytes()  # nothing is sent: it returns when the other end is closed
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class Cluster(Executor):
    """The workers of the Dask scheduler at an address, such as tcp://10.0.0.1:8786.

    Workers need smgrnn and one thread each (`dask worker --nthreads 1`): threads of one process
    would wait for each other in tasks that are not compiled.
    """

    def __init__(self, address: str) -> None:
        with needs("A cluster"):
            from distributed import Client
        for name in ("asyncio", *logging.root.manager.loggerDict):
            # Dask reports a lost connection by hundreds of lines from many threads.
            if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            self._client, self._address = Client(address, timeout=PATIENCE), address
        except (OSError, ValueError) as error:
            raise ConfigError(f"There is no Dask scheduler at {address}.") from error
        self._executor: Executor = self._client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function on the next worker that is free."""
        begin = time.monotonic()
        while self._client.status != "running":  # Dask looks for a lost scheduler by itself
            if self._client.status == "closed" or time.monotonic() - begin > 2 * PATIENCE:
                raise ConfigError(
                    f"The Dask scheduler at {self._address} is gone. Finished runs are kept; the "
                    f"same command runs the others."
                )
            time.sleep(0.1)
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, whatever it is doing."""
        with suppress(Exception):  # the scheduler may be gone
            self._client.close(timeout=2)
