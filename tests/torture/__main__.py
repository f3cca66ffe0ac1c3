"""`python -m torture`: draw faults until the time is out, print the table, exit 1 on a bad one.

Each process of a session has a seed of its own, which is that of the session and a number.
"""

import argparse
import contextlib
import io
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from torture.children import GOOD, Found

CACHE = "build/torture"
"""Folder of compiled code that checks bounds, which takes minutes to make."""
TOTALS = {
    "losses": ("lost", "stuck"),
    "tracebacks": ("traceback", "wordy"),
    "crashes": ("crash",),
    "hangs": ("hang",),
    "silent changes": ("changed",),
    "code executions": ("ran code",),
}
"""Rows of the second table, and the outcomes that each counts."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", default=str(secrets.randbelow(10**6)), help="to repeat a session")
    parser.add_argument("--only", default="", help="faults whose names have these words")
    parser.add_argument("--case", type=int, help="run this case of them and nothing else")
    parser.add_argument("--jobs", type=int, help="processes that draw (default: one per core)")
    parser.add_argument("--short", action="store_true", help="the fixed session of `make test`")
    parser.add_argument("--json", type=Path, help="also write the counts and the details here")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # before they are read
    if not options.short:  # code that checks bounds is compiled apart
        place = str(Path(CACHE).absolute())
        os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": place}
    print(f"seed {options.seed}", file=sys.stderr)
    n_jobs = options.jobs or len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="smgrnn-torture-") as folder:
        if n_jobs == 1 or options.short or options.case is not None:
            found = _session(options, Path(folder))
        else:
            found = _sessions(n_jobs, options, Path(folder))
    _print_tables(found["counts"])
    if options.json:
        options.json.write_text(json.dumps(found))
    sys.exit(bool(found["details"]))


def _sessions(n_jobs: int, options: argparse.Namespace, folder: Path) -> Any:
    """Draw in several processes at once, and return what all have found."""
    files = [folder / f"{number}.json" for number in range(n_jobs)]
    words = [sys.executable, "-m", "torture", f"--minutes={options.minutes}", "--jobs=1"]
    words += [f"--only={options.only}"]
    started = [
        subprocess.Popen(
            [*words, f"--seed={options.seed}.{number}", f"--json={file}"], stdout=subprocess.DEVNULL
        )
        for number, file in enumerate(files)
    ]
    for each in started:
        each.wait()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    details: list[str] = []
    for each, file in zip(started, files, strict=True):
        if not file.exists():
            sys.exit(f"A process of the session ended with code {each.returncode}.")
        found = json.loads(file.read_text())
        details += found["details"]
        for name, outcomes in found["counts"].items():
            counts[name].update(outcomes)
    return {"counts": counts, "details": details}


def _print_tables(counts: dict[str, Counter[str]]) -> None:
    """Print what became of each fault, and the sums by which a session is judged."""
    from torture.faults import FAULTS

    print("| fault | count | outcomes |\n|---|---:|---|")
    for name, outcomes in sorted(counts.items()):
        words = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.most_common())
        print(f"| {name} | {outcomes.total():,} | {words} |")
    kinds = {fault.name: fault.kind for fault in FAULTS}
    sums: Counter[str] = Counter()
    for name, outcomes in counts.items():
        sums[kinds[name]] += outcomes.total() - outcomes["missed"]
        sums.update(outcomes)
    totals = {"kills": sums["kill"], "bad inputs": sums["input"]}
    totals |= {row: sum(sums[each] for each in outcomes) for row, outcomes in TOTALS.items()}
    print("\n| in all | count |\n|---|---:|")
    for row, n in totals.items():
        print(f"| {row} | {n:,} |")


def _session(options: argparse.Namespace, folder: Path) -> Any:
    """Draw cases, always of the fault that has had least of its share of the time."""
    from smgrnn.cli import main as smgrnn
    from torture.faults import FAULTS
    from torture.works import Bench

    faults = [each for each in FAULTS if options.only in each.name]
    if not faults:
        sys.exit(f"There is no fault {options.only!r}.")
    bench = Bench(folder / "bench", is_long=not options.short)
    for work in bench.works:  # compile and load here what every child needs
        if work.name not in ("reproduce", "tune"):  # which use other processes
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
    return {"counts": counts, "details": details}


main()
