"""Power cuts: what is on the disk is what was synced, and nothing else.

Where mounts are allowed the command runs on an ext4 image, of which a copy is taken while it is
mounted.  A shim does the same everywhere, and is stricter: of a file, only what was synced is
there, and of a name, only what was in its folder when that was synced.
"""

import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.runs.record import Record, record_file
from torture.children import Child, Ended, command
from torture.disks import mount, unmount
from torture.filecalls import FileCalls
from torture.outcomes import Found, misbehaviour
from torture.works import Bench, Work, compared, end_of, finish

IMAGE_BYTES = 24 * 2**20


class Promises:
    """Notes, outside of the folder at stake, every record that a command has kept."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder, folder.with_name(f"{folder.name}.promises")
        self._log.touch()

    def install(self) -> None:
        """Note the records that this process keeps from now on."""
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
        self._note_folder(folder)

    def install(self) -> None:
        """Watch this process from now on."""
        sync = os.fsync

        def noted(descriptor: int) -> None:
            sync(descriptor)
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.is_relative_to(self._folder):
                self._note(path)

        os.fsync = noted  # type: ignore[assignment]

    def _note(self, path: Path) -> None:
        if path.is_dir():
            self._note_folder(path)
        else:
            self._pin(path)
            shutil.copyfile(path, self._disk / f"{path.stat().st_ino}.content")

    def _note_folder(self, path: Path) -> None:
        names = {}
        for each in path.iterdir():
            found = each.stat()
            names[each.name] = [found.st_ino, stat.S_ISDIR(found.st_mode)]
            if each.is_file():
                self._pin(each)
        partial = self._disk / "partial"
        partial.write_text(json.dumps(names))
        partial.rename(self._disk / f"{path.stat().st_ino}.names")

    def _pin(self, path: Path) -> None:
        """Hold on to a file, so that no other gets its number."""
        pin = self._disk / f"{path.stat().st_ino}.pin"
        if not pin.exists():
            pin.hardlink_to(path)

    def restore(self) -> None:
        """Put into the folder what was synced, and nothing else."""
        number = self._folder.stat().st_ino
        for each in self._folder.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        self._restore_folder(self._folder, number)

    def _restore_folder(self, path: Path, number: int) -> None:
        names = self._disk / f"{number}.names"
        for name, (each, is_folder) in (
            json.loads(names.read_text()).items() if names.exists() else ()
        ):
            content = self._disk / f"{each}.content"
            if is_folder:
                (path / name).mkdir()
                self._restore_folder(path / name, each)
            elif content.exists():
                shutil.copyfile(content, path / name)
            else:
                (path / name).touch()


def cut_by_shim(rng: Random, bench: Bench) -> list[Found]:
    """Cut the power at a random call that changes a file, or when the command has ended."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    promises, disk = Promises(folder), SyncedOnly(folder)
    last = rng.randint(1, bench.undisturbed(work).n_calls + 1)
    ended = Child(
        command(work.words, _dying_at(last), disk.install, promises.install), folder
    ).wait()
    disk.restore()
    return [misbehaviour(ended) or _after_cut(bench, work, folder, promises, ended)]


def cut_by_image(rng: Random, bench: Bench) -> list[Found]:
    """Copy the image of a mounted ext4 at a random call, or when the command has ended."""
    work, folder = rng.choice(bench.works), bench.new_folder()
    image, copy = folder.with_name(f"{folder.name}.image"), folder.with_name(f"{folder.name}.copy")
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True, capture_output=True)
    mount("-o", "loop", str(image), str(folder))
    promises = Promises(folder)
    last = rng.randint(1, bench.undisturbed(work).n_calls + 1)
    stopping = _dying_at(last, signal.SIGSTOP)
    child = Child(command(work.words, stopping, promises.install), folder)
    child.wait_stopped()
    shutil.copyfile(image, copy)
    if child.is_running:
        child.send(signal.SIGKILL)
    ended = child.wait()
    unmount(folder)
    mount("-o", "loop", str(copy), str(folder))
    try:
        return [misbehaviour(ended) or _after_cut(bench, work, folder, promises, ended)]
    finally:
        unmount(folder)
        image.unlink()
        copy.unlink()


def _dying_at(n: int, number: int = signal.SIGKILL) -> Callable[[], None]:
    def strike(_: str, at: int) -> None:
        if at == n:
            os.kill(os.getpid(), number)

    return FileCalls(strike).install


def _after_cut(bench: Bench, work: Work, folder: Path, promises: Promises, ended: Ended) -> Found:
    """Return whether all that was promised is there, and whether the command goes on."""
    if broken := promises.broken(folder):
        return broken
    if ended.code:
        return finish(bench, work, folder)
    return compared(end_of(folder), bench.undisturbed(work).end)
