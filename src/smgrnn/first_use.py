"""First use: who is to be told that code has to be compiled before it can run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
