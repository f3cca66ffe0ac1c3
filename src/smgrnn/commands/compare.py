"""`smgrnn compare`: any runs side by side, in a table, and with their curves on a page."""

from argparse import Namespace
from collections.abc import Sequence
from itertools import islice
from textwrap import fill

from smgrnn.commands.output import Output, aligned, line_width, open_from_terminal
from smgrnn.errors import ConfigError
from smgrnn.pages.comparison import (
    Compared,
    comparison_page,
    comparison_table,
    differing_settings,
    group_named,
    preset_of,
)
from smgrnn.pages.page import DataTable
from smgrnn.runs.folder import load_runs
from smgrnn.storage import write_file
from smgrnn.text import MISSING

MOST_SETTINGS = 12
"""Most settings that are listed; students of different kinds differ in most of theirs."""
FACTS = ("teacher", "task facts", "ancestor", "after")
"""What runs of equal settings may differ in."""

OPTIONS = """
RUN ...               a run, or a folder of runs
--out PAGE            also write an .html page with curves
--no-open             do not open the page
"""


def run(args: Namespace, output: Output) -> None:
    """Compare runs: print a table or JSON, and write the page if there is to be one."""
    if args.out is not None and args.out.suffix != ".html":
        raise ConfigError(f"A page is an .html file. Got {args.out} instead.")
    groups = group_named(load_runs(args.runs))
    words = [describe_table(comparison_table(groups)), describe_settings(groups)]
    if args.out is not None:
        write_file(args.out, comparison_page(groups).encode())
        words.append(f"The page is {args.out}.")
    figures = {
        "groups": [each.to_dict() for each in groups],
        "settings": differing_settings(groups),
        "page": None if args.out is None else str(args.out),
    }
    output.result("\n".join(words), figures)
    if args.out is not None:
        opens = not args.no_open and not output.as_json
        open_from_terminal(args.out.resolve().as_uri(), opens=opens)


def describe_settings(groups: Sequence[Compared]) -> str:
    """Return the settings that differ, each with its values and the runs that have them."""
    changes = {each.name: preset_of(each.records[0].plan) for each in groups}
    names = {name for _, _, changed in changes.values() for name in changed}
    differing = {
        name: {group: own.get(name, MISSING) for group, (_, own, _) in changes.items()}
        for name in sorted(names)
    }
    differing = {name: each for name, each in differing.items() if len({*each.values()}) > 1}
    if not differing:
        facts = differing_settings(groups)
        differing = {name: facts[name] for name in FACTS if name in facts}
    if not differing:
        is_one = len({preset for preset, _, _ in changes.values()}) == 1
        return f"They differ in nothing but their {'seed' if is_one else 'preset'}."
    lines, width = ["Settings that differ:"], line_width()
    for name, values in list(differing.items())[:MOST_SETTINGS]:
        owners: dict[str, list[str]] = {}
        for group, value in values.items():
            owners.setdefault(value, []).append(group)
        words = "; ".join(f"{value} ({', '.join(names)})" for value, names in owners.items())
        lines.append(fill(f"{name}: {words}", width, initial_indent="  ", subsequent_indent="    "))
    if (n_more := len(differing) - MOST_SETTINGS) > 0:
        lines.append(f"  … and {n_more} more; --out PAGE.html has them all.")
    return "\n".join(lines)


def describe_table(table: DataTable, left_out: Sequence[str] = ()) -> str:
    """Return a table as text, task by task, with its note; some columns may be left out."""
    shown = [place for place, it in enumerate(table.columns) if it.name not in left_out]
    headings = (*table.headings[2:], *(table.columns[it].heading for it in shown))
    blocks: dict[str, list[tuple[str, ...]]] = {}
    for row in table.rows:
        task = row.labels[0]
        blocks.setdefault(task, [(task, *headings)]).append(
            (*row.labels[1:], *(row.cells[it].text for it in shown))
        )
    lines = iter(
        aligned([line for block in blocks.values() for line in block], len(table.headings) - 1)
    )
    texts = ("\n".join(islice(lines, len(block))) for block in blocks.values())
    return "\n\n".join((*texts, fill(table.note, line_width())))
