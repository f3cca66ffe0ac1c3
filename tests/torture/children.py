"""Children to kill: copies of this process, which has imported and compiled everything already."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from smgrnn.cli import main
from smgrnn.interrupts import leave_on_interrupt

PATIENCE = 600.0
"""Seconds after which a child counts as hung: however busy the machine, more than it takes."""
LOOK = 0.001
"""Seconds between two looks at a child."""


class Ended(NamedTuple):
    """Exit code, less than 0 after a signal; texts; CPU seconds; whether we sent a signal."""

    code: int
    out: str
    err: str
    cpu: float
    is_struck: bool
    is_hung: bool


GOOD = ("same", "refused", "worked", "missed")
"""The end of an undisturbed run; a sentence; what was odd was taken for what it is; a command had
ended before it could be killed."""


class Found(NamedTuple):
    """An outcome: of `GOOD`, or lost, changed, stuck, traceback, wordy, hang, crash or ran code."""

    outcome: str
    detail: str = ""


def misbehaviour(ended: Ended) -> Found | None:
    """Return what a process did that none may do, however it was treated; None if nothing."""
    text = ended.err.strip()
    if ended.is_hung:
        return Found("hang", text[-300:])
    if "Traceback (most recent call last)" in ended.out + ended.err:
        return Found("traceback", text[-500:])
    if ended.code < 0 and not ended.is_struck:
        return Found("crash", f"signal {-ended.code}: {text[-300:]}")
    if len(text.splitlines()) > 20:  # no sentence but a flood
        return Found("wordy", text[:300])
    return None


def sentence(ended: Ended) -> Found | None:
    """Return a refusal that is no sentence, with a hint at most; None for any other end."""
    is_refused = ended.code and not ended.is_struck
    is_wordy = is_refused and not 1 <= len(ended.err.strip().splitlines()) <= 2
    return Found("wordy", ended.err[-300:]) if is_wordy else None


class Child:
    """A process that does some work in a folder of its own, to be watched and killed."""

    def __init__(self, work: Callable[[], None], folder: Path, name: str = "child") -> None:
        self._texts = [folder.with_name(f"{folder.name}.{name}.{end}") for end in ("out", "err")]
        for path in self._texts:
            path.write_text("")  # it may be killed before it writes any
        self._is_struck = self._is_hung = False
        self._code: int | None = None
        self._cpu = 0.0
        self._end = time.monotonic() + PATIENCE
        self.pid = os.fork()
        if not self.pid:
            _be(work, folder, self._texts)

    @property
    def cpu(self) -> float:
        try:
            return time.clock_gettime((~self.pid << 3) | 2)  # the clock of another process
        except OSError:  # it has ended
            return self._cpu

    @property
    def is_running(self) -> bool:
        """Whether it has not ended; one that takes too long is ended here."""
        if self._code is not None:
            return False
        if time.monotonic() > self._end:
            self._is_hung = True
            os.kill(self.pid, signal.SIGKILL)
            os.kill(self.pid, signal.SIGCONT)
            self._end = time.monotonic() + PATIENCE
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid:
            self._code = os.waitstatus_to_exitcode(status)
            self._cpu = usage.ru_utime + usage.ru_stime
        return not pid

    def strike(self, number: int, after: float) -> Ended:
        """Send it a signal after so many seconds of CPU time, and return how it ended."""
        while self.is_running and self.cpu < after:
            time.sleep(LOOK)
        if self.is_running:
            os.kill(self.pid, number)
            if number == signal.SIGSTOP:
                time.sleep(10 * LOOK)
                os.kill(self.pid, signal.SIGCONT)
            self._is_struck = True
        return self.wait()

    def wait(self) -> Ended:
        while self.is_running:
            time.sleep(LOOK)
        assert self._code is not None
        out, err = (path.read_text(errors="replace") for path in self._texts)
        is_struck = self._is_struck or self._code == -signal.SIGKILL
        return Ended(self._code, out, err, self._cpu, is_struck, self._is_hung)

    def wait_stopped(self) -> bool:
        """Wait until it has stopped itself; return False if it ended instead."""
        while self.is_running:
            if Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                return True
            time.sleep(LOOK)
        return False


def command(words: Sequence[str], *prepare: Callable[[], object]) -> Callable[[], None]:
    """Return the work of a command, in a child that is a copy of this process."""

    def work() -> None:
        for each in prepare:
            each()
        sys.argv = ["smgrnn", *words]
        leave_on_interrupt()  # as `python -m smgrnn` does
        main()

    return work


def _be(work: Callable[[], None], folder: Path, texts: list[Path]) -> NoReturn:
    """Do the work in this new process, and end it."""
    code = 1
    try:
        for number, path in enumerate(texts, start=1):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, number)
        sys.stdout, sys.stderr = (os.fdopen(each, "w", closefd=False) for each in (1, 2))
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        code = 130
        if main.__code__ in {frame.f_code for frame, _ in traceback.walk_tb(sys.exc_info()[2])}:
            traceback.print_exc()  # it came in the midst of the command, not before
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
