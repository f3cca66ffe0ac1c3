"""Deferral of Ctrl-C for the short while in which a state is not whole.

Compiled code that hands a named tuple back to Python runs Python to build it.  An interrupt that
strikes there crashes the process, and one that strikes between two halves of an edit would leave
the network half edited.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let a Ctrl-C take effect only when the block is left."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only
        return
    arrived: list[tuple[int, FrameType | None]] = []
    former = signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
    if arrived and callable(former):
        former(*arrived[0])
