"""Kills: SIGKILL and SIGINT at random moments, SIGKILL at every call that changes a file, two at
once on one folder.

A moment is one of CPU time, so that a busy machine kills where an idle one does.
"""

import os
import signal
from functools import partial
from pathlib import Path
from random import Random

from torture.children import Child, Ended, Found, command, misbehaviour
from torture.filecalls import struck_at
from torture.works import Bench, Work, compared, end_of, endure


def strike_at_random(number: int, rng: Random, bench: Bench) -> list[Found]:
    """Kill or interrupt a command up to three times; it goes on each time."""
    work = rng.choice(bench.works)
    longest = bench.undisturbed(work).cpu

    def disturb(after: float, words: tuple[str, ...], folder: Path) -> Ended:
        return Child(command(words), folder).strike(number, after)

    moments = [rng.uniform(0, longest) for _ in range(rng.randint(1, 3))]
    return endure(bench, work, [partial(disturb, moment) for moment in moments])


def kill_at_every_call(seed: str, number: int, bench: Bench) -> list[Found]:
    """Kill a command at the next of all calls that change a file."""
    moments = [(work, n) for work in bench.works for n in range(bench.undisturbed(work).n_calls)]
    work, n = moments[(number + Random(seed).randrange(len(moments))) % len(moments)]
    return endure(bench, work, [partial(_kill_at_call, n + 1)])


def _kill_at_call(n: int, words: tuple[str, ...], folder: Path) -> Ended:
    return Child(command(words, struck_at(n, signal.SIGKILL)), folder).wait()


def two_at_once(kind: str, rng: Random, bench: Bench) -> list[Found]:
    """Stop a command at a call on files, run another to its end, and let the first go on.

    Of two runs that begin in one folder, or go on with it, one has it and the other is refused; two
    drivers fill one store together; a study or a sequence that is begun twice is finished once.
    """
    names = {"begin": ("distill", "evolve, neat", "sequence"), "twice": ("tune", "sequence")}
    names |= {"resume": ("distill",), "store": ("reproduce",)}
    resumes = kind == "resume"
    work = rng.choice(
        [e for e in bench.works if e.name in names[kind] and (e.way == "--resume") == resumes]
    )
    n_calls, folder = bench.undisturbed(work).n_calls, bench.new_folder()
    works = [work, work]
    if kind == "begin":
        works = [Work(work.name, (*work.words, "--seed", str(seed))) for seed in (1, 2)]
    elif resumes:
        _kill_at_call(rng.randint(n_calls // 3, n_calls // 2), work.words, folder)
    stop = rng.randint(1, n_calls // 3 if resumes else n_calls)
    first, second = (each.again(folder) for each in works)
    waiting = Child(command(first, struck_at(stop, signal.SIGSTOP)), folder, "first")
    is_stopped = waiting.wait_stopped()
    other = Child(command(second), folder, "second").wait()
    if is_stopped:
        os.kill(waiting.pid, signal.SIGCONT)
    ended = [waiting.wait(), other]
    if found := next(filter(None, map(misbehaviour, ended)), None):
        return [found]
    winners = [each for each, end in zip(works, ended, strict=True) if end.code == 0]
    expected = {"store": (2,), "twice": (1, 2)}.get(kind, (1,))
    if len(winners) not in expected:
        codes = ", ".join(f"{each.code} {each.err}" for each in ended)
        return [Found("lost", f"{work.name}, stopped at call {stop}: {codes}")]
    return [compared(end_of(folder), bench.undisturbed(winners[0]).end)]
