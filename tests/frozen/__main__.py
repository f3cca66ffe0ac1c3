"""Freeze what has no digest yet: `PYTHONPATH=tests python -m frozen`."""

import json
import tempfile
import warnings
from pathlib import Path

from frozen.bare import BARE
from frozen.runs import RUNS
from frozen.values import DIGESTS, frozen, records

warnings.simplefilter("ignore")
known = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
for name in [name for name in (*RUNS, *BARE) if name not in known]:
    with tempfile.TemporaryDirectory() as folder:
        known[name] = BARE[name]() if name in BARE else frozen(records(Path(folder), name))
lines = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in (*RUNS, *BARE))
DIGESTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
