"""Usage: a command line that cannot be understood, met with one sentence and where to look."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from smgrnn.errors import plain, short, suggest

COLOUR = r"\x1b\[[\d;]*m"
HEAD = re.compile(r"usage: (.+?) \[-h\]( \{)?")
OPTIONS = re.compile(r"^(?:│ |  )(?:-h, )?(--[\w.-]+)(?:, (--[\w.-]+))?", re.MULTILINE)
COMMANDS = "Available subcommands: "
REQUIRED = re.compile(r"(--[\w.-]+)(?: (.+))?|([A-Z]+)(?: \.\.\.)?")
NUMBERS = {"INT": "a whole number", "FLOAT": "a number", "{None}": "None"}
"""Kinds of values, as the parser names them and as a sentence does."""
CLOSE = 0.7
"""Least likeness of an option that may have been meant; they have dashes and more in common."""
LONG = 4
"""Letters from which the end of an option's name is enough to tell it by."""


class Manual(NamedTuple):
    """The help of a command, as far as a refusal needs it."""

    command: str = "smgrnn"
    options: tuple[str, ...] = ()
    has_commands: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the facts that are in the help of a command, which is in one column.

        >>> Manual.read("usage: smgrnn list [-h] [--json]" + chr(10) + "  --json  As JSON.")
        Manual(command='smgrnn list', options=('--json',), has_commands=False)
        """
        text = re.sub(COLOUR, "", text)
        head = HEAD.search(text)
        if head is None:
            return cls()
        options = tuple(name for names in OPTIONS.findall(text) for name in names if name)
        return cls(head[1], options, head[2] is not None)

    @property
    def name(self) -> str:
        """Name of the command inside the program; nothing for the program itself."""
        return self.command.partition(" ")[2]

    def hint(self) -> str:
        """Return a sentence that says where to look.

        >>> Manual("smgrnn bench").hint()
        '`smgrnn bench --help` lists the options.'
        """
        what = "commands" if self.has_commands else "options"
        return f"`{self.command} --help` lists the {what}."


def refusal(box: str, manual: Manual) -> str:
    r"""Return in one sentence what is wrong with a command line, from the box that explains it.

    >>> manual = Manual("smgrnn bench", ("--seed",))
    >>> print(refusal("╭─ Sorry ─╮\n│ Unrecognized options: --sed, 3 │", manual))
    bench has no option --sed. Did you mean '--seed'?
    """
    paragraphs = _paragraphs(box)
    if not paragraphs:
        return "This command line cannot be understood."
    what = " ".join(paragraphs[0])
    for explain in (_unknown, _wrong_choice, _wrong_number, _missing):
        if sentence := explain(what, paragraphs, manual):
            return sentence
    what = what[0].upper() + what[1:]
    return what if what.endswith((".", "?")) else f"{what}."


def _unknown(what: str, paragraphs: list[list[str]], manual: Manual) -> str:
    """Name the unknown word and the known one closest to it."""
    if not what.startswith("Unrecognized "):
        return ""
    words = re.findall(r"(\S+) \(applied to ", what) or what.partition(": ")[2].split(", ")
    for word in words:
        if word.startswith("-"):
            name = word.partition("=")[0]
            start = f"{manual.name} has" if manual.name else "There is"
            meant = _suggest_option(name, manual.options)
            return f"{start} no option {plain(name)}. {meant}".strip()
    for text in (" ".join(rows) for rows in paragraphs[1:]):
        if text.startswith(COMMANDS):
            known = text.removeprefix(COMMANDS).split(", ")
            meant = suggest(words[0], known) or f"There are {', '.join(known)}."
            return f"There is no command {plain(words[0])}. {meant}"
    return f"{manual.name} has no use for {plain(words[0])}."


def _suggest_option(name: str, options: Sequence[str]) -> str:
    """Return a question that names the option that ends alike, or else the closest one."""
    end = name.lstrip("-").rpartition(".")[2]
    alike = [each for each in options if len(end) >= LONG and each.endswith(end)]
    return suggest(name, alike, cutoff=0) if alike else suggest(name, options, cutoff=CLOSE)


def _wrong_choice(what: str, *_: Any) -> str:
    """Name the values that an option takes, and the one that may have been meant."""
    found = re.match(r"(?i)invalid choice (.+) for argument '(\S+)'\. Expected one of (.+)", what)
    if found is None:
        return ""
    value, choices = found[1][1:-1], re.findall(r"'([^']+)'", found[3])
    if "None" in choices:  # then the parser has them in no order
        choices = [*sorted(set(choices) - {"None"}), "None"]
    return (
        f"{_name(found[2])} must be {_either(choices)}. Got {short(value)} instead. "
        f"{suggest(value, choices)}"
    ).strip()


def _wrong_number(what: str, *_: Any) -> str:
    """Name the kind of number that an option takes, of which the parser has only Python's words."""
    found = re.match(r"Error parsing (\S+): (.+)", what)
    if found is None:
        return ""
    name, why = found.groups()
    if union := re.match(r"no type matching (\S+) could be instantiated from \[(.+?)\]\.", why):
        kinds, value = [NUMBERS.get(each, each) for each in union[1].split("|")[::-1]], union[2]
    elif number := re.match(r"(?:invalid literal for (int)|could not convert).*?: (.+)", why):
        kinds, value = [NUMBERS["INT" if number[1] else "FLOAT"]], number[2]
    else:
        return ""
    return f"{_name(name)} must be {_either(kinds)}. Got {plain(value)} instead."


def _missing(what: str, paragraphs: list[list[str]], manual: Manual) -> str:
    """Name a value, a command or arguments that are not given."""
    if found := re.match(r"Missing value for argument '(\S+)'", what):
        return f"{_name(found[1])} needs a value."
    if found := re.match(r"Expected one of \{(.+)\}", what):
        return f"Name a command: {_either(found[1].split(', '))}."
    head, *rows = paragraphs[0]
    needed = [found for row in rows if (found := REQUIRED.fullmatch(row))]
    if not (needed and head.startswith("Missing from ")):
        return ""
    names = [found[1] or found[3] for found in needed]
    if len(names) > 1:
        return f"{manual.name} needs {' and '.join(names)}."
    choices, meaning = needed[0][2] or "", " ".join(rows[1:]).removesuffix(" (required)")
    if choices.startswith("{"):
        meaning = f"{_either(choices[1:-1].split(','))}."
    return f"{manual.name} needs {names[0]}: {meaning[:1].lower()}{meaning[1:]}"


def _name(argument: str) -> str:
    """Return an option as it is typed, and anything else as the help names it."""
    return argument if argument.startswith("-") else argument.upper()


def _either(words: Sequence[str]) -> str:
    """Return a choice of words.

    >>> _either(["c", "onnx", "json"]), _either(["c"])
    ('c, onnx or json', 'c')
    """
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _paragraphs(box: str) -> list[list[str]]:
    """Return the rows of text in a box, parted where it has a rule.

    A box is drawn, or, where that cannot be printed, begins with its title above a rule.
    """
    is_drawn = "╭" in box
    paragraphs: list[list[str]] = [[]]
    for line in re.sub(COLOUR, "", box).splitlines():
        row = line.strip(" │")
        if row and not row.strip("─-"):
            paragraphs.append([])
        elif row and row[0] not in "╭╰":
            paragraphs[-1].append(row)
    return [rows for rows in paragraphs if rows][0 if is_drawn else 1 :]
