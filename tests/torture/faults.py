"""The table of faults: every kind by name, and the share of a session's time that it gets."""

import signal
from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from torture.children import Found
from torture.disks import cut_power, starve
from torture.inputs import odd_inputs
from torture.kills import kill_at_every_call, strike_at_random, two_at_once
from torture.neighbours import (
    clock_jumps,
    cold_cache,
    forking_environment,
    full_tmpfs,
    killed_parent,
    odd_paths,
    second_user,
)
from torture.surroundings import (
    forged_number,
    hostile_folder,
    odd_requests,
    raising_handlers,
    strange_surroundings,
    threads_on_one_learner,
)
from torture.works import Bench

Run = Callable[[str, int, Bench], list[Found]]
"""Runs case number n of a seed."""


class Fault(NamedTuple):
    """A fault, its share of the time beside the others', and its cases in a short session."""

    name: str
    share: float
    run: Run
    n_short: int = 1
    kind: str = ""
    """Whether its cases are counted as kills or as bad inputs ("kill", "input")."""


def _drawn(case: Callable[[Random, Bench], list[Found]]) -> Run:
    return lambda seed, number, bench: case(Random(f"{seed}/{number}"), bench)


FAULTS = [
    Fault("SIGKILL at random", 6, _drawn(partial(strike_at_random, signal.SIGKILL)), kind="kill"),
    Fault("SIGINT at random", 4, _drawn(partial(strike_at_random, signal.SIGINT)), kind="kill"),
    Fault("SIGKILL at every call on files", 7, kill_at_every_call, n_short=4, kind="kill"),
    Fault("SIGTERM at random", 2, _drawn(partial(strike_at_random, signal.SIGTERM)), 0, "kill"),
    Fault("SIGHUP at random", 1, _drawn(partial(strike_at_random, signal.SIGHUP)), 0, "kill"),
    Fault("SIGSTOP at random", 1, _drawn(partial(strike_at_random, signal.SIGSTOP)), 0),
    Fault("parent killed", 1, _drawn(killed_parent), 0, "kill"),
    Fault("two begin one folder", 1, _drawn(partial(two_at_once, "begin"))),
    Fault("two go on with one folder", 1, _drawn(partial(two_at_once, "resume"))),
    Fault("two run the same command", 1, _drawn(partial(two_at_once, "twice")), 0),
    Fault("two drivers on one store", 1, _drawn(partial(two_at_once, "store")), 0),
    Fault("two fill a cold cache", 1, _drawn(cold_cache), 0),
    Fault("two users of one folder", 1, _drawn(second_user), 0, "kill"),
    Fault("disk full, read-only or broken", 2, _drawn(starve)),
    Fault("disk full (tmpfs)", 1, _drawn(full_tmpfs), 0),
    Fault("power cut", 2, _drawn(cut_power), kind="kill"),
    Fault("clock jumps", 1, _drawn(clock_jumps), 0, "kill"),
    Fault("strange surroundings", 1, _drawn(strange_surroundings)),
    Fault("odd paths", 1, _drawn(odd_paths), 0, "input"),
    Fault("odd settings", 1, partial(odd_inputs, "settings"), 0, "input"),
    Fault("odd files", 3, partial(odd_inputs, "files"), 0, "input"),
    Fault("forged number", 1, _drawn(forged_number), 0, "input"),
    Fault("hostile folder", 2, _drawn(hostile_folder), 0, "input"),
    Fault("odd requests", 1, _drawn(odd_requests), kind="input"),
    Fault("handlers that raise", 1, _drawn(raising_handlers), 0),
    Fault("threads on one learner", 1, _drawn(threads_on_one_learner), 0),
    Fault("environments that fork", 1, _drawn(forking_environment), 0),
]
