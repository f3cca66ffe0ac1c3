"""The command line inside a test: what it said, and how it refused."""

from collections.abc import Callable
from typing import NamedTuple

from smgrnn.cli import parse
from smgrnn.commands.output import Output


class Said(NamedTuple):
    """What a command left."""

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


def call(*words: object) -> None:
    """Run a command; what it refuses is raised."""
    args = parse([str(word) for word in words])
    args.body(args, Output(as_json=args.json, quiet=args.quiet))
