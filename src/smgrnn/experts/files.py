"""Expert files: safetensors with one weight and one bias per layer, ours or anybody's.

An expert of ours is such a file too, named as `torch.nn.Sequential` names its layers, with the
record of its training in the header.
"""

import re
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from smgrnn.arrays import Arrays
from smgrnn.errors import ExpertError, FileFormatError
from smgrnn.experts.mlp import Expert
from smgrnn.storage import is_ours, read_arrays, write_arrays

KIND = "expert"
ACTIVATIONS = "activations"
"""Entry of the header that names the activation after each layer but the last."""
Record = dict[str, Any]


def write_expert(path: str | Path, expert: Expert, record: Record) -> None:
    """Write an expert and the record of its training to one safetensors file."""
    if expert.codes.any():  # ReLU goes without saying, as in the files of others
        record = record | {ACTIVATIONS: expert.activations}
    arrays: Arrays = {}
    for number, (weight, bias) in enumerate(expert.layers()):
        # Layer and activation take turns in a Sequential, so layers have the even numbers.
        arrays |= {f"{2 * number}.weight": weight, f"{2 * number}.bias": bias}
    write_arrays(path, KIND, record, arrays)


def read_expert(path: str | Path) -> tuple[Expert, Record]:
    """Read an expert and its record; a file that is not ours has an empty record."""
    path = Path(path)
    record, arrays = _read(path)
    names = _layer_names(path, arrays)
    try:
        layers = [(arrays[_key(name, "weight")], arrays[_key(name, "bias")]) for name in names]
        return Expert.from_layers(layers, record.pop(ACTIVATIONS, None)), record
    except (ExpertError, TypeError) as error:  # the latter: a header that names no activations
        order = ", ".join(repr(name) for name in names)
        raise ExpertError(f"{path} is no expert (layers {order}): {error}") from error


def _read(path: Path) -> tuple[Record, Arrays]:
    """Return the record and the arrays of a safetensors file."""
    if not path.is_file():
        raise ExpertError(f"There is no expert file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            if not is_ours(file.metadata()):
                return {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return read_arrays(path, KIND)
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        # the last two: a number type that numpy does not have
        raise ExpertError(f"{path} is damaged or not a safetensors file ({error}).") from error
    except FileFormatError as error:
        raise ExpertError(str(error)) from error


def _layer_names(path: Path, arrays: Arrays) -> list[str]:
    """Return the names of the layers in their natural order, in which 10 comes after 9."""
    kinds: dict[str, set[str]] = {}
    for key in arrays:
        name, _, kind = key.rpartition(".")
        if kind not in ("weight", "bias"):
            raise ExpertError(
                f"{path} is no expert: {key!r} is neither the weight nor the bias of a layer."
            )
        kinds.setdefault(name, set()).add(kind)
    if not kinds:
        raise ExpertError(f"{path} is no expert: it holds no layers.")
    for name in sorted(kinds, key=_natural):
        for missing in sorted({"weight", "bias"} - kinds[name]):
            raise ExpertError(f"{path} is no expert: its layer {name!r} has no {missing}.")
    return sorted(kinds, key=_natural)


def _key(name: str, kind: str) -> str:
    return f"{name}.{kind}" if name else kind


def _natural(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
