"""The table of faults: every kind by name, and the share of a session's time that it gets."""

import signal
from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from torture.children import Found
from torture.disks import cut_power, starve
from torture.kills import kill_at_every_call, strike_at_random, two_at_once
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


def _drawn(case: Callable[[Random, Bench], list[Found]]) -> Run:
    return lambda seed, number, bench: case(Random(f"{seed}/{number}"), bench)


FAULTS = [
    Fault("SIGKILL at random", 4, _drawn(partial(strike_at_random, signal.SIGKILL))),
    Fault("SIGINT at random", 3, _drawn(partial(strike_at_random, signal.SIGINT))),
    Fault("SIGKILL at every call on files", 4, kill_at_every_call, n_short=4),
    Fault("two begin one folder", 1, _drawn(partial(two_at_once, "begin"))),
    Fault("two go on with one folder", 1, _drawn(partial(two_at_once, "resume"))),
    Fault("two drivers on one store", 1, _drawn(partial(two_at_once, "store")), n_short=0),
    Fault("disk full, read-only or broken", 2, _drawn(starve)),
    Fault("power cut", 2, _drawn(cut_power)),
    Fault("SIGTERM at random", 1, _drawn(partial(strike_at_random, signal.SIGTERM)), n_short=0),
    Fault("SIGHUP at random", 1, _drawn(partial(strike_at_random, signal.SIGHUP)), n_short=0),
    Fault("SIGSTOP at random", 1, _drawn(partial(strike_at_random, signal.SIGSTOP)), n_short=0),
    Fault("strange surroundings", 2, _drawn(strange_surroundings)),
    Fault("forged number", 2, _drawn(forged_number), n_short=0),
    Fault("hostile folder", 1, _drawn(hostile_folder), n_short=0),
    Fault("handlers that raise", 1, _drawn(raising_handlers), n_short=0),
    Fault("threads on one learner", 1, _drawn(threads_on_one_learner), n_short=0),
    Fault("odd requests", 1, _drawn(odd_requests)),
]
