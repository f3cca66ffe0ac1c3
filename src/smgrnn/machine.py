"""The machine: its cores and its memory."""

import os
import sys
from pathlib import Path
from zipfile import ZipFile

from rich.filesize import decimal

from smgrnn.errors import ConfigError


def check_memory(n_bytes: float, what: str) -> None:
    """Refuse sizes that exceed the memory of the machine, where that is known."""
    try:
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if n_bytes > most:
        size = decimal(int(n_bytes))
        raise ConfigError(f"{what} would take {size} of memory; this machine has {decimal(most)}.")


def check_archive(path: Path) -> None:
    """Refuse a zip file that would unpack to more than a hundred times its size."""
    with ZipFile(path) as archive:
        n_bytes = sum(each.file_size for each in archive.infolist())
    if n_bytes > max(100 * path.stat().st_size, 2**26):
        raise ConfigError(
            f"{path} would unpack to {decimal(n_bytes)}, over a hundred times its size. Save it "
            f"uncompressed."
        )


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
