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
    if expert.codes.any():  # without the entry it is ReLU, as in the files of others
        record = record | {ACTIVATIONS: expert.activations}
    arrays: Arrays = {}
    for number, (weight, bias) in enumerate(expert.layers()):
        # Layer and activation take turns in a Sequential, so layers have the even numbers.
        arrays |= {f"{2 * number}.weight": weight, f"{2 * number}.bias": bias}
    write_arrays(path, KIND, record, arrays)


def read_expert(path: str | Path) -> tuple[Expert, Record]:
    """Read an expert and its record; a file that is not ours has an empty record."""
    path = Path(path)
    if not path.is_file():
        raise ExpertError(f"There is no expert file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            if is_ours(file.metadata()):
                record, arrays = read_arrays(path, KIND)
            else:
                record, arrays = {}, {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        # the last two: a number type that numpy does not have
        raise ExpertError(f"{path} is damaged or not a safetensors file ({error}).") from error
    except FileFormatError as error:
        raise ExpertError(str(error)) from error
    names = sorted({key.rpartition(".")[0] for key in arrays}, key=_order)
    keys = [[f"{name}.{part}".lstrip(".") for part in ("weight", "bias")] for name in names]
    if not arrays or {*arrays} != {key for pair in keys for key in pair}:
        found = ", ".join(map(repr, arrays)) or "nothing"
        raise ExpertError(f"{path} is no expert: each layer needs weight and bias. It has {found}.")
    layers = [(arrays[weight], arrays[bias]) for weight, bias in keys]
    try:
        return Expert.from_layers(layers, record.pop(ACTIVATIONS, None)), record
    except (ExpertError, TypeError) as error:  # the latter: a header that names no activations
        order = ", ".join(map(repr, names))
        raise ExpertError(f"{path} is no expert (layers {order}): {error}") from error


def _order(name: str) -> list[str | int]:
    """Return a key that sorts the layer 10 after the layer 9."""
    return [int(part) if n % 2 else part for n, part in enumerate(re.split(r"(\d+)", name))]
