"""Files: safetensors with a JSON header, no pickle, so a stranger's file cannot run code.

Every file of ours carries a digest of all that is in it, which is checked whenever it is read.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from smgrnn.arrays import Arrays
from smgrnn.errors import ConfigError, FileFormatError

if sys.platform != "win32":
    import fcntl

FORMAT_VERSION = 2
VERSIONS = {"run": 3, "learner": 3}
"""Versions of the kinds whose content has changed since; smgrnn 0.2 wrote 2 of all of them."""
HEADER = "smgrnn"
"""Name of our entry in the metadata of a safetensors file."""
_BEGINNING = '{"kind": "'
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


def write_file(path: Path, data: bytes, *, is_durable: bool = True) -> None:
    """Write a file whole or not at all; when this returns it is on the disk, not on its way.

    One that is not durable outlives the process at once, but a power cut only after a while.
    """
    _replace(path, data, is_durable=is_durable)
    if is_durable:
        sync_folder(path.parent)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files by name, each whole or not at all; when this returns all are on the disk."""
    for name, data in contents.items():
        _replace(folder / name, data, is_durable=True)
    sync_folder(folder)


def _replace(path: Path, data: bytes, *, is_durable: bool) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)  # or a link that a stranger left there would be followed
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def make_folder(path: Path) -> list[Path]:
    """Make a folder and those above it, and return them; by then they are on the disk."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be made: {error.strerror}.") from error
    for each in missing:
        sync_folder(each.parent)
    return missing


def remove_empty(folders: list[Path]) -> None:
    """Remove folders, from the innermost on, up to one that something is in."""
    with suppress(OSError):
        for each in folders:
            each.rmdir()


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Own a folder while the block runs; a process that has ended, however it did, owns none.

    Windows, and file systems without locks, keep nobody out.
    """
    path = folder / LOCK
    file = _open_locked(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # as long as it is ours
        file.close()


def is_locked(folder: Path) -> bool:
    """Return whether a process owns a folder; never where nobody is kept out."""
    try:
        with (folder / LOCK).open("rb") as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is no lock, or there are none
        return False
    return False


def _open_locked(path: Path) -> BinaryIO:
    """Return the open file of a lock, which is free again when it is closed."""
    while True:
        with writing(path):
            file = open(path, "ab", opener=_open_itself)  # noqa: SIM115
        try:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise ConfigError(
                f"{path.parent} is in use: another process is running what it holds."
            ) from error
        except OSError:
            return file  # a file system without locks
        if _is_named(path, file):
            return file
        file.close()  # its last owner removed it between the two steps


def _open_itself(path: str, flags: int) -> int:
    """Open a file, but not what a link leads to."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _is_named(path: Path, file: BinaryIO) -> bool:
    """Return whether a path still is that of an open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the error of a full disk, or of missing permission, into a one-sentence ConfigError."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error


def digest(kind: str, content: Any, arrays: Arrays) -> str:
    """Return the SHA-256 of plain values and arrays, whatever the order of their names.

    >>> digest("a", {"x": 1, "y": 2}, {}) == digest("a", {"y": 2, "x": 1}, {})
    True
    """
    sums = sha256(f"{kind}\n{_canonical(content)}".encode())
    for name, array in sorted(arrays.items()):
        sums.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        sums.update(array.tobytes())
    return sums.hexdigest()


def _canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def write_arrays(
    path: str | Path,
    kind: str,
    content: dict[str, Any],
    arrays: Arrays,
    *,
    is_durable: bool = True,
) -> None:
    """Write plain values and arrays to one file, whole or not at all.

    Whole numbers of eight bytes take four where they fit, and are read as eight.
    """
    arrays = {name: _shorten(np.asarray(array, order="C")) for name, array in arrays.items()}
    version = VERSIONS.get(kind, FORMAT_VERSION)
    header = {"kind": kind, "version": version, "digest": digest(kind, content, arrays)}
    text = json.dumps(header | {"content": content})
    write_file(Path(path), save(arrays, metadata={HEADER: text}), is_durable=is_durable)


def is_ours(metadata: Mapping[str, str] | None) -> bool:
    """Return whether a safetensors file is one of ours, if with the name of its header spoiled.

    >>> is_ours({"smgrnn": "{}"}), is_ours({"format": "pt"}), is_ours(None)
    (True, False, False)
    """
    found = metadata or {}
    return HEADER in found or any(text.startswith(_BEGINNING) for text in found.values())


def read_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read a file of `write_arrays`; refuse one that is damaged, foreign or of another version."""
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = _read_header(path, file.metadata() or {}, kind)
            arrays = {name: file.get_tensor(name) for name in file.offset_keys()}
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        # the last two: a number type that numpy does not have
        raise FileFormatError(f"{path} is damaged or not a safetensors file ({error}).") from error
    try:
        is_whole = header.get("digest") == digest(kind, header["content"], arrays)
    except (ValueError, RecursionError) as error:  # text that is no Unicode; nested too deep
        raise FileFormatError(f"{path} has an unreadable header.") from error
    if not is_whole:
        raise FileFormatError(f"{path} is damaged: it is not what was written to it.")
    return header["content"], {name: _widen(array) for name, array in arrays.items()}


def kind_of(path: str | Path) -> str | None:
    """Return the kind that a file of ours says it is of, unchecked; None if it is none of ours."""
    try:
        with safe_open(Path(path), framework="numpy") as file:
            kind = json.loads((file.metadata() or {}).get(HEADER, "{}"))["kind"]
    except (SafetensorError, OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return kind if isinstance(kind, str) else None


def _read_header(path: Path, metadata: dict[str, str], kind: str) -> dict[str, Any]:
    try:
        text = metadata.get(HEADER, "{}")
        header = json.loads(text)
        is_as_written = json.dumps(header) == text
    except (ValueError, RecursionError) as error:  # no JSON, or a number of thousands of digits
        raise FileFormatError(f"{path} has an unreadable header.") from error
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
    if not is_as_written:  # a bit that turns 1e-08 into 1E-08 changes no number
        raise FileFormatError(f"{path} is damaged: it is not what was written to it.")
    return header


def _shorten(array: NDArray[Any]) -> NDArray[Any]:
    """Store whole numbers in half the room if they all fit."""
    if array.dtype != np.int64 or not array.size:
        return array
    fits = array.min() >= -(2**31) and array.max() < 2**31
    return array.astype(np.int32) if fits else array


def _widen(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.int64) if array.dtype == np.int32 else array
