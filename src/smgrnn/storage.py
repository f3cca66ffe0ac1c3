"""Files: safetensors with a JSON header, no pickle, so a stranger's file cannot run code."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from smgrnn.errors import ConfigError, FileFormatError

FORMAT_VERSION = 1
Arrays = dict[str, NDArray[Any]]


def check_new_file(path: Path) -> None:
    """Refuse a file that exists or cannot be made, before the work that is to go into it."""
    if path.exists():
        raise ConfigError(f"{path} exists; choose another file.")
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise ConfigError(f"{path} cannot be written: its folder is missing or read-only.")


def write_arrays(path: str | Path, kind: str, settings: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays and settings to one file, whole or not at all."""
    path = Path(path)
    header = json.dumps({"kind": kind, "version": FORMAT_VERSION, "settings": settings})
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(save(arrays, metadata={"smgrnn": header}))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read what `write_arrays` wrote; a damaged, foreign or newer file is a FileFormatError."""
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            settings = _read_header(path, file.metadata() or {}, kind)
            arrays = {name: file.get_tensor(name) for name in file.offset_keys()}
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        # the last two: a number type that numpy does not have
        raise FileFormatError(f"{path} is damaged or not a safetensors file ({error}).") from error
    return settings, arrays


def _read_header(path: Path, metadata: dict[str, str], kind: str) -> dict[str, Any]:
    try:
        header = json.loads(metadata.get("smgrnn", "{}"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileFormatError(f"{path} has an unreadable header.") from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        raise FileFormatError(f"{path} does not hold a smgrnn {kind}.")
    version, settings = header.get("version"), header.get("settings")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise FileFormatError(
            f"{path} has format version {version}, and this smgrnn reads up to {FORMAT_VERSION}: "
            f"a newer smgrnn wrote it."
        )
    if not isinstance(settings, dict):
        raise FileFormatError(f"{path} has no settings.")
    return settings
