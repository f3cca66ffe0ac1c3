"""Store: the records of finished runs, each in one file that is named by what it depends on.

A record is written beside its place and then moved there, so any number of processes may write and
read at once.  It carries a digest of itself: what is damaged is not a result.
"""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.experiments.experiment import Experiment
from smgrnn.experiments.record import RunRecord
from smgrnn.storage import Arrays, read_arrays, write_arrays

KIND = "record"


class Store:
    """Finished runs in a folder, by the keys of `Condition.key`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.damaged: dict[str, str] = {}
        """Records that `find` met and could not read, and why; to save them again mends them."""

    def path(self, key: str) -> Path:
        """Return the file of a record; many small folders are faster than one large one."""
        return self.folder / key[:2] / f"{key}.safetensors"

    def has(self, key: str) -> bool:
        """Return whether there is a record, whole and readable."""
        return self.find(key) is not None

    def find(self, key: str) -> RunRecord | None:
        """Return a record if there is one, whole and readable."""
        try:
            return self.load(key)
        except FileFormatError as error:
            if self.path(key).exists():
                self.damaged[key] = str(error)
            return None

    def load(self, key: str) -> RunRecord:
        """Return a record; one that is missing or damaged is a FileFormatError."""
        path = self.path(key)
        content, arrays = read_arrays(path, KIND)
        try:
            values = content["record"]
            is_whole = content["digest"] == _digest(key, values, arrays)
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"{path} does not hold a record ({error}).") from error
        if not is_whole:
            raise FileFormatError(f"{path} is damaged: it is not what was written to it.")
        return RunRecord.from_parts(values, arrays)

    def save(self, key: str, record: RunRecord) -> None:
        """Keep a record, whole or not at all; an earlier one of the same key is replaced."""
        values, arrays = record.to_parts()
        content = {"digest": _digest(key, values, arrays), "record": values}
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_arrays(path, KIND, content, arrays)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error

    def check_writable(self) -> None:
        """Make the folder, or say now that nothing could be kept in it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{self.folder} cannot be made: {error.strerror}.") from error
        if not os.access(self.folder, os.W_OK):
            raise ConfigError(f"{self.folder} cannot be written to.")

    def records(self, experiment: Experiment) -> dict[str, list[RunRecord]]:
        """Return what there is of an experiment: by condition, in the order of its seeds."""
        found: dict[str, list[RunRecord]] = {name: [] for name in experiment.conditions}
        for name, condition, seed in experiment.runs():
            record = self.find(condition.key(seed))
            found[name] += [] if record is None else [record]
        return found


def _digest(key: str, values: Any, arrays: Arrays) -> str:
    """Return the digest of a record and of the key it was written for."""
    sums = sha256(json.dumps([key, values], sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        sums.update(f"{name} {array.dtype} {array.shape}".encode())
        sums.update(array.tobytes())
    return sums.hexdigest()
