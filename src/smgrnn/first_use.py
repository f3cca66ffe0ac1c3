"""First use: code is compiled before it runs, and kept until its source changes."""

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
    """Return Numba's version, and name, time and size of all files with kernels."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    found = ((file, file.stat()) for file in files if b".kernels import" in file.read_bytes())
    return version("numba"), *((file.name, stat.st_mtime_ns, stat.st_size) for file, stat in found)


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
