"""The command line: one parse, one command, and one sentence if something is wrong.

A command is one file in `commands`, imported when it is named: `smgrnn --help` needs no NumPy.
"""

import gc
import os
import re
import sys
import traceback
import warnings
from argparse import Namespace
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from smgrnn import __version__
from smgrnn.commands.options import Parser, plugins
from smgrnn.errors import SmgrnnError, needs, plain, reason, short
from smgrnn.first_use import watching_compilation
from smgrnn.interrupts import INTERRUPTED

COMMANDS = {
    "distill": "Distill an expert into a network that grows while it learns.",
    "sequence": "Train one network on several tasks in sequence.",
    "tune": "Search for settings: the Pareto front of return and parameters.",
    "evaluate": "Evaluate a run's selected network on new episodes.",
    "expert": "Train, convert, list and evaluate experts.",
    "view": "Show in the browser how a network grew.",
    "export": "Export a network to C, ONNX, GraphML or JSON.",
    "compare": "Compare runs: return, size, agreement, time and settings.",
    "settings": "List every setting that --set changes, with default and meaning.",
    "list": "List tasks, students, rules and experiments, or the runs in a folder.",
}
"""The purpose of each command; those of plugins follow."""
COMPILING = "Compiling for this machine, once: 20 to 30 seconds …"
GARBAGE = 50_000
"""New objects between two garbage collections; with Python's 700 they were a tenth of a start."""


def parser() -> Parser:
    """Return the parser of the whole command line."""
    made = Parser(
        prog="smgrnn",
        usage="smgrnn COMMAND [options]",
        description="Neural networks that find their own size.",
        epilog="`smgrnn COMMAND --help` lists the options of a command.\n"
        "Results go to stdout, progress to stderr.",
    )
    made.add_argument("--version", action="version", version=f"smgrnn {__version__}")
    tables = {"smgrnn": COMMANDS} | {each.__package__: each.COMMANDS for each in plugins()}
    for package, table in tables.items():
        for name, summary in table.items():
            made.add_command(name, summary, f"{package}.commands.{name}")
    return made


def main() -> None:
    """Run the command line; a user's mistake ends it with one sentence and exit code 2."""
    gc.set_threshold(GARBAGE)
    _prepare_output()
    args = Namespace(debug=False)
    try:
        with warnings.catch_warnings(), needs():
            args = parser().parse(sys.argv[1:])
            warnings.showwarning = _warn  # type: ignore[assignment]
            if args.quiet:
                warnings.simplefilter("ignore")
            from smgrnn.commands.output import Output

            output = Output(as_json=args.json, quiet=args.quiet)
            with watching_compilation(lambda: output.say(COMPILING, only_terminal=True)):
                args.body(args, output)
        sys.stdout.flush()
    except BrokenPipeError:  # as `head` closes it when it has seen enough
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):  # which Python flushes once more when it ends
            os.dup2(nowhere, stream.fileno())
    except (SmgrnnError, OSError, MemoryError, UnicodeEncodeError) as error:
        if args.debug:
            traceback.print_exc()
        sentence = str(error)
        if isinstance(error, MemoryError):
            sentence = f"There is not enough memory: {reason(error)}."
        elif isinstance(error, OSError) and not isinstance(error, SmgrnnError):
            sentence = f"{error.filename or 'A file'} cannot be written: {error.strerror}."
            if error.errno is None:  # as of a library that does not fit into memory
                sentence = f"{reason(error)}."
        elif isinstance(error, UnicodeEncodeError):  # half of a character, as a name of a file
            sentence = f"Argument is not valid text: {short(error.object)}."
        with suppress(OSError):  # as of a full disk
            print(f"smgrnn: {plain(sentence)}", file=sys.stderr, flush=True)
        sys.exit(2)
    except RuntimeError as error:  # as of a thread that has no memory for its stack
        if args.debug or str(error) != "can't start new thread":
            raise
        with suppress(OSError):
            print("smgrnn: There is not enough memory for a thread.", file=sys.stderr, flush=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _prepare_output() -> None:
    """Escape characters that an output cannot encode; what goes to a closed one is dropped.

    The next file that is opened would take the number of a closed one, and the output with it.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for number, name in enumerate(("stdout", "stderr"), start=1):
        stream = getattr(sys, name) or open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _warn(message: Warning | str, *_: Any) -> None:
    """Print a warning as a sentence, without the place in our code that gave it."""
    text = re.sub(r"\x1b\[[\d;]*m", "", str(message))  # Gymnasium's are coloured
    print(f"smgrnn: {plain(text)}", file=sys.stderr)
