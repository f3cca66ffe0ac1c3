"""The instruments of torture notice what they are there to notice."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from smgrnn.storage import write_file
from torture.children import Ended, misbehaviour
from torture.disks import SyncedOnly
from torture.filecalls import NAMES, FileCalls, Strike


def ended(code: int = 0, err: str = "", **changes: Any) -> Ended:
    return Ended(code, "", err, 0.1, is_struck=False, is_hung=False)._replace(**changes)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (ended(is_hung=True), "hang"),
        (ended(1, "Traceback (most recent call last):\n  …"), "traceback"),
        (ended(-11), "crash"),
        (ended(2, "line\n" * 1243), "wordy"),
        (ended(2, "smgrnn: It is wrong.\n"), None),
        (ended(-9, is_struck=True), None),
    ],
)
def test_a_process_that_misbehaves_is_found(end: Ended, outcome: str | None) -> None:
    found = misbehaviour(end)
    assert (found and found.outcome) == outcome


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Any:

    def install(strike: Strike) -> None:
        for name in (*NAMES, "open"):
            monkeypatch.setattr(os, name, getattr(os, name))
        for place in ("io.open", "builtins.open"):
            monkeypatch.setattr(place, open)
        FileCalls(strike).install()

    return install


def test_every_call_that_changes_a_file_is_met(watch: Any, tmp_path: Path) -> None:
    met: list[str] = []
    watch(lambda name, _: met.append(name))
    write_file(tmp_path / "a", b"1234")
    assert met == ["unlink", "open", "write", "write", "fsync", "replace", "unlink", "fsync"]
    assert (tmp_path / "a").read_bytes() == b"1234"


def test_a_write_can_fail_when_half_is_written(watch: Any, tmp_path: Path) -> None:
    def strike(_: str, number: int) -> None:
        if number == 3:
            raise OSError(errno.ENOSPC, "full")

    watch(strike)
    with pytest.raises(OSError, match="full"), (tmp_path / "a").open("wb", buffering=0) as file:
        file.write(b"1234")
    assert (tmp_path / "a").read_bytes() == b"12"


def test_a_power_cut_leaves_what_was_synced_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "fsync", os.fsync)
    folder = tmp_path / "folder"
    folder.mkdir()
    disk = SyncedOnly(folder)
    disk.install()
    write_file(folder / "kept", b"first")
    (folder / "kept").rename(folder / "renamed")
    (folder / "lost").write_bytes(b"never synced")
    write_file(folder / "inner-not", b"second")
    (folder / "later").write_bytes(b"never synced")
    (folder / "inner").mkdir()
    write_file(folder / "inner" / "unreachable", b"its folder was not synced")
    disk.restore()
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert left == {"renamed": b"first", "lost": b"", "inner-not": b"second"}
