"""How far a dry run goes through the package: files, jumps between them, settings made on the way.

A file is entered when one of its functions is called; those that are only imported, with their
class bodies and decorators, are counted apart.

Run with `python benchmarks/files_entered.py [WORDS ...]`, the words of a command; by default
`distill CartPole-v1 --dry-run`.
"""

import io
import sys
from collections import Counter
from contextlib import redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import smgrnn
from smgrnn.cli import main

HOME = str(Path(smgrnn.__file__).parent)
WORDS = ["distill", "CartPole-v1", "--dry-run"]
RUN_SETTINGS, SETTINGS = "RunConfig", "Settings"


class Counted:
    """Counts the calls of the package's functions; a jump is a call from another of its files."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.imported: set[str] = set()
        self.n_imports = 0
        self.counts: Counter[str] = Counter()
        self.last = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note one event of the profiler."""
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        if function == "<module>" and event in ("call", "return"):
            self.n_imports += 1 if event == "call" else -1
        if event != "call" or not file.startswith(HOME) or function == "<module>":
            return
        if self.n_imports:
            self.imported.add(file)
            return
        self.files.add(file)
        self.counts["jumps"] += file != self.last
        self.last = file
        if function == "__post_init__":
            kinds = {kind.__name__ for kind in type(frame.f_locals["self"]).__mro__}
            is_base = "validation" in file  # which every settings object comes to
            self.counts["run settings"] += is_base and RUN_SETTINGS in kinds
            self.counts["validated"] += is_base and SETTINGS in kinds


def run(words: list[str]) -> None:
    counted = Counted()
    sys.argv = ["smgrnn", *words]
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        sys.setprofile(counted)
        main()
    sys.setprofile(None)
    print(f"{len(counted.files)} files entered, {counted.counts['jumps']} jumps between files")
    print(f"{len(counted.imported - counted.files)} more files imported")
    print(f"{counted.counts['run settings']} settings of a run made")
    print(f"{counted.counts['validated']} settings validated")


if __name__ == "__main__":
    run(sys.argv[1:] or WORDS)
