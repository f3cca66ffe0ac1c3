"""Files: safetensors with a JSON header, no pickle, so a stranger's file cannot run code.

Every file of ours carries a digest of all that is in it, which is checked whenever it is read.
"""

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from smgrnn.arrays import Arrays
from smgrnn.errors import ConfigError, FileFormatError, reason

if sys.platform != "win32":
    import fcntl

FORMAT_VERSION = 2
VERSIONS = {"run": 3, "learner": 3}
"""Versions of the kinds whose content has changed since; smgrnn 0.2 wrote 2 of all of them."""
HEADER = "smgrnn"
"""Name of our entry in the metadata of a safetensors file."""
LARGEST = 2**53
"""No integer in a file is larger: beyond it a count that continues would overflow."""
LOCK = ".lock"
"""Name of the file by which a process owns a folder."""


def check_new_file(path: Path) -> None:
    """Refuse a file that exists or cannot be made, before the work that is to go into it."""
    if path.exists():
        raise ConfigError(f"{path} exists; choose another file with --out.")
    check_folder_of(path)


def check_folder_of(path: Path) -> None:
    """Refuse a file whose folder cannot take it, before the work that is to go into it."""
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise ConfigError(f"{path} cannot be written: its folder is missing or read-only.")


def check_place(folder: Path, what: str) -> None:
    """Refuse a place for new files that is no folder, or one of other content than hidden files."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} exists and is not a folder. Use another --out.")
    if folder.is_dir() and any(not each.name.startswith(".") for each in folder.iterdir()):
        raise ConfigError(f"{folder} exists and holds no {what}. Use another --out.")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the error of a full disk, or of missing permission, into a one-sentence ConfigError."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error


def write_file(path: Path, data: bytes, *, is_durable: bool = True) -> None:
    """Write a file whole or not at all; when this returns it is on the disk.

    A file that is not durable survives the end of the process, but perhaps not a power cut.
    """
    write_files(path.parent, {path.name: data}, is_durable=is_durable)


def write_files(folder: Path, contents: Mapping[str, bytes], *, is_durable: bool = True) -> None:
    """Write files by name, each whole or not at all; when this returns all are on the disk.

    A full disk or missing permission is a ConfigError.
    """
    for name, data in contents.items():
        # Random, because two containers that share a folder may have the same process id.
        partial = folder / f".{name}.{secrets.token_hex(4)}.partial"
        with writing(folder / name):
            try:
                with partial.open("xb") as file:
                    file.write(data)
                    file.flush()
                    if is_durable:
                        os.fsync(file.fileno())
                partial.replace(folder / name)
            finally:
                partial.unlink(missing_ok=True)
    if is_durable:
        with writing(folder):
            _sync_folder(folder)


def make_folder(path: Path) -> list[Path]:
    """Make a folder and those above it, and return them; by then they are on the disk."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be made: {error.strerror}.") from error
    for each in missing:
        _sync_folder(each.parent)
    return missing


def remove_empty(folders: list[Path]) -> None:
    """Remove folders, from the innermost on, up to one that is not empty."""
    with suppress(OSError):
        for each in folders:
            each.rmdir()


def _sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name == "posix":  # elsewhere a folder cannot be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Own a folder while the block runs; the system frees it when the process ends.

    On Windows, and on file systems without locks, several processes can own it.
    """
    path, owner = folder / LOCK, os.getpid()
    file = _open_locked(path)
    try:
        yield
    finally:
        if os.getpid() == owner:  # not a copy that an environment forked, which ends here too
            path.unlink(missing_ok=True)  # as long as it is ours
        file.close()


def is_locked(folder: Path) -> bool:
    """Return whether a process owns a folder; never where there are no locks."""
    try:
        with open(folder / LOCK, "rb", opener=_open_plainly) as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:  # another is that there is no file, or that there are no locks
        return isinstance(error, BlockingIOError)
    return False


def _open_plainly(name: str, flags: int) -> int:
    """Open a file; refuse a link, and do not wait for the other end of a pipe."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(name, flags, 0o666)


def _open_locked(path: Path) -> BinaryIO:
    """Return the open file of a lock, which is free again when it is closed."""
    while True:
        with writing(path):
            file = open(path, "ab", opener=_open_plainly)  # noqa: SIM115
        try:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return file
        except BlockingIOError as error:
            file.close()
            raise ConfigError(
                f"{path.parent} is in use: another process is running what it holds."
            ) from error
        except FileNotFoundError:
            pass
        except OSError:
            return file  # a file system without locks
        file.close()  # its last owner removed it between the two steps


