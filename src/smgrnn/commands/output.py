"""Output: where a command prints what, alike for all of them.

Results go to stdout, in words or as JSON; whatever is said before them goes to stderr.
"""

import json
import sys
import webbrowser
from dataclasses import dataclass
from typing import Annotated, Any, TextIO

import tyro
from rich.console import Console

from smgrnn.errors import plain

Flag = tyro.conf.FlagCreatePairsOff[bool]
"""A flag that is given or not, without a second one that takes it back."""
WIDTH = 100
"""Most letters of a line that is filled."""


class Terminal(Console):
    """A console that leaves it to the command line what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Raise what was raised; a console would end the process as failed."""
        raise BrokenPipeError


def say(text: str) -> None:
    """Print lines on stderr, with no line of a terminal broken inside a word."""
    _print_lines(text, sys.stderr)


def say_out(text: str) -> None:
    """Print lines on stdout in the same way; names in them may be a stranger's."""
    _print_lines(text, sys.stdout)


def _print_lines(text: str, file: TextIO) -> None:
    terminal = Terminal(file=file, markup=False, highlight=False, emoji=False)
    lines = "\n".join(map(plain, text.split("\n")))
    terminal.print(lines, soft_wrap=not terminal.is_terminal)


def line_width() -> int:
    """Return how many letters a line of stdout has: those of a terminal, if it has fewer."""
    terminal = Terminal(file=sys.stdout)
    return min(terminal.width, WIDTH) if terminal.is_terminal else WIDTH


@dataclass(frozen=True, kw_only=True)
class Output:
    """How a command tells its result, alike for all of them."""

    as_json: Annotated[Flag, tyro.conf.arg(name="json")] = False
    """Print the result as JSON instead of in words."""
    quiet: Flag = False
    """Print no words: no results, progress or warnings, only the JSON and what is wrong."""
    debug: Flag = False
    """If the command fails, print the whole traceback before the sentence that says why."""

    def say(self, text: str) -> None:
        """Print lines on stderr, unless nothing is to be said."""
        if not self.quiet:
            say(text)

    def result(self, words: str, figures: Any) -> None:
        """Print a result on stdout: in words, or as one JSON value instead of them."""
        if self.as_json:
            print(json.dumps(figures))
        elif not self.quiet:
            say_out(words)


def open_from_terminal(url: str, *, opens: bool) -> bool:
    """Open an address for a person at a terminal; return whether a browser took it."""
    return opens and sys.stdout.isatty() and webbrowser.open(url)
