"""First use: code has to be compiled before it can run, and is kept until its source changes."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
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
    """Call those who want to know, each once.

    >>> with watching_compilation(lambda: print("compiling")):
    ...     tell_of_compilation()
    ...     tell_of_compilation()
    compiling
    """
    while _watches:
        _watches.pop()()


@cache
def package_stamp() -> tuple[Any, ...]:
    """Return Numba's version, and name, time and size of all files with kernels."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    found = ((file, file.stat()) for file in files if b".kernels import" in file.read_bytes())
    return version("numba"), *((file.name, stat.st_mtime_ns, stat.st_size) for file, stat in found)


@cache
def warn_uncached(why: str) -> None:
    """Warn, once, that compiled code cannot be kept."""
    warnings.warn(
        f"Compiled code cannot be kept: {why}. Every start compiles again, for ten seconds or "
        f"more; NUMBA_CACHE_DIR can name another folder.",
        stacklevel=2,
    )
