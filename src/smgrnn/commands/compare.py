"""`smgrnn compare`: any runs side by side, in a table, and with their curves on a page."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill

from smgrnn.commands.output import Output, line_width, open_from_terminal
from smgrnn.errors import ConfigError
from smgrnn.runs.folder import load_runs
from smgrnn.storage import write_file, writing
from smgrnn_paper.report.comparison import (
    Compared,
    comparison_numbers,
    comparison_table,
    differing_settings,
    group_named,
)
from smgrnn_paper.report.tables import ReportTable

MOST_SETTINGS = 12
"""Most settings that are told; students of different kinds differ in most of theirs."""


def compare_command(
    paths: Iterable[Path], out: Path | None, output: Output, *, opens: bool
) -> None:
    """Compare runs: print a table or JSON, and write the page if there is to be one."""
    if out is not None and out.suffix != ".html":
        raise ConfigError(f"A page is an .html file. Got {out} instead.")
    records = load_runs(paths)
    groups = group_named(records)
    if out is not None:
        from smgrnn_paper.report.page import page
        from smgrnn_paper.report.runs import build_run_report  # which imports Matplotlib

        with writing(out):
            write_file(out, page(build_run_report(records)).encode())
    words = [describe_table(comparison_table(groups)), describe_settings(groups)]
    if out is not None:
        words.append(f"The page is {out}.")
    numbers = comparison_numbers(groups) | {"page": None if out is None else str(out)}
    output.result("\n".join(words), numbers)
    if out is not None:
        open_from_terminal(out.resolve().as_uri(), opens=opens and not output.as_json)


def describe_settings(groups: Sequence[Compared]) -> str:
    """Return the settings that differ, each with its values and the runs that have them."""
    differing = differing_settings(groups)
    if not differing:
        return "They differ in nothing but their seed."
    lines, width = ["Settings that differ:"], line_width()
    for name, values in list(differing.items())[:MOST_SETTINGS]:
        owners: dict[str, list[str]] = {}
        for group, value in values.items():
            owners.setdefault(value, []).append(group)
        told = "; ".join(f"{value} ({', '.join(names)})" for value, names in owners.items())
        lines.append(fill(f"{name}: {told}", width, initial_indent="  ", subsequent_indent="    "))
    if len(differing) > MOST_SETTINGS:
        lines.append(
            f"  … and {len(differing) - MOST_SETTINGS} more; --out PAGE.html has them all."
        )
    return "\n".join(lines)


def describe_table(table: ReportTable, left_out: Sequence[str] = ()) -> str:
    """Return a table as text, task by task, with its note; some columns may be left out."""
    others = table.headings[2:]
    head = ("", *others, *(it.heading for it in table.columns if it.name not in left_out))
    rows = {
        line.labels: (
            *line.labels[1:],
            *(each.text for each in line.entries if each.column.name not in left_out),
        )
        for line in table.lines
    }
    widths = [max(map(len, column)) for column in zip(head, *rows.values(), strict=True)]
    blocks = []
    for task in dict.fromkeys(line.labels[0] for line in table.lines):
        lines = [(task, *head[1:]), *(row for labels, row in rows.items() if labels[0] == task)]
        widths[0] = max(widths[0], len(task))
        blocks.append("\n".join(_aligned(line, widths, len(others)) for line in lines))
    return "\n\n".join((*blocks, fill(table.note, line_width())))


def _aligned(texts: tuple[str, ...], widths: list[int], n_words: int) -> str:
    """Return one line, its first text and some words to the left and the others to the right."""
    pairs = list(zip(texts, widths, strict=True))
    words, numbers = pairs[: 1 + n_words], pairs[1 + n_words :]
    return "  ".join(
        (
            *(text.ljust(width) for text, width in words),
            *(text.rjust(width) for text, width in numbers),
        )
    )
