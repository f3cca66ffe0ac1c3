"""`smgrnn bench`: measure the engines side by side."""

import json
import sys
from argparse import Namespace

from rich.table import Table

from smgrnn.commands.output import Output, Terminal, say
from smgrnn.storage import check_folder_of

OPTIONS = """
--repeats N [7]       repeats of each measurement, of which the median counts
--quick               small networks, few repeats, no start-up times: for a first look
--out FILE            also write the tables to this Markdown file
"""


def run(args: Namespace, output: Output) -> None:
    """Measure, and print tables or one JSON object."""
    from smgrnn_paper.bench.measure import markdown, measure, tables, title

    if args.out is not None:
        check_folder_of(args.out)
    results = measure(args.repeats, args.quick, lambda what: output.say(f"measuring {what} …"))
    if args.out is not None:
        args.out.write_text(markdown(results), encoding="utf-8")
    if output.as_json:
        print(json.dumps(results))
    elif not output.quiet:
        say(title(results), sys.stdout)
        terminal = Terminal()
        for heading, header, rows in tables(results):
            table = Table(title=heading, title_justify="left")
            for place, name in enumerate(header):
                is_label = len(header) == 2 and place == 0
                table.add_column(name, justify="left" if is_label else "right")
            for row in rows:
                table.add_row(*row)
            terminal.print(table)
