"""Freeze runs that have no digest yet: `PYTHONPATH=tests python -m frozen NAME...`."""

import json
import sys
import tempfile
import warnings
from pathlib import Path

from frozen.bare import BARE
from frozen.runs import RUNS
from frozen.values import DIGESTS, frozen, records

warnings.simplefilter("ignore")
known = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
missing = [name for name in (*RUNS, *BARE) if name not in known]
if set(missing) != set(sys.argv[1:]):
    sys.exit(f"Name exactly the runs without a digest: {missing}")
for name in missing:
    with tempfile.TemporaryDirectory() as folder:
        known[name] = BARE[name]() if name in BARE else frozen(records(Path(folder), name))
lines = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in (*RUNS, *BARE))
DIGESTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
