"""Sizes of a controller in C."""

import shutil
from pathlib import Path
from subprocess import CalledProcessError, run
from tempfile import TemporaryDirectory
from typing import NamedTuple

from smgrnn.errors import plain, reason
from smgrnn.export.c import state_bytes, table_bytes
from smgrnn.policy import Policy

COMPILE = ("cc", "-std=c99", "-Os")


class CodeSize(NamedTuple):
    """Bytes of a controller in C."""

    table_bytes: int
    """Constant arrays: weights and wiring."""
    state_bytes: int
    """State that one controller keeps between two steps."""
    compiled_bytes: int | None
    """Code and constants compiled for this machine for size; None if it could not be compiled."""
    obstacle: str = ""
    """Why it could not be compiled."""


def measure(policy: Policy, source: Path) -> CodeSize:
    """Return the sizes of a controller that was written to this source file."""
    return CodeSize(table_bytes(policy), state_bytes(policy), *_compile(source))


def _compile(source: Path) -> tuple[int | None, str]:
    """Return the bytes of the compiled code, or None and why there are none."""
    if not (shutil.which(COMPILE[0]) and shutil.which("size")):
        return None, "no C compiler was found to measure the code with"
    with TemporaryDirectory() as folder:
        compiled = Path(folder) / "controller.o"
        try:
            _run(*COMPILE, "-c", source, "-o", compiled)
            text, data, *_ = _run("size", compiled).splitlines()[1].split()
            return int(text) + int(data), ""
        except CalledProcessError as error:
            code, lines = f"exit code {error.returncode}", error.stderr.splitlines()
            said = next((plain(line) for line in lines if "error" in line), code)
            return None, f"{' '.join(COMPILE)} failed: {said}"
        except (OSError, ValueError, IndexError) as error:
            return None, f"the code could not be measured: {reason(error)}"


def _run(*command: str | Path) -> str:
    return run(command, capture_output=True, text=True, check=True).stdout
