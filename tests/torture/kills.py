"""Kills: SIGKILL and SIGINT at random moments, and SIGKILL at every call that changes a file.

A moment is one of CPU time, so that a busy machine kills where an idle one does.
"""

import os
import signal
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.runs.folder import RunFolder
from smgrnn_paper.commands import evolve
from torture.children import GLANCE, Child, Ended, Shared, command, program
from torture.filecalls import FileCalls
from torture.outcomes import Found, misbehaviour
from torture.works import (
    GENERATIONS,
    OUT,
    POPULATION,
    Bench,
    compared,
    end_of,
    endure,
    finish,
)

STARTING = 3.0
"""Seconds of CPU time that a program takes to start, roughly."""


def kill_at_random(rng: Random, bench: Bench) -> list[Found]:
    """Kill a command up to three times; it goes on each time."""
    return _strike(rng, bench, signal.SIGKILL)


def interrupt_at_random(rng: Random, bench: Bench) -> list[Found]:
    """Interrupt a command up to three times, as Ctrl-C does."""
    return _strike(rng, bench, signal.SIGINT)


def _strike(rng: Random, bench: Bench, number: int) -> list[Found]:
    work = rng.choice(bench.works)
    longest = bench.undisturbed(work).cpu
    moments = [rng.uniform(0, longest) for _ in range(rng.randint(1, 3))]
    strikes = [partial(_strike_once, number, moment) for moment in moments]
    return endure(bench, work, bench.new_folder(), list(strikes))


def _strike_once(number: int, after: float, words: tuple[str, ...], folder: Path) -> Ended:
    child = Child(command(words), folder)
    child.strike(number, after)
    return child.wait()


def strike_a_program(rng: Random, bench: Bench) -> list[Found]:
    """Kill or interrupt a command that starts as a user's does, mostly while it starts."""
    work = rng.choice([each for each in bench.works if each.name != "reproduce"])
    number, after = rng.choice([signal.SIGKILL, signal.SIGINT]), rng.uniform(0, STARTING)

    def disturb(words: tuple[str, ...], folder: Path) -> Ended:
        child = Child(program(words), folder)
        child.strike(number, after)
        ended = child.wait()
        is_pythons = "Traceback" in ended.err and f"{os.sep}smgrnn{os.sep}" not in ended.err
        return ended._replace(err="") if is_pythons else ended  # no code of ours had begun

    return endure(bench, work, bench.new_folder(), [disturb])


def kill_at_every_call(bench: Bench, number: int) -> list[Found]:
    """Kill a command at the next of all calls that change a file: case `number` of them."""
    for work in bench.works:
        n_calls = bench.undisturbed(work).n_calls
        if number < n_calls:
            return endure(bench, work, bench.new_folder(), [partial(kill_at_call, number + 1)])
        number -= n_calls
    return []


def kill_at_call(n: int, words: tuple[str, ...], folder: Path) -> Ended:
    """Kill a command just before its n-th call that changes a file."""

    def strike(_: str, at: int) -> None:
        if at == n:
            os.kill(os.getpid(), signal.SIGKILL)

    return Child(command(words, FileCalls(strike).install), folder).wait()


def kill_by_generation(rng: Random, bench: Bench) -> list[Found]:
    """Kill a search when some generations are done: at most the last of them is lost."""
    work = rng.choice([each for each in bench.works if each.words[0] == "evolve"])
    folder, done = bench.new_folder(), Shared()
    last = rng.randint(2, GENERATIONS) * POPULATION

    def watch(_: Any, evolution: Any) -> None:
        done.value = evolution.episodes.n
        if done.value >= last:
            os.kill(os.getpid(), signal.SIGKILL)

    def install() -> None:
        evolve.show = watch  # type: ignore[assignment]

    ended = Child(command(work.words, install), folder).wait()
    if found := misbehaviour(ended):
        return [found]
    there = RunFolder(folder / OUT).load().episodes.n
    if there < done.value - POPULATION:
        return [Found("lost", f"{work.name}: {done.value} candidates had played, {there} are kept")]
    return [finish(bench, work, folder)]


def kill_a_worker(rng: Random, bench: Bench) -> list[Found]:
    """Kill a process that works for `reproduce`; the same command runs its run again."""
    work = next(each for each in bench.works if each.name == "reproduce")
    expected, folder = bench.undisturbed(work), bench.new_folder()
    child, victims = Child(command(work.words), folder), list[int]()
    while child.is_running and not victims:
        time.sleep(GLANCE)
        victims = _workers(child.pid)
    time.sleep(rng.uniform(0, STARTING))  # the driver only waits, so its CPU time says nothing
    victims = _workers(child.pid)
    for pid in victims[:1]:
        os.kill(pid, signal.SIGKILL)
    ended = child.wait()
    if found := misbehaviour(ended):
        return [found]
    if ended.code != 0:
        return [Found("lost", ended.err.strip()[-300:])]
    return [compared(end_of(folder), expected.end)] * len(victims[:1])


def _workers(driver: int) -> list[int]:
    """Return the worker processes of a driver."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            is_worker = b"loky.backend.popen" in path.with_name("cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == driver and fields[0] != "Z" and is_worker:
            found.append(int(path.parent.name))
    return found
