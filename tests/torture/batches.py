"""Batches: many bad inputs in one child, each judged, with bounds on memory and time."""

import json
import resource
import signal
import traceback
from collections.abc import Callable
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.errors import SmgrnnError
from torture.children import Child
from torture.outcomes import BAD, Found
from torture.works import Bench

Case = Callable[[Random, Path], Found]
"""Makes one bad input in a folder and tries it; an error of ours is a refusal."""

MOST_MEMORY = 2 * 2**30
"""Bytes beyond what a child has already: what asks for more cannot be had."""
MOST_CPU = 30.0
"""Seconds of CPU time after which an input hangs."""


def batch(case: Case, seed: str, n: int, bench: Bench) -> list[Found]:
    """Try `n` inputs in a child; if it dies of one, the rest is left out."""
    folder, now = bench.new_folder(), RawValue("q")
    answers = folder.with_name(f"{folder.name}.answers")
    ended = Child(lambda: _try_all(case, seed, n, now, answers), folder).wait()
    lines = answers.read_text().splitlines() if answers.exists() else []
    found = [Found(*json.loads(line)) for line in lines]
    if ended.code == 0 and len(found) == n:
        return found
    words = f"input {now.value} of {seed}: {ended.err.strip()[-300:]}"
    is_hang = ended.code == -signal.SIGPROF or ended.is_hung
    return [*found, Found("hang" if is_hang else "crash", f"code {ended.code}, {words}")]


def _try_all(case: Case, seed: str, n: int, now: Any, answers: Path) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, whatever it does
    here = Path.cwd()
    with answers.open("a", buffering=1) as file:
        for number in range(n):
            now.value = number
            signal.setitimer(signal.ITIMER_PROF, MOST_CPU)
            found = judged(case, Random(f"{seed}/{number}"), here)
            if found.outcome in BAD:
                found = Found(found.outcome, f"input {number} of {seed}: {found.detail}")
            file.write(json.dumps(found) + "\n")
    signal.setitimer(signal.ITIMER_PROF, 0)


def judged(case: Case, rng: Random, folder: Path) -> Found:
    """Return what an input comes to."""
    try:
        return case(rng, folder)
    except SmgrnnError as error:
        return refusal(str(error))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-3:]
        where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in last[::-1])
        return Found("traceback", f"{type(error).__name__}: {str(error)[:200]} at {where}")


def refusal(sentence: str) -> Found:
    """Return whether a refusal is one sentence."""
    is_one = sentence.isprintable() and sentence.endswith((".", "?"))
    return Found("refused") if is_one else Found("wordy", ascii(sentence[-300:]))
