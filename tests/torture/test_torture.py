"""A short session with a fixed seed, of every fault that takes no time; `make torture` goes on."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from torture.faults import FAULTS

pytestmark = pytest.mark.xdist_group("torture")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the outcomes of a short session; it forks, so it has a process of its own."""
    told = tmp_path_factory.mktemp("torture") / "table.json"
    command = [sys.executable, "-m", "torture", "--short", "--seed", "0"]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # of this package and `support`
    done = subprocess.run(
        [*command, "--json", str(told)], capture_output=True, text=True, check=False, env=paths
    )
    assert told.exists(), done.stderr
    return json.loads(told.read_text())


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS if fault.n_short])
def test_a_fault_does_no_harm(session: Any, name: str) -> None:
    assert session["counts"].get(name), "it was not tried"
    assert [each for each in session["details"] if each.startswith(f"{name}: ")] == []
