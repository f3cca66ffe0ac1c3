"""Array types that the whole package shares, and named tuples of arrays as flat tables."""

from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Arrays = dict[str, NDArray[Any]]
"""Arrays by name, as a file holds them."""

Named = TypeVar("Named")


def to_arrays(value: Any, prefix: str = "") -> Arrays:
    """Return copies of a named tuple's fields by dotted names, those of nested tuples too.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: int
    ...     y: int
    >>> to_arrays(Point(1, 2), "at.")
    {'at.x': array(1), 'at.y': array(2)}
    """
    found: Arrays = {}
    for name, part in value._asdict().items():
        if hasattr(part, "_asdict"):
            found |= to_arrays(part, f"{prefix}{name}.")
        else:
            found[prefix + name] = np.array(part)
    return found


def from_arrays(kind: type[Named], arrays: Mapping[str, Any], prefix: str = "") -> Named:
    """Rebuild a named tuple from `to_arrays`; a missing field is a KeyError."""
    fields = {}
    for name, hint in get_type_hints(kind).items():
        if hasattr(hint, "_fields"):
            fields[name] = from_arrays(hint, arrays, f"{prefix}{name}.")
        else:
            array = np.asarray(arrays[prefix + name])
            fields[name] = hint(array) if hint in (int, float, bool) else array.copy()
    return kind(**fields)
