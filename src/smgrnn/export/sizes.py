"""Sizes of a controller in C."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from smgrnn.export.c import state_bytes, table_bytes
from smgrnn.policy import Policy

COMPILE = ("cc", "-std=c99", "-Os")


class Sizes(NamedTuple):
    """Bytes of a controller in C."""

    table_bytes: int
    """Constant arrays: weights and wiring."""
    state_bytes: int
    """State that one controller keeps between two steps."""
    compiled_bytes: int | None
    """Code and constants compiled for this machine for size; None without a compiler."""


def measure(policy: Policy, source: Path) -> Sizes:
    """Return the sizes of a controller that was written to this source file."""
    return Sizes(table_bytes(policy), state_bytes(policy), _compiled_bytes(source))


def _compiled_bytes(source: Path) -> int | None:
    if not (shutil.which(COMPILE[0]) and shutil.which("size")):
        return None
    with TemporaryDirectory() as folder:
        compiled = Path(folder) / "controller.o"
        try:
            subprocess.run(
                [*COMPILE, "-c", source, "-o", compiled], capture_output=True, check=True
            )
            report = subprocess.run(["size", compiled], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None  # a compiler that cannot compile C99 is as good as none
    text, data, *_ = report.stdout.splitlines()[1].split()
    return int(text) + int(data)
