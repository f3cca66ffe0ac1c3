"""Local processes: an executor whose processes may die, each taking only its own run with it.

A pool of `concurrent.futures` breaks as a whole when one of its processes dies, and does not tell
whose fault it was.  Here each process has a thread that waits for it, and gets a successor.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_SETTINGS = dict.fromkeys(_THREADS, "1") | {"PYTHONWARNINGS": "ignore:Compiled code cannot be kept"}
"""Environment of the processes: as many as there are cores have one thread each, and do not repeat
what their driver has said."""

_CHILDREN = threading.Lock()
"""Held to start a process or to wait for its end: starting one reads the exit code of each that has
ended, and a code can be read once, so two threads that read would make one of them up."""


class WorkerLostError(BrokenExecutor):
    """The process that worked on a call has died."""


class LocalProcesses(Executor):
    """Calls functions in up to `n_workers` processes of this machine, one thread in each.

    Leaving its `with` block by an exception, such as a Ctrl-C, stops the processes at once.
    """

    def __init__(self, n_workers: int) -> None:
        # Numba and BLAS may have threads here already, which a plain fork would copy half-way.
        methods = multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods else "spawn"
        )
        if "forkserver" in methods:  # imports once for all processes
            self._context.set_forkserver_preload(["smgrnn.batch.execution"])
        self._threads = ThreadPoolExecutor(n_workers, thread_name_prefix="smgrnn-worker")
        self._mine = threading.local()
        self._workers: set[_Worker] = set()
        self._changing = threading.Lock()
        self._is_stopped = False

    def submit(
        self,
        fn: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Future[Result]:
        """Call a function in the next process that is free."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def pids(self) -> list[int]:
        """Return the ids of the processes there are now."""
        with self._changing:
            return [worker.pid for worker in self._workers]

    def _call(self, fn: Callable[..., Result], args: Any, kwargs: Any) -> Result:
        """Call a function in the process of this thread, which starts one where it has none."""
        worker: _Worker | None = getattr(self._mine, "worker", None)
        if worker is None:
            worker = self._mine.worker = self._start()
        try:
            result: Result = worker.call(fn, args, kwargs)
        except WorkerLostError:
            self._mine.worker = None
            with self._changing:
                self._workers.discard(worker)
            raise
        return result

    def _start(self) -> "_Worker":
        with self._changing:
            if self._is_stopped:
                raise WorkerLostError("The processes were stopped.")
            worker = _Worker(self._context)
            self._workers.add(worker)
            return worker

    def stop(self) -> None:
        """Stop all processes, whatever they are doing."""
        with self._changing:
            self._is_stopped = True
            for worker in self._workers:
                worker.kill()
            self._workers.clear()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the calls finish, or only those already begun, and stop the processes."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            self.stop()

    def __exit__(self, kind: object, *details: object) -> None:
        if kind is None:
            self.shutdown()
        else:
            self.stop()


class _Worker:
    """A process that calls functions, one after the other, and the connection to it."""

    def __init__(self, context: Any) -> None:
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _CHILDREN, _settings():
            self._process.start()
        theirs.close()
        self.pid = int(self._process.pid)

    def call(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a function in the process; return its result or raise its error."""
        try:
            self._connection.send((fn, args, kwargs))
            is_good, value = self._connection.recv()
        except (EOFError, OSError) as error:
            code = self._wait_for_end()
            raise WorkerLostError(f"The worker process died with exit code {code}.") from error
        if not is_good:
            raise value
        return value

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()
        self._wait_for_end()

    def _wait_for_end(self) -> int | None:
        with _CHILDREN:
            self._process.join()
            code: int | None = self._process.exitcode
            return code


def _serve(connection: Connection) -> None:
    """Answer calls until the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the driver to act upon
    threading.Thread(target=_follow_driver, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            call = connection.recv_bytes()
            try:
                fn, args, kwargs = pickle.loads(call)
                connection.send((True, fn(*args, **kwargs)))
            except (SystemExit, Exception) as error:
                error.add_note(traceback.format_exc())
                _send_error(connection, error)


def _send_error(connection: Connection, error: BaseException) -> None:
    try:
        connection.send((False, error))
    except Exception:  # it holds something that does not pickle
        connection.send((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _follow_driver() -> None:
    """End this process when its driver ends, even in the middle of a run."""
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)


@contextmanager
def _settings() -> Iterator[None]:
    """Give processes that start now an environment of their own."""
    former = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
