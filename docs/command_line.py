"""The reference of the command line: `.. command-line::` lists for Sphinx what the parser knows."""

import re
from argparse import HelpFormatter
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from smgrnn import cli
from smgrnn.commands.options import Parser


class CommandLine(SphinxDirective):
    """A section for each command, with all of its options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(command) for command in cli.parser().leaves()]

    def _section(self, command: Parser) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(command.prog)])
        section += nodes.title("", "", nodes.literal("", command.prog))
        section += nodes.paragraph("", "", *_marked(command.description or ""))
        section += nodes.literal_block("", command.usage or "", language="text")
        for group in command._action_groups:
            entries = [each for each in group._group_actions if "--help" not in each.option_strings]
            if entries:
                title = (group.title or "").capitalize()
                section += nodes.rubric("", title)
                section += nodes.definition_list("", *map(_entry, entries))
        self.state.document.note_implicit_target(section)
        return section


def _entry(action: Any) -> nodes.definition_list_item:
    formatter = HelpFormatter("")
    words = formatter._expand_help(action)
    return nodes.definition_list_item(
        "",
        nodes.term("", "", nodes.literal("", formatter._format_action_invocation(action))),
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
