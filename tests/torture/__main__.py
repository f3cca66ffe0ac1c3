"""`python -m torture`: draw faults until the time is out, print the table, exit 1 on a bad one."""

import argparse
import contextlib
import io
import json
import os
import secrets
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path

CACHE = "build/torture"
"""Folder of compiled code that checks bounds, which takes minutes to make."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", default=str(secrets.randbelow(10**6)), help="to repeat a session")
    parser.add_argument("--only", default="", help="faults whose names have these words")
    parser.add_argument("--case", type=int, help="run this case of them and nothing else")
    parser.add_argument("--short", action="store_true", help="the fixed session of `make test`")
    parser.add_argument("--json", type=Path, help="also write the counts and the details here")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # before they are read
    if not options.short:  # code that checks bounds is compiled apart
        place = str(Path(CACHE).absolute())
        os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": place}
    print(f"seed {options.seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="smgrnn-torture-") as folder:
        is_bad = _session(options, Path(folder))
    sys.exit(is_bad)


def _session(options: argparse.Namespace, folder: Path) -> bool:
    """Draw cases, always of the fault that has had least of its share of the time."""
    from smgrnn.cli import main as smgrnn
    from torture.children import GOOD, Found
    from torture.faults import FAULTS
    from torture.works import Bench

    faults = [each for each in FAULTS if options.only in each.name]
    if not faults:
        sys.exit(f"There is no fault {options.only!r}.")
    bench = Bench(folder / "bench", is_long=not options.short)
    for work in bench.works:  # compile and load here what every child needs
        if work.name != "reproduce":
            with contextlib.chdir(bench.new_folder()), contextlib.redirect_stdout(io.StringIO()):
                sys.argv = ["smgrnn", *work.words]
                smgrnn()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    details, end = [], time.monotonic() + options.minutes * 60
    spent = dict.fromkeys(faults, 0.0)
    turns = {fault: iter(range(fault.n_short if options.short else 10**9)) for fault in faults}
    if options.case is not None:
        turns = {fault: iter([options.case]) for fault in faults}
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
            found = [Found("traceback", f"in the harness: {traceback.format_exc()[-800:]}")]
        bench.clear()
        spent[fault] += time.monotonic() - start
        case = f'SEED={options.seed} ONLY="{fault.name}" CASE={number}'
        for outcome, detail in found:
            counts[fault.name][outcome] += 1
            if outcome not in GOOD:
                details.append(f"{fault.name}: {outcome} (repeat: {case})\n  {detail}")
                print(details[-1], file=sys.stderr, flush=True)
    print("| fault | count | outcomes |\n|---|---:|---|")
    for kind, outcomes in sorted(counts.items()):
        words = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.most_common())
        print(f"| {kind} | {outcomes.total():,} | {words} |")
    if options.json:
        options.json.write_text(json.dumps({"counts": counts, "details": details}))
    return bool(details)


main()
