"""The command line: parsing only."""

import json
import sys
from pathlib import Path
from typing import Annotated

import tyro

from smgrnn.errors import SmgrnnError


def bench(
    repeats: int = 7,
    quick: bool = False,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    out: Path | None = None,
) -> None:
    """Measure the engines against a plain PyTorch loop, side by side.

    Parameters
    ----------
    repeats
        Repeats of each measurement; the median counts.
    quick
        Small networks only, few repeats, no start-up times: for a first look.
    as_json
        Print one JSON object instead of tables.
    out
        Also write the tables to this Markdown file.
    """
    from smgrnn.bench.measure import measure
    from smgrnn.bench.tables import markdown, print_tables

    results = measure(repeats, quick, lambda what: print(f"measuring {what} …", file=sys.stderr))
    if out is not None:
        out.write_text(markdown(results), encoding="utf-8")
    if as_json:
        print(json.dumps(results))
    else:
        print_tables(results)


def main() -> None:
    """Run the command line; a user's mistake ends it with one sentence and exit code 2."""
    try:
        tyro.extras.subcommand_cli_from_dict(
            {"bench": bench},
            prog="smgrnn",
            description="Neural networks that find their own size.",
            config=(tyro.conf.FlagCreatePairsOff,),
        )
    except SmgrnnError as error:
        print(f"smgrnn: {error}", file=sys.stderr)
        sys.exit(2)
