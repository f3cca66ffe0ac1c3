"""Run the runs that a store lacks on any executor, and lose no finished one.

The store has a file for each record, named by the key of its plan.  Files are replaced as a whole,
so any number of processes may write and read; each carries a digest that reveals damage.
"""

import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import NamedTuple, Self

from smgrnn.batch.experiment import AnyCondition, Experiment, QueuedRun, queue_runs
from smgrnn.errors import ConfigError, FileFormatError, GrowthLimitWarning
from smgrnn.interrupts import interrupts_deferred
from smgrnn.runs.record import Record
from smgrnn.runs.session import Watch
from smgrnn.storage import make_folder, writing

RETRIES = 2  # times that a run whose worker was lost is run again


class Store:
    """Finished runs in a folder, by the keys of their plans."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[str, str] = {}
        """Records that `find` could not read, and why; saving them again repairs them."""

    def path(self, key: str) -> Path:
        """Return the file of a record, in one of 256 folders."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def find(self, key: str) -> Record | None:
        """Return a record if there is one that can be read."""
        try:
            return self.load(key)
        except FileFormatError as error:
            if self.path(key).exists():
                self.damaged[key] = str(error)
            return None

    def load(self, key: str) -> Record:
        """Return a record; raise FileFormatError if it is missing or damaged."""
        path = self.path(key)
        record = Record.load(path)
        if record.plan.key() != key:
            raise FileFormatError(f"{path} holds another run than its name says.")
        return record

    def save(self, record: Record) -> None:
        """Save a record, whole or not at all, in place of an earlier one of the same plan."""
        path = self.path(record.plan.key())
        make_folder(path.parent)
        record.save(path)

    def check_writable(self) -> None:
        """Make the folder; raise ConfigError if it cannot be written to."""
        make_folder(self.folder)
        with writing(self.folder):
            TemporaryFile(dir=self.folder).close()

    def lengths(self) -> dict[int, int]:
        """Return the lengths of the runs, in episodes, and the number of seeds of each."""
        seeds: dict[int, int] = {}
        for path in self.folder.glob("*/*.safetensors"):
            if (record := self.find(path.stem)) is not None:
                n = record.plan.n_episodes
                seeds[n] = max(seeds.get(n, 0), record.plan.seed + 1)
        return seeds

    def records(self, experiment: Experiment) -> dict[str, list[Record]]:
        """Return the records of an experiment by condition, in the order of the seeds."""
        found: dict[str, list[Record]] = {name: [] for name in experiment.conditions}
        for name, condition, seed in experiment.runs():
            if (record := self.find(condition.key(seed))) is not None:
                found[name].append(record)
        return found


class OtherWorkerError(ConfigError):
    """A worker has another smgrnn, or other experts, than its driver."""


class Failure(NamedTuple):
    """A run that has no record: it raised an error, or no worker could run it."""

    name: str
    error: str  # the error in one line
    details: str  # its traceback
    is_own: bool  # whether the run itself raised it, and so would again on any worker
    key: str  # the key of its plan

    @classmethod
    def of(cls, error: BaseException, name: str, key: str) -> Self:
        """Return the failure of a run by its error, whose own words may fail."""
        try:
            line = " ".join(str(error).split())
        except Exception:
            line = ""
        details = "".join(traceback.format_exception(error))
        is_own = not (is_loss(error) or isinstance(error, OtherWorkerError))
        return cls(name, line or type(error).__name__, details, is_own, key)


@dataclass
class Progress:
    """Progress of a session; at its end, the result."""

    n_runs: int  # runs that the experiments need
    n_found: int  # runs that the store had already
    n_done: int = 0  # runs that are in the store since
    n_lost: int = 0  # times that a run was lost with its worker
    steps: int = 0  # environment steps of the runs that are done
    seconds: float = 0.0  # seconds since the start
    latest: tuple[str, Record] | None = None  # name and record of the run that finished last
    failures: list[Failure] = field(default_factory=list)


def execute(condition: AnyCondition, seed: int, key: str) -> Record:
    """Return the record of a run, in any process; refuse a worker that would run another one."""
    plan = condition.plan(seed)
    if plan.key() != key:
        raise OtherWorkerError("A worker has another smgrnn, or other experts, than its driver.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrowthLimitWarning)  # it is on record
        return replace(condition.train(plan), resume=None)


def attempt(condition: AnyCondition, seed: int, key: str) -> Record | Failure:
    """Return the record of a run, or its error as text: not every error survives the way back."""
    try:
        return execute(condition, seed, key)
    except (Exception, SystemExit) as error:
        return Failure.of(error, "", key)


def run_experiments(
    experiments: Iterable[Experiment],
    store: Store,
    executor: Executor,
    *,
    watch: Watch[Progress] = lambda _: None,
) -> Progress:
    """Run every run that the experiments need and the store lacks; return the final progress.

    A run that fails does not stop the others, and a run whose worker is lost is run again.  After
    Ctrl-C, or if the executor is gone for good, finished runs are kept.  Only this process writes
    to the store.  The workers of the executor need this package; the caller shuts it down.  `watch`
    is called with the progress after every run, and once a second.
    """
    store.check_writable()
    runs = queue_runs(experiments)
    missing = [run for run in runs if store.find(run.key) is None]
    progress = Progress(n_runs=len(runs), n_found=len(runs) - len(missing))
    start = time.perf_counter()
    under_way: dict[Future[Record | Failure], QueuedRun] = {}
    ended: SimpleQueue[Future[Record | Failure]] = SimpleQueue()
    losses: Counter[str] = Counter()

    def submit(run: QueuedRun) -> None:
        try:
            future = executor.submit(attempt, run.condition, run.seed, run.key)
        except (BrokenExecutor, RuntimeError) as error:  # broken, or shut down
            failure = Failure.of(error, run.name, run.key)
            progress.failures.append(failure._replace(is_own=False))
        else:
            under_way[future] = run
            future.add_done_callback(ended.put)

    def take_in(future: Future[Record | Failure]) -> None:
        """Keep the record of a run that ended, run it again, or count it as failed."""
        run = under_way.pop(future)
        error = CancelledError() if future.cancelled() else future.exception()
        found = future.result() if error is None else Failure.of(error, run.name, run.key)
        if isinstance(found, Record):
            store.save(found)
            progress.n_done += 1
            progress.steps += found.spent.steps
            progress.latest = run.name, found
            return
        if error is not None and is_loss(error):
            progress.n_lost += 1
            losses[run.key] += 1
            if losses[run.key] <= RETRIES:
                submit(run)
                return
        progress.failures.append(found._replace(name=run.name))

    watch(progress)
    try:
        for run in missing:
            submit(run)
        while under_way:
            with suppress(Empty):
                future = ended.get(timeout=1.0)
                with interrupts_deferred():
                    take_in(future)
            progress.seconds = time.perf_counter() - start
            watch(progress)
    finally:  # after an interrupt, or when nobody is left to run anything
        with interrupts_deferred():
            for each in [each for each in under_way if not each.cancel()]:
                if each.done() and each.exception() is None:
                    take_in(each)
    progress.failures.sort()
    return progress


def is_loss(error: BaseException) -> bool:
    """Return whether the worker, or the way to it, failed, not the run."""
    is_killed = type(error).__name__ == "KilledWorker"  # of Dask, which need not be installed
    # An error of the system has a number; those of Dask's connections have none.
    is_cut_off = isinstance(error, OSError) and error.errno is None
    is_lost = isinstance(error, BrokenExecutor | CancelledError | ConnectionError | TimeoutError)
    return is_killed or is_cut_off or is_lost
