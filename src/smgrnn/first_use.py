"""First use: code is compiled before it runs, and kept until its source changes."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

_watches: list[Callable[[], None]] = []


@contextmanager
def watching_compilation(watch: Callable[[], None]) -> Iterator[None]:
    """Call `watch` once if something has to be compiled while the block runs."""
    _watches.append(watch)
    try:
        yield
    finally:
        if watch in _watches:
            _watches.remove(watch)


def tell_of_compilation() -> None:
    """Call every watch, once."""
    while _watches:
        _watches.pop()()


@cache
def package_stamp() -> tuple[Any, ...]:
    """Return Numba's version, and name, time and size of all files that kernels are made of.

    These are the files with kernels and those that they import from, such as constants.
    """
    home = Path(__file__).parent
    sources = {file: file.read_text(encoding="utf-8") for file in home.rglob("*.py")}
    found: set[Path] = set()
    for file, source in sources.items():
        if ".kernels import" in source:
            named = re.findall(rf"^ *from {home.name}\.([\w.]+) import", source, re.MULTILINE)
            found |= {file, *(home / f"{name.replace('.', '/')}.py" for name in named)}
    stats = ((file, file.stat()) for file in sorted(found & sources.keys()))
    return version("numba"), *((file.name, stat.st_mtime_ns, stat.st_size) for file, stat in stats)


def stamped(content: bytes) -> bytes:
    """Return a digest of compiled code that changes with the source too."""
    return sha256(repr(package_stamp()).encode() + content).digest()


@cache
def warn_uncached(why: str) -> None:
    """Warn, once, that compiled code cannot be kept."""
    warnings.warn(
        f"Compiled code cannot be kept: {why}. Every start compiles again, for ten seconds or "
        "more. Set NUMBA_CACHE_DIR to another folder.",
        stacklevel=2,
    )
