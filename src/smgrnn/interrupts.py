"""Ctrl-C: put off while a state is not whole, and not waited for while there is nothing to save.

Compiled code that hands a named tuple back to Python runs Python to build it.  An interrupt that
strikes there crashes the process, and one that strikes between two halves of an edit would leave
the network half edited.  One that strikes while a command starts would end in the midst of an
import or of the compiler, with a traceback or an abort; there the process just ends.
"""

import os
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


INTERRUPTED = 130
"""Exit code of a command that a Ctrl-C ended."""


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


def leave_on_interrupt() -> None:
    """Let a Ctrl-C end the process at once, unless it is ignored, as by a job of a shell."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Let a Ctrl-C raise KeyboardInterrupt again in a block that saves what it has."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)
