"""The parser of a command, whose options are declared as its help shows them.

A line names an argument and says what it does; a line without a margin is the title of a group:

    TASK                a positional argument; [TASK] is optional, RUN ... takes several
    the group:
      --out FOLDER      an option with a value, whose name gives the type
      --seeds N [1]     … with a default
      --to {c,json} !   … which must be given, one of several words
      --set SETTING *   … which may be repeated; SETTING ... takes several at once
      --live            a switch

An option without words is not on the page; `smgrnn settings` explains it.
"""

import re
import shutil
import sys
from argparse import (
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    HelpFormatter,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from smgrnn.errors import ConfigError, plain, short, suggest

if TYPE_CHECKING:  # the list of commands needs neither NumPy nor Numba
    from smgrnn.commands.output import Output
    from smgrnn.config import RunConfig

    Body = Callable[[Namespace, Output], None]

TYPES: dict[str, type] = {"N": int} | dict.fromkeys(("FRACTION", "MINUTES", "RETURN"), float)
TYPES |= dict.fromkeys(("FILE", "FILM", "FOLDER", "PAGE", "RUN", "ZIP"), Path)
"""The types of values by their names; other values are texts."""
TASK = """
[TASK]                a Gymnasium id (CartPole-v1, my_module:MyEnv-v0), a file of examples, or xor
"""
RUN_SETTINGS = """
the network:
  --max-parameters N  maximum parameters of the result; training may exceed it temporarily
  --keep FRACTION     find the smallest network that keeps this fraction of the expert's return
  --preset PRESET     frugal (the default), paper, as_printed, or a settings file of `smgrnn tune`
  --keep-inputs A,B   inputs that stay connected, by name or by number from 0
  --student {smgrnn,static,growth-only,mlp-100,mlp-200,mlp-pruned}
                      a network that grows and prunes, or one to compare it with (default: smgrnn)
  --select {return,faithful,final}
                      the best return, the closest to the expert, or the last (default: preset's)
  --polish N          then search its weights for a higher return in N episodes (default: 0)
  --polish-for {mean,worst,share-above}
  --set NAME=VALUE *  any other setting, such as learning_rate=0.01; `smgrnn settings` lists all
training:
  --expert EXPERT     policy.zip (Stable-Baselines3), a file of weights, or module:function
  --episodes N        training episodes (default: the preset's)
  --held-out N        new episodes that evaluate the selected network (default: 100)
  --seed N            seed of graph, rules and episodes (default: 0)
  --env-backend {compiled,gymnasium}
  --input-names A,B
  --output-names A,B
"""
SELECTION = """
the network:
  --final             take the final network of the run
  --max-parameters N  take the best network with at most N parameters (default: the selected one)
"""
WORKERS = """
workers:
  --jobs N            processes (default: one per core)
  --scheduler ADDRESS
                      run on this Dask scheduler instead
"""
OUTPUT = """
output:
  --json              print the result as one JSON value
  --quiet             suppress everything except JSON and errors
  --debug             if the command fails, print the traceback too
"""
STORE = Path("results/store")
"""Folder of finished runs, below the working directory."""


@cache
def plugins() -> tuple[Any, ...]:
    """Return the modules of installed packages that bring commands, such as the reproduction's.

    Entry points name them; each has `COMMANDS`, their purposes by name, and `listed()`.
    """
    return tuple(point.load() for point in entry_points(group="smgrnn.commands"))


class Parser(ArgumentParser):
    """A parser whose command is imported once it is named, and whose errors are sentences."""

    def __init__(self, *, module: str = "", **settings: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_formatter, **settings)
        self.module = module
        self.commands: dict[str, Parser] = {}

    def add_command(self, name: str, summary: str, module: str = "") -> "Parser":
        """Return the parser of a new command, whose options and body the module has."""
        if not self.commands:
            self._group = self.add_subparsers(title="commands", metavar="COMMAND", required=True)
            self.commands = self._group.choices
        prog = f"{self.prog} {name}"
        return self._group.add_parser(
            name, module=module, prog=prog, help=summary, description=summary
        )

    def load(self) -> None:
        """Import the command and add its options, once."""
        if self.module:
            command, self.module = import_module(self.module), ""
            self.epilog = getattr(command, "EXAMPLES", None)
            if hasattr(command, "OPTIONS"):
                self.add_options(command.OPTIONS, command.run)
            for name, (summary, text, body) in getattr(command, "COMMANDS", {}).items():
                self.add_command(name, summary).add_options(text, body)

    def leaves(self) -> "list[Parser]":
        """Return the parsers of all commands, loaded."""
        self.load()
        return [leaf for each in self.commands.values() for leaf in each.leaves()] or [self]

    def add_options(self, text: str, body: "Body") -> None:
        """Add the options that a text declares, and those of all commands; set the body."""
        group: Any = self
        usage = [self.prog]
        for line in re.sub(r"\n {8,}", "  ", text + OUTPUT).splitlines():
            spec, _, words = line.strip().partition("  ")
            if spec.endswith(":"):
                group = self.add_argument_group(spec[:-1])
            elif spec:
                name, settings = _declared(spec)
                words = " ".join(words.split()).replace("%", "%%") or SUPPRESS
                words += " (default: %(default)s)" if settings.get("default") else ""
                group.add_argument(name, help=words, **settings)
                usage += [spec.rstrip(" !")] if name[0] != "-" or spec[-1] == "!" else []
        self.usage = " ".join((*usage, "[options]"))
        self.set_defaults(body=body, parser=self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words after the name of the command."""
        self.load()
        return super().parse_known_args(args, namespace)

    def parse(self, words: Sequence[str]) -> Namespace:
        """Return the values of all options; refuse unknown ones, and name the closest."""
        args: Namespace
        args, unknown = self.parse_known_args(words or ["--help"])
        if unknown:
            args.parser.refuse(unknown)
        return args

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """End the process with a sentence on the first unknown option, or word."""
        word = next((word for word in words if word.startswith("-")), words[0]).split("=")[0]
        if not word.startswith("-"):
            self.error(f"unexpected argument {word!r}")
        known = [flag for action in self._actions for flag in action.option_strings]
        if "--set" in known:
            from smgrnn.commands.settings import renamed

            if now := renamed(word):
                option = f"--{now.replace('_', '-')}"
                other = f"--set {now}=VALUE; `smgrnn settings` lists all"
                raise ConfigError(f"{word} is now {option if option in known else other}.")
        self.error(f"unknown option {word}. {suggest(word, known, cutoff=0.7)}")

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            hint = suggest(str(value), action.choices) or f"Use {', '.join(action.choices)}."
            if action.metavar == "COMMAND":
                self.error(f"unknown command {short(value)}. {hint}")
            raise ArgumentError(action, f"unknown value {short(value)}. {hint}")

    def error(self, message: str) -> NoReturn:
        """End the process with a sentence and where to look."""
        sentence = plain(message.strip())
        end = "" if sentence.endswith((".", "?")) else "."
        what = "commands" if self.commands else "options"
        print(f"smgrnn: {sentence[0].upper()}{sentence[1:]}{end}", file=sys.stderr)
        print(f"`{self.prog} --help` lists the {what}.", file=sys.stderr)
        sys.exit(2)


def _formatter(prog: str) -> HelpFormatter:
    width = min(shutil.get_terminal_size().columns, 100) - 2
    made = RawDescriptionHelpFormatter(prog, max_help_position=22, width=width)
    made._action_max_length = 20  # one column for all pages; its own is too small for commands
    return made


def _declared(spec: str) -> tuple[str, dict[str, Any]]:
    """Return the name of an argument, and its settings for argparse.

    >>> _declared("--out FILE !")[1]["required"], _declared("[RUN ...]")[0]
    (True, 'runs')
    """
    is_flag, is_optional = spec[0] == "-", spec[0] == "["
    parts = spec.split() if is_flag else ["", *spec.strip("[]").split()]
    flag, value, mark = (*parts, "", "")[:3]
    if not value:
        return flag, {"action": "store_true"}
    settings: dict[str, Any] = {"metavar": value, "type": TYPES.get(value, str)}
    if value.startswith("{"):
        settings = {"choices": value[1:-1].split(",")}
    if not is_flag:
        several = mark == "..."
        nargs = ("*" if is_optional else "+") if several else ("?" if is_optional else None)
        return value.lower() + "s" * several, settings | {"nargs": nargs}
    marks: dict[str, dict[str, Any]] = {
        "!": {"required": True},
        "*": {"action": "append", "default": []},
        "...": {"nargs": "+", "default": []},
    }
    return flag, settings | marks.get(mark, {"default": mark.strip("[]") or None})


def given_settings(args: Namespace) -> dict[str, Any]:
    """Return the settings of a run that were given by an option."""
    from smgrnn.config import LISTS, RunConfig

    found = {entry.name: getattr(args, entry.name, None) for entry in fields(RunConfig)}
    for name in LISTS:
        if (words := getattr(args, name, None)) is not None:
            found[name] = tuple(words.split(","))
    return {name: value for name, value in found.items() if value is not None}


def run_settings(args: Namespace, task: str, seed: int = 0) -> "RunConfig":
    """Return the settings of a run on a task, as the options ask for."""
    from smgrnn.config import USUAL_PRESET, RunConfig, with_settings

    given = ({"seed": seed} if seed else {}) | given_settings(args)
    config = RunConfig.for_task(task, preset=args.preset or USUAL_PRESET, **given)
    return with_settings(config, args.set)


def selection(args: Namespace) -> dict[str, Any]:
    """Return which network of a run is asked for."""
    return {"final": args.final, "max_parameters": args.max_parameters}


def import_from_here(*names: str | None) -> None:
    """Let a module that the user names, as in module:id, be found in the working directory.

    A command that names none imports nothing from there: it may be the folder of a stranger.
    """
    if any(name is not None and ":" in name for name in names):
        sys.path.append(str(Path.cwd()))
