"""The command line inside a test, how it refuses, and Python in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import smgrnn
from smgrnn.cli import parser
from smgrnn.commands.output import Output


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


def python(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder; a crash is a negative exit code."""
    given = {**os.environ, "PYTHONPATH": str(Path(smgrnn.__file__).parents[1]), **environment}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, check=False, timeout=600
    )


def call(*words: object) -> None:
    """Run a command; what it refuses is raised."""
    args = parser().parse([str(word) for word in words])
    args.body(args, Output(as_json=args.json, quiet=args.quiet))
