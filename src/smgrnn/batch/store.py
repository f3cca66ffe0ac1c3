"""Store: the records of finished runs, each in one file that is named by the key of its plan.

A record is written beside its place and then moved there, so any number of processes may write and
read at once.  It carries a digest of itself, so that a damaged file is never taken for a result.
"""

import os
from pathlib import Path

from smgrnn.batch.experiment import Experiment
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.runs.record import Record
from smgrnn.storage import make_folder


class Store:
    """Finished runs in a folder, by the keys of their plans."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[str, str] = {}
        """Records that `find` could not read, and why; saving them again repairs them."""

    def path(self, key: str) -> Path:
        """Return the file of a record; many small folders are faster than one large one."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def has(self, key: str) -> bool:
        """Return whether there is a record, whole and readable."""
        return self.find(key) is not None

    def find(self, key: str) -> Record | None:
        """Return a record if there is one, whole and readable."""
        try:
            return self.load(key)
        except FileFormatError as error:
            if self.path(key).exists():
                self.damaged[key] = str(error)
            return None

    def load(self, key: str) -> Record:
        """Return a record; raise FileFormatError if it is missing or damaged."""
        path = self.path(key)
        record = Record.load(path)
        if record.plan.key() != key:
            raise FileFormatError(f"{path} holds another run than its name says.")
        return record

    def save(self, record: Record) -> None:
        """Keep a record, whole or not at all; an earlier one of the same plan is replaced."""
        path = self.path(record.plan.key())
        try:
            make_folder(path.parent)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
        record.save(path)

    def check_writable(self) -> None:
        """Make the folder; raise ConfigError now if nothing could be written to it later."""
        try:
            make_folder(self.folder)
        except OSError as error:
            raise ConfigError(f"{self.folder} cannot be made: {error.strerror}.") from error
        if not os.access(self.folder, os.W_OK):
            raise ConfigError(f"{self.folder} cannot be written to.")

    def lengths(self) -> dict[int, int]:
        """Return how long the runs are that are here: episodes, and seeds of runs that long."""
        seeds: dict[int, int] = {}
        for path in sorted(self.folder.glob("*/*.safetensors")):
            record = self.find(path.stem)
            if record is not None:
                n = record.plan.n_episodes
                seeds[n] = max(seeds.get(n, 0), record.plan.seed + 1)
        return seeds

    def records(self, experiment: Experiment) -> dict[str, list[Record]]:
        """Return the records found of an experiment: by condition, in the order of its seeds."""
        found: dict[str, list[Record]] = {name: [] for name in experiment.conditions}
        for name, condition, seed in experiment.runs():
            record = self.find(condition.key(seed))
            found[name] += [] if record is None else [record]
        return found
