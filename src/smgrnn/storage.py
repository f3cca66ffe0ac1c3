"""Files: safetensors with a JSON header, no pickle, so a stranger's file cannot run code."""

import json
import os
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from smgrnn.errors import FileFormatError

FORMAT_VERSION = 1
Arrays = dict[str, NDArray[Any]]


def write_arrays(path: str | Path, kind: str, settings: dict[str, Any], arrays: Arrays) -> None:
    """Write arrays and settings to one file, whole or not at all."""
    path = Path(path)
    header = {"kind": kind, "version": str(FORMAT_VERSION), "settings": json.dumps(settings)}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(save(arrays, metadata=header))
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
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise FileFormatError(f"{path} is damaged or not a safetensors file ({error}).") from error
    if header.get("kind") != kind:
        raise FileFormatError(f"{path} does not hold a smgrnn {kind}.")
    version = header.get("version", "")
    if not version.isdigit() or int(version) > FORMAT_VERSION:
        raise FileFormatError(
            f"{path} has format version {version or 'unknown'}, and this smgrnn reads up to "
            f"{FORMAT_VERSION}: a newer smgrnn wrote it."
        )
    try:
        settings = cast(dict[str, Any], json.loads(header["settings"]))
    except (KeyError, json.JSONDecodeError) as error:
        raise FileFormatError(f"{path} has no readable settings.") from error
    return settings, arrays
