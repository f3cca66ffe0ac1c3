"""The instruments of torture notice what they are there to notice."""

import os
from pathlib import Path

import pytest

from smgrnn.storage import write_file
from torture.disks import SyncedOnly
from torture.filecalls import NAMES, FileCalls


def test_every_call_that_changes_a_file_is_met(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (*NAMES, "open"):
        monkeypatch.setattr(os, name, getattr(os, name))
    for place in ("io.open", "builtins.open"):
        monkeypatch.setattr(place, open)
    met: list[str] = []
    FileCalls(lambda name, _: met.append(name)).install()
    write_file(tmp_path / "a", b"1234")
    assert met == ["open", "write", "write", "fsync", "replace", "unlink", "fsync"]
    assert (tmp_path / "a").read_bytes() == b"1234"


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
