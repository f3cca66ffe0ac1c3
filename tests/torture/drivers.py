"""Two at once: one command is stopped at a call, another one does all it can, the first goes on."""

import os
import signal
from functools import partial
from pathlib import Path
from random import Random

from torture.children import Child, Ended, command
from torture.filecalls import FileCalls
from torture.kills import kill_at_call
from torture.outcomes import Found, misbehaviour
from torture.works import Bench, Work, compared, end_of


def begin_twice(rng: Random, bench: Bench) -> list[Found]:
    """Begin two runs of different seeds in one new folder: one has it, the other is refused."""
    base = rng.choice([each for each in bench.works if each.name in ("distill", "evolve, neat")])
    works = [Work(base.name, (*base.words, "--seed", str(seed))) for seed in (1, 2)]
    folder, stop = bench.new_folder(), rng.randint(1, bench.undisturbed(base).n_calls)
    ended = _interleave(works[0].words, works[1].words, folder, stop)
    if found := next(filter(None, map(misbehaviour, ended)), None):
        return [found]
    winners = [work for work, each in zip(works, ended, strict=True) if each.code == 0]
    if len(winners) != 1:
        return [
            Found("lost", f"{base.name}, stopped at call {stop}: {len(winners)} had the folder")
        ]
    return [compared(end_of(folder), bench.undisturbed(winners[0]).end)]


def go_on_twice(rng: Random, bench: Bench) -> list[Found]:
    """Go on twice with one killed run: one of them owns it, the other is refused."""
    work = next(each for each in bench.works if each.way == "--resume")
    n_calls, folder = bench.undisturbed(work).n_calls, bench.new_folder()
    kill_at_call(rng.randint(n_calls // 3, n_calls // 2), work.words, folder)
    words, stop = work.again(folder), rng.randint(1, n_calls // 3)
    ended = _interleave(words, words, folder, stop)
    if found := next(filter(None, map(misbehaviour, ended)), None):
        return [found]
    if sorted(each.code for each in ended) != [0, 2]:
        codes = ", ".join(f"{each.code} {each.err}" for each in ended)
        return [Found("lost", f"stopped at call {stop}: {codes}")]
    return [compared(end_of(folder), bench.undisturbed(work).end)]


def store_twice(rng: Random, bench: Bench) -> list[Found]:
    """Let two drivers fill one store: both end well, and every record is whole."""
    work = next(each for each in bench.works if each.name == "reproduce")
    folder, stop = bench.new_folder(), rng.randint(1, bench.undisturbed(work).n_calls)
    ended = _interleave(work.words, work.words, folder, stop)
    if found := next(filter(None, map(misbehaviour, ended)), None):
        return [found]
    if any(each.code for each in ended):
        return [Found("lost", " ".join(each.err for each in ended))]
    return [compared(end_of(folder), bench.undisturbed(work).end)]


def _interleave(
    first: tuple[str, ...], second: tuple[str, ...], folder: Path, stop: int
) -> tuple[Ended, Ended]:
    """Stop the first command at a call, run the second to its end, and let the first go on."""
    calls = FileCalls(partial(_stop_at, stop))
    waiting = Child(command(first, calls.install), folder, "first")
    is_stopped = waiting.wait_stopped()
    other = Child(command(second), folder, "second").wait()
    if is_stopped:
        os.kill(waiting.pid, signal.SIGCONT)
    return waiting.wait(), other


def _stop_at(n: int, _: str, at: int) -> None:
    if at == n:
        os.kill(os.getpid(), signal.SIGSTOP)
