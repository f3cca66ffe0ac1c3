"""The reference of the command line: `.. command-line::` lists for Sphinx what the parser knows."""

import os
import re
from contextlib import redirect_stdout, suppress
from io import BytesIO, TextIOWrapper

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from smgrnn import cli

COLUMNS = "100"
"""Width at which the parser writes its help in one column."""


def help_of(words: list[str]) -> str:
    """Return the help of a command, or that of all of them if there are no words."""
    printed = TextIOWrapper(BytesIO(), encoding="utf-8")  # the boxes are drawn in UTF-8 only
    os.environ["COLUMNS"] = COLUMNS
    with redirect_stdout(printed), suppress(SystemExit):
        cli.parse([*words, "--help"])
    printed.seek(0)
    return printed.read()


def commands() -> list[list[str]]:
    """Return the words of every command, in the order of the help."""
    names = _choices(help_of([]))
    groups = {name: _choices(help_of([name])) for name in names}
    return [
        [name, *more]
        for name, nested in groups.items()
        for more in ([[each] for each in nested] or [[]])
    ]


def _choices(text: str) -> list[str]:
    return re.findall(r"^│   • (\w+)", text, re.M)


def boxes(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the boxes of a help text: the title of each, and its entries with their help."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in text.splitlines():
        if title := re.match(r"╭─ (.*?) ─", line):
            found.append((title[1], []))
        elif row := re.match(r"│ (-\S.*?|[A-Z]{2,}|\[[A-Z]+ \.\.\.\])(?:  +(.*?))? *│$", line):
            found[-1][1].append((row[1], row[2] or ""))
        elif (more := re.match(r"│  +(.*?) *│$", line)) and found[-1][1]:
            entry, words = found[-1][1][-1]
            found[-1][1][-1] = (entry, f"{words} {more[1]}".strip())
    return found


class CommandLine(SphinxDirective):
    """A section for each command, with all of its options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(words) for words in commands()]

    def _section(self, words: list[str]) -> nodes.section:
        name, text = " ".join(["smgrnn", *words]), help_of(words)
        usage, description, *_ = text.split("\n\n")
        section = nodes.section(ids=[nodes.make_id(name)])
        section += nodes.title("", "", nodes.literal("", name))
        section += nodes.paragraph("", "", *_marked(" ".join(description.split())))
        usage = " ".join(usage.split()).removeprefix("usage: ")
        section += nodes.literal_block("", usage, language="text")
        for title, entries in boxes(text):
            entries = [each for each in entries if each[0] != "-h, --help"]
            if entries:
                section += nodes.rubric("", title[0].upper() + title[1:])
                section += nodes.definition_list("", *(_entry(*each) for each in entries))
        self.state.document.note_implicit_target(section)
        return section


def _entry(name: str, words: str) -> nodes.definition_list_item:
    return nodes.definition_list_item(
        "",
        nodes.term("", "", nodes.literal("", name)),
        nodes.definition("", nodes.paragraph("", "", *_marked(words))),
    )


def _marked(words: str) -> list[nodes.Node]:
    """Return text in which options, and what stands in backticks, are code."""
    parts = re.split(r"(--[a-z][\w.-]*|`[^`]+`)", words)
    return [
        nodes.literal("", part.strip("`")) if number % 2 else nodes.Text(part)
        for number, part in enumerate(parts)
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
