"""A session: cases of every kind of fault, in several processes, until the time is out."""

import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from torture.faults import FILES, Fault, possible_faults
from torture.files import kinds
from torture.outcomes import Found, Table
from torture.warm import warm_up
from torture.works import Bench


@dataclass(frozen=True, kw_only=True)
class Session:
    """What is drawn, from which seed and for how long."""

    seed: str
    folder: Path
    seconds: float
    only: str = ""
    """Words that the names of faults must have."""
    case: int | None = None
    """The one case to run."""
    is_short: bool = False
    """Whether a few fixed cases are all, of faults that take no time."""

    def run(self, n_jobs: int) -> Table:
        """Return the outcomes of all cases that `n_jobs` processes get to."""
        faults = self._faults()
        bench = Bench(self.folder / "bench", is_long=not self.is_short)
        warm_up(*(work.words for work in bench.works if work.name != "reproduce"))
        (bench.folder / FILES).mkdir()
        kinds(bench.folder / FILES)
        end, table = time.monotonic() + self.seconds, Table()
        answers = [self.folder / f"{job}.json" for job in range(n_jobs)]
        pids = [self._fork(job, n_jobs, faults, bench, end, answers[job]) for job in range(n_jobs)]
        for pid, answer in zip(pids, answers, strict=True):
            os.waitpid(pid, 0)
            table.join(Table.of(json.loads(answer.read_text())))
        return table

    def _faults(self) -> list[Fault]:
        found = [fault for fault in possible_faults() if self.only in fault.name]
        if not found:
            sys.exit(f"There is no fault {self.only!r}.")
        return [fault for fault in found if fault.n_short or not self.is_short]

    def _fork(
        self, job: int, n_jobs: int, faults: list[Fault], bench: Bench, end: float, answer: Path
    ) -> int:
        pid = os.fork()
        if pid:
            return pid
        table = Table()
        try:
            bench.name = f"{job}"
            self._draw(faults, bench, table, range(job, 10**9, n_jobs), end)
        except BaseException:
            table.add("the harness itself", [Found("traceback", traceback.format_exc())], "")
        answer.write_text(json.dumps({"counts": table.counts, "details": table.details}))
        os._exit(0)

    def _draw(
        self, faults: list[Fault], bench: Bench, table: Table, numbers: range, end: float
    ) -> None:
        """Take the fault that has had least of its share of the time, again and again."""
        spent = dict.fromkeys(faults, 0.0)
        turns = {fault: iter(numbers) for fault in faults}
        if self.case is not None:
            turns = {fault: iter([self.case]) for fault in faults}
        elif self.is_short:
            turns = {fault: iter(numbers[: fault.n_short]) for fault in faults}
        while turns and (self.is_short or self.case is not None or time.monotonic() < end):
            fault = min(turns, key=lambda each: spent[each] / each.share)
            number = next(turns[fault], None)
            if number is None:
                del turns[fault]
                continue
            start = time.monotonic()
            found = self._run(fault, number, bench)
            spent[fault] += time.monotonic() - start
            table.add(fault.name, found, f'SEED={self.seed} ONLY="{fault.name}" CASE={number}')

    def _run(self, fault: Fault, number: int, bench: Bench) -> list[Found]:
        try:
            return fault.run(f"{self.seed}/{fault.name}", number, bench)
        except Exception:
            return [Found("traceback", f"in the harness: {traceback.format_exc()[-800:]}")]
        finally:
            bench.clear()
