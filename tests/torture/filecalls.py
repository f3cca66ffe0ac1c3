"""Calls on files, counted in a child of ours so that it can be killed or starved at any of them."""

import builtins
import inspect
import io
import os
from collections.abc import Callable
from typing import Any

Strike = Callable[[str, int], None]
"""Called before each call with its name and its number, from 1."""

NAMES = ("fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "link", "truncate")
"""Functions of `os` that change files; opening and writing are watched besides."""


class FileCalls:
    """Counts the calls of this process that change files, and strikes before each.

    A write counts twice: before it, and when half of it is written.
    """

    def __init__(self, strike: Strike) -> None:
        self._strike, self.n = strike, 0

    def count(self, name: str) -> None:
        self.n += 1
        self._strike(name, self.n)

    def install(self) -> None:
        for name in (*NAMES, "open"):
            setattr(os, name, self._counted(name, getattr(os, name)))
        io.open = builtins.open = self._file_opening(io.open)

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            if name != "open" or values[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self.count(name)
            return function(*values, **named)

        return call

    def _file_opening(self, function: Callable[..., Any]) -> Callable[..., Any]:
        usual = inspect.signature(io.open)

        def call(*values: Any, **named: Any) -> Any:
            given = usual.bind(*values, **named)
            given.apply_defaults()
            file, mode, buffering, encoding, errors, newline, closefd, opener = given.args
            if isinstance(file, int) or not set(mode) & set("wax+"):
                return function(*given.args)
            self.count("open")
            raw = _TornFile(self, file, mode.replace("t", ""), closefd, opener)
            if buffering == 0:
                return raw
            whole = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return whole if "b" in mode else io.TextIOWrapper(whole, encoding, errors, newline)

        return call


class _TornFile(io.FileIO):
    def __init__(self, calls: FileCalls, *values: Any) -> None:
        super().__init__(*values)
        self._calls = calls

    def write(self, data: Any) -> int:
        """Write one half and then the other, with a call before each."""
        whole = bytes(data)
        half = len(whole) // 2
        self._calls.count("write")
        super().write(whole[:half])
        self._calls.count("write")
        super().write(whole[half:])
        return len(whole)


def struck_at(n: int, number: int) -> Callable[[], None]:
    """Return what sends this process a signal just before its n-th call that changes a file."""

    def strike(_: str, at: int) -> None:
        if at == n:
            os.kill(os.getpid(), number)

    return FileCalls(strike).install
