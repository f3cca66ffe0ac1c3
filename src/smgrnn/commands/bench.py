"""`smgrnn bench`: measure the engines side by side."""

import json
import sys
from pathlib import Path

from smgrnn.bench.measure import measure
from smgrnn.bench.tables import markdown, print_tables


def bench_command(repeats: int, out: Path | None, *, quick: bool, as_json: bool) -> None:
    """Measure, and print tables or one JSON object."""
    results = measure(repeats, quick, lambda what: print(f"measuring {what} …", file=sys.stderr))
    if out is not None:
        out.write_text(markdown(results), encoding="utf-8")
    if as_json:
        print(json.dumps(results))
    else:
        print_tables(results)
