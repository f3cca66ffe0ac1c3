"""The table of faults: every kind by name, and the share of a session's time that it gets."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from torture.batches import Case, batch
from torture.cluster import kill_a_cluster
from torture.crafted import crafted_folder
from torture.disks import (
    fill_a_tmpfs,
    mounts_are_allowed,
    starve_by_shim,
    write_protect_a_tmpfs,
)
from torture.drivers import begin_twice, go_on_twice, store_twice
from torture.environments import environment_cases
from torture.files import file_cases
from torture.flags import flag_cases
from torture.flips import damage_compiled_code, flip_cases
from torture.kills import (
    interrupt_at_random,
    kill_a_worker,
    kill_at_every_call,
    kill_at_random,
    kill_by_generation,
    strike_a_program,
)
from torture.outcomes import Found
from torture.power import cut_by_image, cut_by_shim
from torture.settings import settings_cases
from torture.works import Bench

FILES = "files"
"""Folder of a bench with a whole file of every kind."""

SHORTER = 10
"""How many times fewer inputs a batch of a short session has."""


class Fault(NamedTuple):
    """A kind of fault."""

    name: str
    share: float
    """Share of the time, beside the others'."""
    run: Callable[[str, int, Bench], list[Found]]
    """Runs case number n of a seed."""
    needs_mounts: bool = False
    needs_cache: bool = False
    """Whether it damages compiled code, which must then be in a folder of its own."""
    n_short: int = 1
    """Cases in a short session; none of those that take seconds."""


def _drawn(
    case: Callable[[Random, Bench], list[Found]],
) -> Callable[[str, int, Bench], list[Found]]:
    return lambda seed, number, bench: case(Random(f"{seed}/{number}"), bench)


def _every_call(seed: str, number: int, bench: Bench) -> list[Found]:
    total = sum(bench.undisturbed(work).n_calls for work in bench.works)
    return kill_at_every_call(bench, (number + Random(seed).randrange(total)) % total)


def _batched(cases: Callable[[Path], Case], n: int) -> Callable[[str, int, Bench], list[Found]]:
    def run(seed: str, number: int, bench: Bench) -> list[Found]:
        few = n if bench.is_long else n // SHORTER
        return batch(cases(bench.folder / FILES), f"{seed}/{number}", few, bench)

    return run


FAULTS = [
    Fault("SIGKILL at random", 4, _drawn(kill_at_random)),
    Fault("SIGINT at random", 3, _drawn(interrupt_at_random)),
    Fault("SIGKILL at every call on files", 4, _every_call, n_short=4),
    Fault("SIGKILL of a search by generation", 1, _drawn(kill_by_generation)),
    Fault("SIGKILL or SIGINT at start-up", 1, _drawn(strike_a_program), n_short=0),
    Fault("SIGKILL of a worker process", 1, _drawn(kill_a_worker), n_short=0),
    Fault("two begin one folder", 1, _drawn(begin_twice)),
    Fault("two go on with one folder", 1, _drawn(go_on_twice)),
    Fault("two drivers on one store", 1, _drawn(store_twice), n_short=0),
    Fault("Dask worker or scheduler killed", 1, _drawn(kill_a_cluster), n_short=0),
    Fault("disk full (tmpfs)", 1, _drawn(fill_a_tmpfs), needs_mounts=True),
    Fault("disk read-only (tmpfs)", 1, _drawn(write_protect_a_tmpfs), needs_mounts=True),
    Fault("disk full, read-only or broken (shim)", 1, _drawn(starve_by_shim)),
    Fault("power cut (ext4 image)", 1, _drawn(cut_by_image), needs_mounts=True, n_short=0),
    Fault("power cut (shim)", 1, _drawn(cut_by_shim)),
    Fault("bits flipped in files", 0.5, _batched(flip_cases, 500)),
    Fault("compiled code damaged", 1, _drawn(damage_compiled_code), needs_cache=True, n_short=0),
    Fault("folders crafted to run code", 1, _drawn(crafted_folder), n_short=4),
    Fault("odd files", 1, _batched(file_cases, 200)),
    Fault("odd settings", 1, _batched(settings_cases, 100)),
    Fault("odd command lines", 1, _batched(flag_cases, 50)),
    Fault("odd environments", 1, _batched(environment_cases, 100)),
]


def possible_faults() -> list[Fault]:
    """Return the faults that can be had here."""
    has_mounts, has_cache = mounts_are_allowed(), "NUMBA_CACHE_DIR" in os.environ
    return [
        fault
        for fault in FAULTS
        if (has_mounts or not fault.needs_mounts) and (has_cache or not fault.needs_cache)
    ]
