"""`python -m torture`: draw faults until the time is out, print the table, exit 1 on a bad one."""

import argparse
import json
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

CACHE = "build/torture"
"""Folder of compiled code that checks bounds, which takes minutes to make."""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", default=str(secrets.randbelow(10**6)), help="to repeat a session")
    parser.add_argument("--only", default="", help="faults whose names have these words")
    parser.add_argument("--case", type=int, help="run this case of them and nothing else")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--short", action="store_true", help="the fixed session of `make test`")
    parser.add_argument("--unchecked", action="store_true", help="use code that checks no bounds")
    parser.add_argument("--json", type=Path, help="also write the counts and the details here")
    return parser.parse_args()


def main() -> None:
    """Run a session and print its table."""
    options = _options()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # before they are read
    if not (options.short or options.unchecked):  # code that checks bounds is compiled apart
        place = str(Path(CACHE).absolute())
        os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": place}
    from torture.session import Session

    print(f"seed {options.seed}", file=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="smgrnn-torture-"))
    session = Session(
        seed=options.seed,
        folder=folder,
        seconds=options.minutes * 60,
        only=options.only,
        case=options.case,
        is_short=options.short,
    )
    try:
        table = session.run(1 if options.case is not None else options.jobs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table)
    if options.json:
        options.json.write_text(json.dumps({"counts": table.counts, "details": table.details}))
    sys.exit(1 if table.n_bad else 0)


main()
