"""Runner: run the runs that the store lacks on any executor, and lose no finished one."""

import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import NamedTuple

from smgrnn.batch.experiment import AnyCondition, Experiment, QueuedRun, queue_runs
from smgrnn.batch.store import Store
from smgrnn.errors import ConfigError, GrowthLimitWarning
from smgrnn.interrupts import interrupts_deferred
from smgrnn.runs.record import Record
from smgrnn.runs.session import Watch

RETRIES = 2
"""Times that a run whose worker was lost is run again."""
LOOK_SECONDS = 1.0
"""Longest time between two reports of progress."""


class OtherWorkerError(ConfigError):
    """A worker would answer another question than its driver asked."""


class Failure(NamedTuple):
    """A run that has no record: it raised an error, or no worker could run it."""

    name: str
    """Name of the run."""
    error: str
    """The error in one line."""
    details: str
    """Its traceback."""
    is_own: bool
    """Whether the run itself raised it, and so would again on any worker."""
    key: str
    """The key of its plan."""


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
    """Rough seconds still to go; None as long as no run has finished."""
    latest: tuple[str, Record] | None = None
    """The run that finished last, its name and its record."""
    failures: list[Failure] = field(default_factory=list)
    """Runs that failed."""


def execute(condition: AnyCondition, seed: int, key: str) -> Record:
    """Run a condition with a seed, in any process, and return its record.

    The key is computed again here: a worker with another version or another expert would answer
    another question than the one that was asked.
    """
    plan = condition.plan(seed)
    if plan.key() != key:
        raise OtherWorkerError("A worker has another smgrnn, or other experts, than its driver.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrowthLimitWarning)  # it is on record
        return replace(condition.train(plan), resume=None)


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
    progress = Progress(n_runs=len(runs), n_found=len(runs) - len(missing))
    session = _Session(store, executor, retries, progress)
    session.drive(missing, watch or (lambda _: None))
    return progress


class _Session:
    """The runs that are under way, and the handling of their results."""

    def __init__(self, store: Store, executor: Executor, retries: int, progress: Progress) -> None:
        self._store, self._executor = store, executor
        self._retries, self._progress = retries, progress
        self._under_way: dict[Future[Record], QueuedRun] = {}
        self._ended: SimpleQueue[Future[Record]] = SimpleQueue()
        self._losses: Counter[str] = Counter()

    def drive(self, runs: list[QueuedRun], watch: Watch[Progress]) -> None:
        """Submit all runs, take in each as it ends, and give up the rest on an interrupt."""
        start, progress, expected = time.perf_counter(), self._progress, 0.0
        watch(progress)
        try:
            for run in runs:
                self._submit(run)
                expected += run.seconds
            while self._under_way:
                try:
                    future = self._ended.get(timeout=LOOK_SECONDS)
                except Empty:
                    pass
                else:
                    with interrupts_deferred():
                        self._take_in(future)
                progress.seconds = time.perf_counter() - start
                if progress.n_done:  # expected seconds, scaled by how long runs took so far
                    left = sum(run.seconds for run in self._under_way.values())
                    progress.seconds_left = progress.seconds * left / (expected - left)
                watch(progress)
        except (KeyboardInterrupt, ConfigError):  # the latter: nobody is left to run anything
            with interrupts_deferred():
                for future in [each for each in self._under_way if _succeeded(each)]:
                    self._take_in(future)
            raise
        finally:
            for future in self._under_way:
                future.cancel()
        progress.failures.sort()

    def _submit(self, run: QueuedRun) -> None:
        try:
            future = self._executor.submit(execute, run.condition, run.seed, run.key)
        except (BrokenExecutor, RuntimeError) as error:  # broken, or shut down
            self._fail(run, error, is_own=False)
            return
        self._under_way[future] = run
        future.add_done_callback(self._ended.put)

    def _take_in(self, future: Future[Record]) -> None:
        """Keep the record of a run that ended, run it again, or count it as failed."""
        run, progress = self._under_way.pop(future), self._progress
        error = CancelledError() if future.cancelled() else future.exception()
        if error is None:
            record = future.result()
            self._store.save(record)
            progress.n_done += 1
            progress.steps += record.spent.steps
            progress.latest = run.name, record
        elif not is_loss(error):
            self._fail(run, error, is_own=not isinstance(error, OtherWorkerError))
        else:
            progress.n_lost += 1
            self._losses[run.key] += 1
            if self._losses[run.key] <= self._retries:
                self._submit(run)
            else:
                self._fail(run, error, is_own=False)

    def _fail(self, run: QueuedRun, error: BaseException, *, is_own: bool) -> None:
        line = " ".join(str(error).split()) or type(error).__name__
        details = "".join(traceback.format_exception(error))
        self._progress.failures.append(Failure(run.name, line, details, is_own, run.key))


def _succeeded(future: Future[Record]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def is_loss(error: BaseException) -> bool:
    """Return whether it was the worker, or the way to it, that failed, not the run."""
    # Dask need not be installed to know the name of its error.
    is_killed = type(error).__name__ == "KilledWorker"
    # An error of the system has a number; those of Dask's connections have none.
    is_cut_off = isinstance(error, OSError) and error.errno is None
    is_lost = isinstance(error, BrokenExecutor | CancelledError | ConnectionError | TimeoutError)
    return is_killed or is_cut_off or is_lost
