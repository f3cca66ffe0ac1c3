"""`smgrnn settings`: every setting by its name, with its owner, its default and its meaning."""

import ast
import inspect
import textwrap
from argparse import Namespace
from dataclasses import fields
from itertools import pairwise
from typing import Any

from smgrnn.commands.output import Output, line_width
from smgrnn.config import CHOICES, LISTS, RENAMED, owners, setting_kinds
from smgrnn.validation import default_of

OWNERS_BEFORE = {
    "plasticity": ("plasticity.", "growth.", "pruning."),
    "learning": ("learning.", "optimizer.", "rule."),
    "": ("",),
}
"""Where the settings are now that flags of 0.2 had in one part."""
NOTE = (
    "Change any of these by --set NAME=VALUE. A preset changes some defaults: "
    "`smgrnn distill TASK --dry-run` prints all values of a run."
)

OPTIONS = ""


def run(args: Namespace, output: Output) -> None:
    """List every setting, in words or as JSON; in words those of a kind of rule once."""
    listed: dict[str, dict[str, dict[str, Any]]] = {}
    for owner, kind, prefix in owners():
        known, table = _meanings(kind), listed.setdefault(owner, {})
        for entry in fields(kind):
            value, name = default_of(entry), f"{prefix}{entry.name}"
            if name in setting_kinds():
                value = value.name if name in CHOICES else value
                value = ",".join(value) if entry.name in LISTS else value
                table[name] = {"default": value, "meaning": known[entry.name]}
    rows = [(name, str(row["default"])) for table in listed.values() for name, row in table.items()]
    wide, narrow = (max(map(len, column)) + 2 for column in zip(*rows, strict=True))
    lines: list[str] = []
    shown: dict[str, dict[str, Any]] = {}
    width = line_width()
    for owner, table in listed.items():
        again = [name for name, row in table.items() if shown.get(name) == row]
        words = f"{owner}: {', '.join(again)} as above" if again else f"{owner}:"
        words += "" if table else " no settings"
        lines += ["", *textwrap.wrap(words, width, subsequent_indent="  ")]
        for name, row in table.items():
            if name not in again:
                head = f"  {name:<{wide}}{row['default']!s:<{narrow}}"
                most = max(width, len(head) + 30)
                indent = " " * len(head)
                lines += textwrap.wrap(head + row["meaning"], most, subsequent_indent=indent)
        shown |= table
    output.result("\n".join([*lines[1:], "", NOTE]), listed)


def renamed(flag: str) -> str | None:
    """Return the setting that a flag of version 0.2 changed; None if it was no flag.

    >>> renamed("--plasticity.interval-width"), renamed("--no-bias"), renamed("--sed")
    ('growth.interval_width', 'bias', None)
    """
    name = flag.removeprefix("--").removeprefix("no-").replace("-", "_")
    part, _, last = RENAMED.get(name, name).rpartition(".")
    places = (f"{owner}{last}" for owner in OWNERS_BEFORE.get(part, ()))
    return next((place for place in places if place in setting_kinds()), None)


def _meanings(kind: type) -> dict[str, str]:
    """Return the docstring of each field of a class and of its bases, in one line.

    >>> from smgrnn.config import NetworkConfig
    >>> _meanings(NetworkConfig)["density"]
    'Fraction of the allowed node pairs that start connected.'
    """
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        for field, text in pairwise(getattr(tree, "body", [])):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                words = ast.literal_eval(text.value)
                found[ast.unparse(field.target)] = " ".join(words.split())
    return found
