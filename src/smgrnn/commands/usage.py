"""Usage: a command line that cannot be understood, met with one sentence before its help."""

import re

from smgrnn.errors import plain, suggest

UNKNOWN = "Unrecognized options: "
COLOUR = r"\x1b\[[\d;]*m"
COMMANDS = "Available subcommands: "


def refusal(box: str) -> str:
    r"""Return in one sentence what is wrong with a command line, from the box that explains it.

    >>> print(refusal("╭─ Sorry ─╮\n│ Unrecognized options: --sed, 3 │\n│ ── │\n│ --seed INT │"))
    There is no option --sed. Did you mean '--seed'?
    """
    paragraphs = _paragraphs(box)
    what = " ".join(paragraphs[0]) if paragraphs else "This command line cannot be understood"
    if what.startswith(UNKNOWN):
        what = _refuse_unknown(what.removeprefix(UNKNOWN).split(", "), paragraphs[1:])
    what = what[0].upper() + what[1:]
    return what if what.endswith((".", "?")) else f"{what}."


def _refuse_unknown(words: list[str], hints: list[list[str]]) -> str:
    """Return a sentence that names the unknown word and the known one closest to it."""
    texts = [" ".join(rows) for rows in hints]
    for word in words:
        if word.startswith("-"):
            known = [row.split()[0] for rows in hints for row in rows if row.startswith("--")]
            return f"There is no option {plain(word)}. {suggest(word, known)}".strip()
    for text in texts:
        if text.startswith(COMMANDS):
            known = text.removeprefix(COMMANDS).split(", ")
            hint = suggest(words[0], known) or f"There are {', '.join(known)}."
            return f"There is no command {plain(words[0])}. {hint}"
    return f"The command has no use for {plain(words[0])}."


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
