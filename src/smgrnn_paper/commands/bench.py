"""`smgrnn bench`: measure the engines side by side."""

import json
from pathlib import Path

from rich.table import Table

from smgrnn.commands.output import Output, Terminal, say_out
from smgrnn.storage import check_folder_of
from smgrnn_paper.bench.measure import markdown, measure, tables, title


def bench_command(repeats: int, out: Path | None, output: Output, *, quick: bool) -> None:
    """Measure, and print tables or one JSON object."""
    if out is not None:
        check_folder_of(out)
    results = measure(repeats, quick, lambda what: output.say(f"measuring {what} …"))
    if out is not None:
        out.write_text(markdown(results), encoding="utf-8")
    if output.as_json:
        print(json.dumps(results))
    elif not output.quiet:
        say_out(title(results))
        terminal = Terminal()
        for heading, header, rows in tables(results):
            table = Table(title=heading, title_justify="left")
            for place, name in enumerate(header):
                is_label = len(header) == 2 and place == 0
                table.add_column(name, justify="left" if is_label else "right")
            for row in rows:
                table.add_row(*row)
            terminal.print(table)
