"""A Dask cluster on this machine whose worker or scheduler is killed in the midst of a session."""

import asyncio
import os
import signal
import time
from pathlib import Path
from random import Random

from torture.children import Child, Ended, command
from torture.outcomes import Found, misbehaviour
from torture.works import Bench, Work, compared, end_of, losses

HOST = "127.0.0.1"
LONGEST = 120.0
"""Seconds within which a cluster must be there."""


def kill_a_cluster(rng: Random, bench: Bench) -> list[Found]:
    """Kill a worker, or the scheduler and then the rest; the same command goes on with another."""
    work = next(each for each in bench.works if each.name == "reproduce")
    folder, victim = bench.new_folder(), rng.choice(["worker", "scheduler"])
    ended = _session(work, folder, victim, rng.uniform(0, 2 * bench.undisturbed(work).cpu))
    if found := misbehaviour(ended):
        return [found]
    before, lost = losses({}, folder)
    if lost:
        return [lost]
    if victim == "worker" and ended.code != 0:
        return [Found("stuck", f"a worker was killed: {ended.err.strip()[-300:]}")]
    if ended.code != 0:
        ended = _session(work, folder, None, 0.0)
        if found := misbehaviour(ended):
            return [found]
    if ended.code != 0:
        return [Found("stuck", ended.err.strip()[-300:])]
    _, lost = losses(before, folder)
    return [lost or compared(end_of(folder), bench.undisturbed(work).end)]


def _session(work: Work, folder: Path, victim: str | None, after: float) -> Ended:
    """Run a command on a cluster of its own, one of which is killed."""
    told = folder.with_name(f"{folder.name}.address")
    scheduler = Child(lambda: asyncio.run(_schedule(told)), folder, "scheduler")
    helpers = [scheduler]
    try:
        end = time.monotonic() + LONGEST
        while not told.exists():
            assert time.monotonic() < end, "There is no scheduler."
            time.sleep(0.01)
        address = told.read_text()
        workers = [Child(lambda: asyncio.run(_work(address)), folder, f"w{n}") for n in range(2)]
        helpers += workers
        words = tuple(word for word in work.words if word not in ("--jobs", "1"))
        driver = Child(command((*words, "--scheduler", address)), folder, "driver")
        if victim is not None:
            while driver.is_running and driver.cpu < after:
                time.sleep(0.001)
            (scheduler if victim == "scheduler" else workers[0]).send(signal.SIGKILL)
        return driver.wait()
    finally:
        for each in helpers:
            if each.is_running:
                each.send(signal.SIGKILL)
            each.wait()
        told.unlink(missing_ok=True)


async def _schedule(told: Path) -> None:
    from distributed import Scheduler

    async with Scheduler(host=HOST, port=0, dashboard=False) as scheduler:
        partial = told.with_name(f"{told.name}.partial")
        partial.write_text(scheduler.address)
        partial.rename(told)
        await scheduler.finished()


async def _work(address: str) -> None:
    from distributed import Worker

    os.environ["OMP_NUM_THREADS"] = "1"
    async with Worker(address, nthreads=1, dashboard=False) as worker:
        await worker.finished()
