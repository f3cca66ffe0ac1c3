"""Output: results go to stdout, in words or as JSON; everything else goes to stderr."""

import json
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console

from smgrnn.errors import plain

WIDTH = 100
"""Most letters of a line that is filled."""


class Terminal(Console):
    """A console that leaves it to the command line what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Raise what was raised; a console would end the process as failed."""
        raise BrokenPipeError


def say(text: str, file: TextIO | None = None) -> None:
    """Print lines, on stderr by default, with no line of a terminal broken inside a word."""
    terminal = Terminal(file=file or sys.stderr, markup=False, highlight=False, emoji=False)
    lines = "\n".join(map(plain, text.split("\n")))  # names in them may be a stranger's
    terminal.print(lines, soft_wrap=not terminal.is_terminal)


def line_width() -> int:
    """Return the letters of a line of stdout: at most those of a terminal."""
    terminal = Terminal(file=sys.stdout)
    return min(terminal.width, WIDTH) if terminal.is_terminal else WIDTH


def aligned(rows: Sequence[Sequence[str]], n_left: int | None = None) -> list[str]:
    """Return rows as lines of columns, the first `n_left` or all of them aligned to the left."""
    lines, columns = [""] * len(rows), list(zip(*rows, strict=True))
    for place, column in enumerate(columns):
        side = "<" if n_left is None or place < n_left else ">"
        width = max(map(len, column))
        lines = [f"{line}{cell:{side}{width}}  " for line, cell in zip(lines, column, strict=True)]
    return [line.rstrip() for line in lines]


@dataclass(frozen=True, kw_only=True)
class Output:
    """Prints the result of a command, in the same way for all commands."""

    as_json: bool = False
    quiet: bool = False

    def say(self, text: str, *, only_terminal: bool = False) -> None:
        """Print lines on stderr, unless the command is to be quiet."""
        if not self.quiet and (sys.stderr.isatty() or not only_terminal):
            say(text)

    def result(self, words: str, figures: Any) -> None:
        """Print a result on stdout: in words, or as one JSON value instead of them."""
        if self.as_json:
            print(json.dumps(figures))
        elif not self.quiet:
            say(words, sys.stdout)


def open_from_terminal(url: str, *, opens: bool) -> bool:
    """Open an address for a person at a terminal; return whether a browser took it."""
    return opens and sys.stdout.isatty() and webbrowser.open(url)
