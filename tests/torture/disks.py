"""Disks: full or read-only, on a small tmpfs where mounts are allowed, else by a shim."""

import ctypes
import errno
import os
import signal
import subprocess
from functools import cache
from pathlib import Path
from random import Random

from torture.children import Child, Ended, command
from torture.filecalls import FileCalls
from torture.outcomes import Found, misbehaviour
from torture.works import Bench, Work, compared, end_of, finish, losses

CLONE_NEWNS = 0x20000
ROOMY = "64m"
TAKES_ROOM = {"open", "write", "mkdir", "link"}
"""Calls that fail on a full disk; on a read-only one all do."""


@cache
def mounts_are_allowed() -> bool:
    """Return whether this process may mount; if so its mounts are its own from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() or libc.unshare(CLONE_NEWNS):
        return False
    return _run("mount", "--make-rprivate", "/")


def _run(*words: str) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def mount(*words: str) -> None:
    """Mount, or fail."""
    assert _run("mount", *words), f"mount {' '.join(words)} failed"


def unmount(folder: Path) -> None:
    """Unmount at once."""
    assert _run("umount", "-l", str(folder)), f"umount {folder} failed"


def fill_a_tmpfs(rng: Random, bench: Bench) -> list[Found]:
    """Run a command on a disk that fills up under it, then give it room."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    room = rng.choice(range(4, 400, 4))
    mount("-t", "tmpfs", "-o", f"size={room}k", "tmpfs", str(folder))
    try:
        ended = Child(command(work.words), folder).wait()
        mount("-o", f"remount,size={ROOMY}", str(folder))
        return [_after_refusal(bench, work, folder, ended)]
    finally:
        unmount(folder)


def write_protect_a_tmpfs(rng: Random, bench: Bench) -> list[Found]:
    """Kill a command, let it go on where nothing can be written, then where it can."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    mount("-t", "tmpfs", "-o", f"size={ROOMY}", "tmpfs", str(folder))
    try:
        child = Child(command(work.words), folder)
        child.strike(signal.SIGKILL, rng.uniform(0, bench.undisturbed(work).cpu))
        if child.wait().code == 0:  # it was done
            return []
        mount("-o", "remount,ro", str(folder))
        ended = Child(command(work.again(folder)), folder).wait()
        mount("-o", "remount,rw", str(folder))
        return [_after_refusal(bench, work, folder, ended)]
    finally:
        unmount(folder)


def starve_by_shim(rng: Random, bench: Bench) -> list[Found]:
    """Let every call fail, from a random one on, with the error of a full or a read-only disk."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    number = rng.choice([errno.ENOSPC, errno.EROFS, errno.EIO])
    first = rng.randint(1, bench.undisturbed(work).n_calls)

    def strike(name: str, at: int) -> None:
        if at >= first and (number != errno.ENOSPC or name in TAKES_ROOM):
            raise OSError(number, os.strerror(number), str(folder))

    ended = Child(command(work.words, FileCalls(strike).install), folder).wait()
    return [_after_refusal(bench, work, folder, ended)]


def _after_refusal(bench: Bench, work: Work, folder: Path, ended: Ended) -> Found:
    """Return how a command took it, and whether it goes on when all is well again."""
    if found := misbehaviour(ended):
        return found
    _, lost = losses({}, folder)
    if lost or ended.code:
        return lost or finish(bench, work, folder)
    return compared(end_of(folder), bench.undisturbed(work).end)
