"""What worker processes are asked to do, in a module that they import in no time."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smgrnn.errors import ConfigError

PATIENCE = 900.0
"""Seconds after which a test gives up waiting: however busy the machine, more than it takes."""


def fail(sentence: str) -> None:
    raise ConfigError(sentence)


def interrupt_self() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def tell_and_wait(folder: Path) -> int:
    """Write the id of this process into a folder, and return it once the folder has a "go"."""
    (folder / str(os.getpid())).touch()
    wait_for((folder / "go").exists)
    return os.getpid()


def told(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdigit()]


def wait_for(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "It never came to be."
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return whether a process is running, zombies not counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
