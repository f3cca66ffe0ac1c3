"""The command line inside a test: what it said, and how it refused."""

from collections.abc import Callable
from typing import NamedTuple


class Said(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Said]


def refused(said: Said) -> str:
    """Return the one sentence with which a command refused."""
    assert said.code == 2
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("smgrnn: ")
    assert line.endswith((".", "?"))
    return line.removeprefix("smgrnn: ")