def digest(kind: str, content: Any, arrays: Arrays) -> str:
    """Return the SHA-256 of plain values and arrays, whatever the order of their names.

    >>> digest("a", {"x": 1, "y": 2}, {}) == digest("a", {"y": 2, "x": 1}, {})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    sums = sha256(f"{kind}\n{text}".encode())
    for name, array in sorted(arrays.items()):
        sums.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        sums.update(array.tobytes())
    return sums.hexdigest()


def write_arrays(
    path: str | Path, kind: str, content: dict[str, Any], arrays: Arrays, *, is_durable: bool = True
) -> None:
    """Write plain values and arrays to one file, whole or not at all.

    Integers of eight bytes take four where they fit, and are read as eight.
    """
    stored = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in stored.items():
        is_wide = array.dtype == np.int64 and array.size > 0
        if is_wide and array.min() >= -(2**31) and array.max() < 2**31:
            stored[name] = array.astype(np.int32)
    version = VERSIONS.get(kind, FORMAT_VERSION)
    header = {"kind": kind, "version": version, "digest": digest(kind, content, stored)}
    text = json.dumps(header | {"content": content})
    write_file(Path(path), save(stored, metadata={HEADER: text}), is_durable=is_durable)


def is_ours(metadata: Mapping[str, str] | None) -> bool:
    """Return whether a safetensors file is one of ours, even if its header has another name.

    >>> is_ours({"smgrnn": "{}"}), is_ours({"format": "pt"}), is_ours(None)
    (True, False, False)
    """
    found = metadata or {}
    return HEADER in found or any(text.startswith('{"kind": "') for text in found.values())


def kind_of(path: str | Path) -> str | None:
    """Return the kind that a file of ours states, unchecked; None for any other file."""
    try:
        with safe_open(Path(path), framework="numpy") as file:
            kind = json.loads((file.metadata() or {}).get(HEADER, "{}"))["kind"]
    except (SafetensorError, OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return kind if isinstance(kind, str) else None


def read_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read a file of `write_arrays`; refuse one that is damaged, foreign or of another version."""
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(HEADER, "{}")
            header = _read_header(path, text, kind)
            arrays = {name: file.get_tensor(name) for name in file.offset_keys()}
        # A bit that turns 1e-08 into 1E-08 changes no number, and so no digest.
        is_whole = json.dumps(header) == text
        is_whole &= header.get("digest") == digest(kind, header["content"], arrays)
    except FileFormatError:
        raise
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        # the last two: a number type that numpy does not have
        raise FileFormatError(f"{path} is damaged or not a safetensors file ({error}).") from error
    except (ValueError, RecursionError) as error:  # no JSON, no Unicode, a number too long
        raise FileFormatError(f"{path} has an unreadable header.") from error
    if not is_whole:
        raise FileFormatError(f"{path} is damaged: it is not what was written to it.")
    for name, array in arrays.items():
        is_int = array.dtype.kind in "iu"
        if (array.size and is_int and max(-int(array.min()), int(array.max())) > LARGEST) or (
            array.dtype.kind == "f" and np.isnan(array).any()
        ):
            raise FileFormatError(f"{path} holds a number out of range, in {name!r}.")
        arrays[name] = array.astype(np.int64) if array.dtype == np.int32 else array
    return header["content"], arrays


@contextmanager
def describing(path: str | Path, kind: str) -> Iterator[None]:
    """Read a file's content in a block: a stranger may have made it, so anything can be in it."""
    try:
        yield
    except Exception as error:
        raise FileFormatError(f"{path} does not describe a {kind} ({reason(error)}).") from error


def _read_header(path: Path, text: str, kind: str) -> dict[str, Any]:
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("kind") != kind:
        raise FileFormatError(f"{path} does not hold a smgrnn {kind}.")
    version, readable = header.get("version"), VERSIONS.get(kind, FORMAT_VERSION)
    if type(version) is not int or version != readable:
        is_older = type(version) is int and version < readable
        writer = "an earlier smgrnn" if is_older else "a newer smgrnn"
        raise FileFormatError(
            f"{path} has format version {str(version)[:40]}, and this smgrnn reads version "
            f"{readable}: it was written by {'smgrnn 0.2' if version == 2 else writer}."
        )
    if not isinstance(header.get("content"), dict):
        raise FileFormatError(f"{path} has no content.")
    return header
