"""The run folder: the record in one file, and results for other tools as JSON and CSV.

`model.safetensors` is the record: everything about a run, replaced as a whole.  A run that was
killed resumes from it and repeats the rest bit for bit.  So does the command that began it; with
other settings it is refused.  A checkpoint waits for the disk if that takes a small fraction of the
time since the last one that did; otherwise it is noted beside the record.
"""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from smgrnn.episodes.table import edits_table, episodes_table
from smgrnn.errors import ConfigError, FileFormatError, short
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import MODEL, record_file
from smgrnn.storage import LOCK, check_place, locked, make_folder, remove_empty, write_files
from smgrnn.validation import flatten

SUMMARY = "run.json"
NOTED = ".noted.safetensors"
"""File name of a later record, which may not be on the disk yet."""
PARTIAL = ".*.partial"
"""Names of files that are being written."""
MOST_SPENT = 0.01
"""Largest fraction of the time spent on checkpoints that wait for the disk."""


class RunFolder:
    """The folder of a run, which one process at a time writes to; it need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp = _stamp(path)
        """The mark of the version of the record that was last seen here; empty if there was none.
        """
        self._is_new, self._is_owned = not self.stamp, False
        self._made: list[Path] = []
        self._saved, self._cost = -inf, 0.0  # when it was last saved, and how long that took

    @property
    def has_results(self) -> bool:
        """Whether the results for other tools are here, and no older than the record."""
        results, model = self.path / SUMMARY, self.path / MODEL
        return results.exists() and results.stat().st_mtime_ns >= model.stat().st_mtime_ns

    def find_record(self) -> Record | None:
        """Return the record of the run begun here, if any; refuse a folder with other content.

        A run that was killed during its first save has left partial files only, which are hidden.
        """
        if (self.path / MODEL).exists():
            return self.load()
        check_place(self.path, "run")
        return None

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes out during the block."""
        if self._is_owned:
            yield
            return
        self._made += make_folder(self.path)
        with locked(self.path):
            if _stamp(self.path) != self.stamp:
                raise ConfigError(
                    f"Another process has continued the run in {self.path}. Repeat the command to "
                    f"resume it."
                )
            for stale in self.path.glob(PARTIAL):  # of a process that was killed while writing
                stale.unlink(missing_ok=True)
            self._is_owned = True
            try:
                yield
            finally:
                self._is_owned = False

    def load(self) -> Record:
        """Return the record, or the one noted after it, if that is whole."""
        record = Record.load(self.path)
        try:
            noted = Record.load(self.path / NOTED)
        except FileFormatError:  # it does not exist, or a power cut spoiled it
            return record
        is_later = noted.plan == record.plan and noted.extent > record.extent
        return noted if is_later else record

    def save(self, record: Record) -> None:
        """Replace the record as a whole; when this returns it is on the disk."""
        begin = time.monotonic()
        record.save(self.path)
        (self.path / NOTED).unlink(missing_ok=True)
        self.stamp, self._saved = _stamp(self.path), time.monotonic()
        self._cost = self._saved - begin

    def keep(self, record: Record) -> None:
        """Save a record if that takes little of the time since the last save; else only note it.

        A noted record outlives the process, but not a power cut.
        """
        if time.monotonic() - self._saved >= self._cost / MOST_SPENT:
            self.save(record)
        else:
            record.save(self.path / NOTED, is_durable=False)
            self.stamp = _stamp(self.path)

    def discard(self) -> None:
        """Remove what was made for a run that failed before its first episode."""
        if self._is_new:
            for name in (MODEL, NOTED, LOCK):
                (self.path / name).unlink(missing_ok=True)
            self.stamp = _stamp(self.path)
            remove_empty(self._made)


def runs_in(path: Path) -> list[Path]:
    """Return the run folders in a folder, at any depth; a run folder is its own only one."""
    if record_file(path).exists() or not path.is_dir():
        return [path]
    return sorted(each.parent for each in path.rglob(MODEL) if each.parent != path)


def load_runs(paths: Iterable[Path]) -> dict[str, Record]:
    """Return the runs in these folders, at any depth."""
    found = [run for path in paths for run in runs_in(path)]
    if not found:
        raise ConfigError("No runs found. Name run folders, or a folder of runs.")
    return {str(path): Record.load(path) for path in found}


def _stamp(path: Path) -> tuple[tuple[int, int], ...]:
    """Return a mark that differs between versions of the record; empty without one."""
    found = [(path / name).stat() for name in (MODEL, NOTED) if (path / name).exists()]
    return tuple((each.st_ino, each.st_mtime_ns) for each in found)


def check_same(plan: AnyPlan, begun: AnyPlan, folder: Path) -> None:
    """Refuse to resume a run that was begun with other settings, or whose task has changed."""
    if plan.task.id == begun.task.id and plan.task.digest != begun.task.digest:
        raise ConfigError(
            f"{folder} holds a run of {plan.task.id} with other facts. Use another --out."
        )
    if plan.polished_as(begun).key() != begun.key():
        other = _difference(plan, begun)
        raise ConfigError(f"{folder} exists and holds another run{other}. Use another --out.")
    if isinstance(plan, Plan) and isinstance(begun, Plan) and plan.ancestor != begun.ancestor:
        raise ConfigError(f"{folder} continues another student than that of the stage before.")


def _difference(plan: AnyPlan, begun: AnyPlan) -> str:
    """Return the first setting in which two plans differ, if they are of one kind."""
    if type(plan) is type(begun):
        keys = [flatten(each.key_content()) for each in (plan, begun)]
        now, before = (  # with the defaults, which no key has
            flatten(each.to_dict()) | key for each, key in zip((plan, begun), keys, strict=True)
        )
        for name in keys[0] | keys[1]:
            if now.get(name) != before.get(name):
                was, wanted = (short(each.get(name), 30) for each in (before, now))
                return f", with {name} {was} instead of {wanted}"
    return ""


def write_results(path: Path, record: Record) -> None:
    """Write the results for other tools: run.json, the episodes and the edits."""
    content = {
        "task": record.plan.task.id,
        "plan": record.plan.to_dict(),
        "summary": record.summary() | {"run_dir": str(path)},
        "versions": dict(record.versions),
    }
    files = {
        "episodes.csv": episodes_table(record.episodes),
        "edits.csv.gz": edits_table(record.edits),
        **record.plan.tables(record),
        SUMMARY: (json.dumps(content, indent=2) + "\n").encode(),
    }
    write_files(path, files)
