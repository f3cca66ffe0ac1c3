"""The run folder: the record in one file, and results for other tools as JSON and CSV.

`model.safetensors` is the record: everything about a run, replaced as a whole.  A run that was
killed is resumed from it, and repeats all it had done since, bit for bit.  So does the command that
began it, if it is given again; with other settings it is refused.  A checkpoint waits for the disk
if that is a small part of the time since the last one that did; another one is noted beside it.
"""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from smgrnn.episodes.table import edits_table, episodes_table
from smgrnn.errors import ConfigError, FileFormatError, short
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import MODEL, Record, record_file
from smgrnn.storage import LOCK, locked, make_folder, remove_empty, write_files, writing

SUMMARY = "run.json"
NOTED = ".noted.safetensors"
"""File name of a record that is later than the one in its home, but perhaps not on the disk."""
PARTIAL = ".*.partial"
"""Names of files that are being written."""
MOST_SPENT = 0.01
"""Most of the time of a run that is spent on checkpoints which wait for the disk."""


class RunFolder:
    """The folder of a run: one process at a time writes to it, going on from what it saw there.

    The folder need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = _stamp(path)
        self._is_owned = False
        self._is_new = self.is_empty
        self._made: list[Path] = []
        self._saved, self._cost = -inf, 0.0  # when it last was, and how long that took

    @property
    def is_empty(self) -> bool:
        """Whether no record was here when this process last looked."""
        return not self._seen

    @property
    def stamp(self) -> tuple[tuple[int, int], ...]:
        """The mark of the version of the record that was last seen here."""
        return self._seen

    @property
    def has_results(self) -> bool:
        """Whether the results for other tools are here, and of the record or later."""
        results, model = self.path / SUMMARY, self.path / MODEL
        return results.exists() and results.stat().st_mtime_ns >= model.stat().st_mtime_ns

    def find_record(self) -> Record | None:
        """Return the record of a run that was begun here, if any; refuse a folder of other things.

        One that was killed before its first record was whole has left nothing but partial files.
        """
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise ConfigError(f"{self.path} exists and is no folder; choose another with --out.")
        if (self.path / MODEL).exists():
            return self.load()
        left_over = [self.path / LOCK, *self.path.glob(PARTIAL)]
        if any(each not in left_over for each in self.path.iterdir()):
            raise ConfigError(
                f"{self.path} exists and holds no run; choose another folder with --out."
            )
        return None

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes out while the block runs."""
        if self._is_owned:
            yield
            return
        self._made += make_folder(self.path)
        with locked(self.path):
            if _stamp(self.path) != self._seen:
                raise ConfigError(
                    f"Another process has gone on with the run in {self.path}; repeat the command "
                    f"to go on from there."
                )
            for stale in self.path.glob(PARTIAL):  # of a process that was killed while writing
                stale.unlink(missing_ok=True)
            self._is_owned = True
            try:
                yield
            finally:
                self._is_owned = False

    def load(self) -> Record:
        """Return the record, or what was noted after it, if that is whole."""
        record = Record.load(self.path)
        try:
            noted = Record.load(self.path / NOTED)
        except FileFormatError:  # there is none, or a power cut spoiled it
            return record
        is_later = noted.plan == record.plan and noted.episodes.n > record.episodes.n
        return noted if is_later else record

    def save(self, record: Record) -> None:
        """Replace the record as a whole; when this returns it is on the disk."""
        begin = time.monotonic()
        record.save(self.path)
        (self.path / NOTED).unlink(missing_ok=True)
        self._seen, self._saved = _stamp(self.path), time.monotonic()
        self._cost = self._saved - begin

    def discard(self) -> None:
        """Remove what was made for a run that failed at once, so that it leaves nothing behind."""
        if not self._is_new:
            return
        for name in (MODEL, NOTED, LOCK):
            (self.path / name).unlink(missing_ok=True)
        self._seen = _stamp(self.path)
        remove_empty(self._made)

    def keep(self, record: Record) -> None:
        """Save a record if that takes little of the time since the last, and else only note it.

        A noted record outlives the process, but not a power cut.
        """
        if time.monotonic() - self._saved >= self._cost / MOST_SPENT:
            self.save(record)
        else:
            record.save(self.path / NOTED, is_durable=False)
            self._seen = _stamp(self.path)


def runs_in(path: Path) -> list[Path]:
    """Return the run folders in a folder, however deep, by name; a run itself is all there is.

    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=1, out="many/one")
    >>> [str(each) for each in runs_in(Path("many"))]
    ['many/one']
    """
    if record_file(path).exists() or not path.is_dir():
        return [path]
    return sorted(each.parent for each in path.rglob(MODEL) if each.parent != path)


def load_runs(paths: Iterable[Path]) -> dict[str, Record]:
    """Return the runs at these paths, and of a folder of runs all that are in it."""
    found = [run for path in paths for run in runs_in(path)]
    if not found:
        raise ConfigError("There are no runs here: name run folders, or a folder of them.")
    return {str(path): Record.load(path) for path in found}


def _stamp(path: Path) -> tuple[tuple[int, int], ...]:
    """Return a mark that differs between versions of the record; an empty one if there is none."""
    found = [(path / name).stat() for name in (MODEL, NOTED) if (path / name).exists()]
    return tuple((each.st_ino, each.st_mtime_ns) for each in found)


def check_same(plan: AnyPlan, begun: AnyPlan, folder: Path) -> None:
    """Refuse to go on with a run that was begun with other settings, or whose task has changed."""
    if plan.task.id == begun.task.id and plan.task.digest != begun.task.digest:
        raise ConfigError(
            f"{folder} holds a run of {plan.task.id} as it was, with other facts than now; choose "
            f"another folder with --out."
        )
    if plan.key() != begun.key():
        raise ConfigError(
            f"{folder} exists and holds another run{_difference(plan, begun)}; choose another "
            f"folder with --out."
        )
    if isinstance(plan, Plan) and isinstance(begun, Plan) and plan.ancestor != begun.ancestor:
        raise ConfigError(f"{folder} goes on from another student than the stage before has.")


def _difference(plan: AnyPlan, begun: AnyPlan) -> str:
    """Return the first setting in which two plans differ, if they are of one kind."""
    if type(plan) is not type(begun):
        return ""
    now, before = (_flat(each.key_content()) for each in (plan, begun))
    values = [_flat(begun.to_dict()) | before, _flat(plan.to_dict()) | now]  # and the defaults
    for name in {**now, **before}:
        if now.get(name) != before.get(name):
            was, wanted = (short(each.get(name), 30) for each in values)
            return f", with {name} {was} instead of {wanted}"
    return ""


def _flat(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def folder_summary(record: Record, path: Path | None) -> dict[str, Any]:
    """Return the figures of a run, and the folder it is kept in."""
    return record.summary() | {"run_dir": str(path) if path else None}


def write_results(path: Path, record: Record) -> None:
    """Write the results for other tools: run.json, the episodes and the edits."""
    content = {
        "task": record.plan.task.id,
        "plan": record.plan.to_dict(),
        "summary": folder_summary(record, path),
        "versions": dict(record.versions),
    }
    files = {
        "episodes.csv": episodes_table(record.episodes),
        "edits.csv.gz": edits_table(record.edits),
    }
    files |= record.plan.tables(record) | {SUMMARY: (json.dumps(content, indent=2) + "\n").encode()}
    with writing(path):
        write_files(path, files)
