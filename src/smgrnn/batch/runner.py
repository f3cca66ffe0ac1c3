"""Runner: run the runs that the store lacks on any executor, and lose no finished one."""

import time
import traceback
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import NamedTuple

from smgrnn.batch.execution import Finished, OtherWorkerError, execute
from smgrnn.batch.experiment import Experiment
from smgrnn.batch.forecast import Forecast
from smgrnn.batch.queue import QueuedRun, queue_runs
from smgrnn.batch.store import Store
from smgrnn.errors import ConfigError
from smgrnn.interrupts import interrupts_deferred
from smgrnn.runs.record import Record
from smgrnn.runs.watch import Watch

RETRIES = 2
"""Times that a run whose worker was lost is run again."""
LOOK_SECONDS = 1.0
"""Longest time between two reports of progress."""


class Failure(NamedTuple):
    """A run that has no record: it raised an error, or nobody could run it."""

    name: str
    """Name of the run."""
    error: str
    """The error in one line."""
    details: str
    """Its traceback."""
    is_own: bool
    """Whether the run itself raised it, and so would again on any worker."""


@dataclass
class Progress:
    """Progress of a session; at its end, the result."""

    n_runs: int
    """Runs that the experiments need."""
    n_found: int
    """Runs that the store had already."""
    n_done: int = 0
    """Runs that were run and are in the store now."""
    n_lost: int = 0
    """Times that a run was lost with its worker."""
    steps: int = 0
    """Environment steps of the runs that were run."""
    seconds: float = 0.0
    """Seconds since the start."""
    seconds_left: float | None = None
    """Seconds still to go; None as long as no run has finished."""
    latest: tuple[str, Record] | None = None
    """The run that finished last, its name and its record."""
    failures: list[Failure] = field(default_factory=list)
    """Runs that failed."""


def run_experiments(
    experiments: Iterable[Experiment],
    store: Store,
    executor: Executor,
    *,
    watch: Watch[Progress] | None = None,
    retries: int = RETRIES,
) -> Progress:
    """Run every run that the experiments need and the store lacks; return the final progress.

    A run that fails does not stop the others, and a run whose worker is lost is run again.  Ctrl-C,
    or an executor that is gone for good, keeps what is finished and gives up the rest; it is up to
    the caller to shut the executor down.

    Parameters
    ----------
    experiments
        Experiments to run; runs that several of them need are run once.
    store
        Where records are looked for and kept.  Only this process writes to it.
    executor
        Any executor whose workers have this package.
    watch
        Called with the progress after every run, and once a second.
    retries
        Times that a run whose worker was lost is run again.
    """
    store.check_writable()
    runs = queue_runs(experiments)
    missing = [run for run in runs if not store.has(run.key)]
    session = _Session(store, executor, retries, Forecast(missing))
    progress = Progress(n_runs=len(runs), n_found=len(runs) - len(missing))
    return session.drive(missing, progress, watch or (lambda _: None))


class _Session:
    """The runs that are under way, and the handling of their results."""

    def __init__(self, store: Store, executor: Executor, retries: int, forecast: Forecast) -> None:
        self._store = store
        self._executor = executor
        self._retries = retries
        self._forecast = forecast
        self._under_way: dict[Future[Finished], QueuedRun] = {}
        self._ended: SimpleQueue[Future[Finished]] = SimpleQueue()
        self._losses: Counter[str] = Counter()

    def drive(self, runs: list[QueuedRun], progress: Progress, watch: Watch[Progress]) -> Progress:
        """Submit all runs and wait for them."""
        start = time.perf_counter()
        watch(progress)
        try:
            for run in runs:
                self._submit(run, progress)
            while self._under_way:
                self._take_ended(progress)
                progress.seconds = time.perf_counter() - start
                progress.seconds_left = self._forecast.left(progress.seconds)
                watch(progress)
        except (KeyboardInterrupt, ConfigError):  # the latter: nobody is left to run anything
            with interrupts_deferred():
                self._give_up(progress)
            raise
        finally:
            for future in self._under_way:
                future.cancel()
        progress.failures.sort()
        return progress

    def _submit(self, run: QueuedRun, progress: Progress) -> None:
        try:
            future = self._executor.submit(execute, run.condition, run.seed, run.key)
        except (BrokenExecutor, RuntimeError) as error:  # broken, or shut down
            self._fail(run, error, progress, is_own=False)
            return
        self._under_way[future] = run
        future.add_done_callback(self._ended.put)

    def _take_ended(self, progress: Progress) -> None:
        """Wait a moment for a run to end, and take it in."""
        try:
            future = self._ended.get(timeout=LOOK_SECONDS)
        except Empty:
            return
        with interrupts_deferred():
            self._take_in(future, progress)

    def _take_in(self, future: Future[Finished], progress: Progress) -> None:
        run = self._under_way.pop(future)
        error = CancelledError() if future.cancelled() else future.exception()
        if error is None:
            self._keep(run, future.result(), progress)
        elif not is_loss(error):
            self._fail(run, error, progress, is_own=not isinstance(error, OtherWorkerError))
        else:
            progress.n_lost += 1
            self._losses[run.key] += 1
            if self._losses[run.key] <= self._retries:
                self._submit(run, progress)
            else:
                self._fail(run, error, progress, is_own=False)

    def _keep(self, run: QueuedRun, finished: Finished, progress: Progress) -> None:
        record = finished.record
        self._store.save(record)
        self._forecast.finish(run, record.spent.seconds, finished.worker)
        progress.n_done += 1
        progress.steps += record.spent.steps
        progress.latest = run.name, record

    def _fail(
        self, run: QueuedRun, error: BaseException, progress: Progress, *, is_own: bool
    ) -> None:
        self._forecast.drop(run)
        line = " ".join(str(error).split()) or type(error).__name__
        details = "".join(traceback.format_exception(error))
        progress.failures.append(Failure(run.name, line, details, is_own))

    def _give_up(self, progress: Progress) -> None:
        """Keep the runs that have finished in the meantime."""
        for future, run in list(self._under_way.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                del self._under_way[future]
                self._keep(run, future.result(), progress)


def is_loss(error: BaseException) -> bool:
    """Return whether it was the worker, or the way to it, that failed, not the run."""
    # Dask need not be installed to know the name of its error.
    is_killed = type(error).__name__ == "KilledWorker"
    # An error of the system has a number; those of Dask's connections have none.
    is_cut_off = isinstance(error, OSError) and error.errno is None
    is_lost = isinstance(error, BrokenExecutor | CancelledError | ConnectionError | TimeoutError)
    return is_killed or is_cut_off or is_lost
