"""Forecast: how long the runs still to come will take, learned from those that are done."""

from collections import defaultdict
from collections.abc import Iterable

from smgrnn.batch.queue import QueuedRun

Group = tuple[str, str]


class Forecast:
    """Corrects the expected time of each task and variant by the time its finished runs took."""

    def __init__(self, runs: Iterable[QueuedRun]) -> None:
        self._open: dict[Group, float] = defaultdict(float)
        self._expected: dict[Group, float] = defaultdict(float)
        self._measured: dict[Group, float] = defaultdict(float)
        self._workers: set[str] = set()
        for run in runs:
            self._open[_group(run)] += run.seconds

    def finish(self, run: QueuedRun, seconds: float, worker: str) -> None:
        """Take note of a finished run."""
        self.drop(run)
        self._expected[_group(run)] += run.seconds
        self._measured[_group(run)] += seconds
        self._workers.add(worker)

    def drop(self, run: QueuedRun) -> None:
        """Remove a run that will not be run any more."""
        self._open[_group(run)] -= run.seconds

    def left(self, elapsed: float) -> float | None:
        """Return the seconds still to go after `elapsed` seconds, if any run has finished.

        It is all the work divided by the workers seen so far, less the time that has passed; so the
        work that unfinished runs have done already counts too.
        """
        if not self._workers:
            return None
        done = sum(self._measured.values())
        overall = done / sum(self._expected.values())
        to_come = 0.0
        for group, seconds in self._open.items():
            expected = self._expected.get(group)
            to_come += seconds * (self._measured[group] / expected if expected else overall)
        return max((done + to_come) / len(self._workers) - elapsed, 0.0)


def _group(run: QueuedRun) -> Group:
    return run.condition.task, run.condition.variant
