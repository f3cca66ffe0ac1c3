"""Output: where a command prints what, alike for all of them.

Results go to stdout, in words or as JSON; whatever is said before them goes to stderr.
"""

import json
import sys
import webbrowser
from typing import Any, TextIO

from rich.console import Console

from smgrnn.errors import plain


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


def print_result(words: str, figures: Any, *, as_json: bool, is_quiet: bool = False) -> None:
    """Print what came of a command on stdout: in words, or as one JSON value instead of them."""
    if as_json:
        print(json.dumps(figures))
    elif not is_quiet:
        say_out(words)


def open_from_terminal(url: str, *, opens: bool) -> bool:
    """Open an address for a person at a terminal; return whether a browser took it."""
    return opens and sys.stdout.isatty() and webbrowser.open(url)
