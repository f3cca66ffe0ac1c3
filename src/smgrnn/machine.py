"""The machine: its cores and its memory."""

import os
import sys
from pathlib import Path
from zipfile import ZipFile

from smgrnn.errors import ConfigError

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def check_memory(n_bytes: float, what: str) -> None:
    """Refuse sizes that exceed the memory of the machine, where that is known."""
    try:
        most = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return
    if n_bytes > most:
        raise ConfigError(
            f"{what} would take {in_words(n_bytes)} of memory; this machine has {in_words(most)}."
        )


def check_archive(path: Path) -> None:
    """Refuse a zip file that would unpack to more than a hundred times its size."""
    with ZipFile(path) as archive:
        n_bytes = sum(each.file_size for each in archive.infolist())
    if n_bytes > max(100 * path.stat().st_size, 2**26):
        raise ConfigError(
            f"{path} would unpack to {in_words(n_bytes)}, over a hundred times its size. Save it "
            f"uncompressed."
        )


def in_words(n_bytes: float) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> in_words(320), in_words(2.4e11)
    ('320 bytes', '240.0 GB')
    """
    place = 0
    while n_bytes >= 1000 and place < len(_UNITS) - 1:
        n_bytes, place = n_bytes / 1000, place + 1
    return f"{n_bytes:.1f} {_UNITS[place]}" if place else f"{n_bytes:.0f} bytes"


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
