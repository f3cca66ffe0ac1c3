"""`python -m torture`: draw faults until the time is out, print the table, exit 1 on a bad one."""

import argparse
import contextlib
import io
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

CACHE = "build/torture"
"""Folder of compiled code that checks bounds, which takes minutes to make."""


class Table:
    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.details: list[str] = []

    def add(self, kind: str, found: list[Any], case: str) -> None:
        """Add the outcomes of one case, and print the bad ones; `case` says how to repeat it."""
        for outcome, detail in found:
            self.counts[kind][outcome] += 1
            if outcome != "same":  # as a work to which nothing happened
                self.details.append(f"{kind}: {outcome} (repeat: {case})\n  {detail}")
                print(self.details[-1], file=sys.stderr, flush=True)

    def __str__(self) -> str:
        rows = ["| fault | count | outcomes |", "|---|---:|---|"]
        for kind, counts in sorted(self.counts.items()):
            words = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())
            rows.append(f"| {kind} | {counts.total():,} | {words} |")
        return "\n".join(rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", default=str(secrets.randbelow(10**6)), help="to repeat a session")
    parser.add_argument("--only", default="", help="faults whose names have these words")
    parser.add_argument("--case", type=int, help="run this case of them and nothing else")
    parser.add_argument("--short", action="store_true", help="the fixed session of `make test`")
    parser.add_argument("--unchecked", action="store_true", help="use code that checks no bounds")
    parser.add_argument("--json", type=Path, help="also write the counts and the details here")
    return parser.parse_args()


def main() -> None:
    options = _options()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # before they are read
    if not (options.short or options.unchecked):  # code that checks bounds is compiled apart
        place = str(Path(CACHE).absolute())
        os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": place}
    print(f"seed {options.seed}", file=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="smgrnn-torture-"))
    try:
        is_bad = _session(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(is_bad)


def _session(options: argparse.Namespace, folder: Path) -> bool:
    """Draw cases, always of the fault that has had least of its share of the time."""
    from smgrnn.cli import main as smgrnn
    from torture.children import Found
    from torture.faults import FAULTS
    from torture.works import Bench

    faults = [each for each in FAULTS if options.only in each.name]
    if not faults:
        sys.exit(f"There is no fault {options.only!r}.")
    bench = Bench(folder / "bench", is_long=not options.short)
    for work in bench.works:  # compile and load here what every child needs
        if work.name != "reproduce":
            place = bench.new_folder()
            with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
                sys.argv = ["smgrnn", *work.words]
                smgrnn()
    table, end = Table(), time.monotonic() + options.minutes * 60
    spent = dict.fromkeys(faults, 0.0)
    turns = {fault: iter(range(10**9)) for fault in faults}
    if options.case is not None:
        turns = {fault: iter([options.case]) for fault in faults}
    elif options.short:
        turns = {fault: iter(range(fault.n_short)) for fault in faults}
    while turns and (options.short or options.case is not None or time.monotonic() < end):
        fault = min(turns, key=lambda each: spent[each] / each.share)
        number = next(turns[fault], None)
        if number is None:
            del turns[fault]
            continue
        start = time.monotonic()
        try:
            found = fault.run(f"{options.seed}/{fault.name}", number, bench)
        except Exception:
            text = f"in the harness: {traceback.format_exc()[-800:]}"
            found = [Found("traceback", text)]
        bench.clear()
        spent[fault] += time.monotonic() - start
        table.add(fault.name, found, f'SEED={options.seed} ONLY="{fault.name}" CASE={number}')
    print(table)
    if options.json:
        options.json.write_text(json.dumps({"counts": table.counts, "details": table.details}))
    return bool(table.details)


main()
