"""Ctrl-C: deferred while a state is incomplete, and immediate while there is nothing to save.

A signal between two halves of an edit would leave the network half edited.  One while a command
starts would interrupt an import or the compiler, with a traceback or an abort.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = "SIGINT SIGTERM SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF"
_DEFERRED = [getattr(signal, name) for name in _NAMES.split() if hasattr(signal, name)]
"""Signals whose handlers may raise."""
_deferring: list[bool] = []
"""Not empty inside a block that defers them."""
Handlers = dict[signal.Signals, Callable[[int, FrameType | None], Any]]


@contextmanager
def interrupts_deferred() -> Iterator[Callable[[], None]]:
    """Let a Ctrl-C, or another signal with a Python handler, take effect after the block.

    Or before, wherever the block calls what it is given: there its state is whole.
    """
    if _deferring or threading.current_thread() is not threading.main_thread():
        yield lambda: None  # deferred by a block around this one; or Python delivers them elsewhere
        return
    arrived: list[int] = []
    former = {each: signal.getsignal(each) for each in _DEFERRED}
    handlers: Handlers = {each: handler for each, handler in former.items() if callable(handler)}

    def deliver() -> None:
        while arrived:
            number = arrived.pop(0)
            handlers[signal.Signals(number)](number, None)

    try:
        for each in handlers:
            signal.signal(each, lambda number, _: arrived.append(number))
        _deferring.append(True)
        yield deliver
    finally:
        _deferring.clear()
        _resume(handlers, arrived)


def _resume(handlers: Handlers, arrived: list[int]) -> None:
    """Put handlers back and deliver signals; one that raises does not keep the others from it."""
    try:
        for each, handler in list(handlers.items()):
            signal.signal(each, handler)
            del handlers[each]
        while arrived:
            signal.raise_signal(arrived.pop(0))
    finally:
        if handlers or arrived:
            _resume(handlers, arrived)


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
