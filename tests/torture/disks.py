"""Disks that fail: full, read-only or broken from a call on, or without power.

Of a file, only what was synced survives a power cut; of a name, only what was in its folder when
that was synced.  No file system is as strict.
"""

import errno
import json
import os
import shutil
import signal
import stat
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.runs.record import Record
from smgrnn.runs.record_file import record_file
from torture.children import Child, Found, command
from torture.filecalls import FileCalls, struck_at
from torture.works import Bench, losses, settled

TAKES_ROOM = {"open", "write", "mkdir", "link"}
"""Calls that fail on a full disk; on a read-only one all do."""


def starve(rng: Random, bench: Bench) -> list[Found]:
    """Let every call fail, from a random one on, with the error of a full or a read-only disk."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    number = rng.choice([errno.ENOSPC, errno.EROFS, errno.EIO])
    first = rng.randint(1, bench.undisturbed(work).n_calls)

    def strike(name: str, at: int) -> None:
        if at >= first and (number != errno.ENOSPC or name in TAKES_ROOM):
            raise OSError(number, os.strerror(number), str(folder))

    ended = Child(command(work.words, FileCalls(strike).install), folder).wait()
    return [losses({}, folder)[1] or settled(bench, work, folder, ended)]


def cut_power(rng: Random, bench: Bench) -> list[Found]:
    """Cut the power at a random call that changes a file, or when the command has ended."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    promises, disk = Promises(folder), SyncedOnly(folder)
    last = rng.randint(1, bench.undisturbed(work).n_calls + 1)
    dying = struck_at(last, signal.SIGKILL)
    ended = Child(command(work.words, dying, disk.install, promises.install), folder).wait()
    disk.restore()
    return [promises.broken(folder) or settled(bench, work, folder, ended)]


class Promises:
    """Notes, outside of the folder at stake, every record that a command has kept."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder, folder.with_name(f"{folder.name}.promises")
        self._log.touch()

    def install(self) -> None:
        save, log = Record.save, os.open(self._log, os.O_WRONLY | os.O_APPEND)

        def noted(record: Record, path: Any, **how: Any) -> None:
            save(record, path, **how)
            name = str(record_file(Path(path)).absolute().relative_to(self._folder))
            if how.get("is_durable", True):
                os.write(log, (json.dumps([name, record.episodes.n]) + "\n").encode())

        Record.save = noted  # type: ignore[method-assign,assignment]

    def broken(self, folder: Path) -> Found | None:
        """Return what was promised and is not there, or not whole."""
        promised = dict(map(json.loads, self._log.read_text().splitlines()))
        for name, n in promised.items():
            try:
                found = Record.load(folder / name).episodes.n
            except Exception as error:
                return Found("lost", f"{name} was kept, and after the cut: {error}")
            if found < n:
                return Found("lost", f"{name} had {n} episodes, and after the cut {found}")
        return None


class SyncedOnly:
    """Keeps a copy of what was synced below a folder, as a disk does that loses its power."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._disk = folder, folder.with_name(f"{folder.name}.disk")
        self._disk.mkdir()
        self._note(folder)

    def install(self) -> None:
        sync = os.fsync

        def noted(descriptor: int) -> None:
            sync(descriptor)
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.is_relative_to(self._folder):
                self._note(path)

        os.fsync = noted  # type: ignore[assignment]

    def _note(self, path: Path) -> None:
        """Copy a file, or the names in a folder, by the number that the file system gave it."""
        number = path.stat().st_ino
        if not path.is_dir():
            self._pin(path)
            shutil.copyfile(path, self._disk / f"{number}.content")
            return
        names = {}
        for each in path.iterdir():
            found = each.stat()
            names[each.name] = [found.st_ino, stat.S_ISDIR(found.st_mode)]
            if each.is_file():
                self._pin(each)
        partial = self._disk / "partial"
        partial.write_text(json.dumps(names))
        partial.rename(self._disk / f"{number}.names")

    def _pin(self, path: Path) -> None:
        """Hold on to a file, so that no other gets its number."""
        pin = self._disk / f"{path.stat().st_ino}.pin"
        if not pin.exists():
            pin.hardlink_to(path)

    def restore(self) -> None:
        number = self._folder.stat().st_ino
        for each in self._folder.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        self._restore(self._folder, number)

    def _restore(self, path: Path, number: int) -> None:
        names = self._disk / f"{number}.names"
        entries = json.loads(names.read_text()) if names.exists() else {}
        for name, (each, is_folder) in entries.items():
            content = self._disk / f"{each}.content"
            if is_folder:
                (path / name).mkdir()
                self._restore(path / name, each)
            elif content.exists():
                shutil.copyfile(content, path / name)
            else:
                (path / name).touch()
