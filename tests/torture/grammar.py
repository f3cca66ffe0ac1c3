"""Odd values, and trees of plain values with some of them in it."""

import copy
import math
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEEP = 3000
"""Levels of a value that is nested too deep."""
NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 100, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**9, 10**400),
    *(0.0, -0.0, 0.5, 1.5, 1e-300, 5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf),
]
TEXTS = [
    *("", "a", "xor", "CartPole-v1", "../..", "/", "\x00", "\x1b[31m", "*/ int x;", "<script>"),
    *("\ud800", "a" * 10_000, "é\u202e", "a\nb", "%s{0}", "os:system", "nan", "1e400"),
]


def odd(rng: Random) -> Any:
    """Return a plain value of any kind."""
    kind = rng.randrange(6)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind == 3:
        return rng.choice(TEXTS)
    if kind == 4:
        return rng.choice([None, True, False, [], [[]], {}, {"a": 1}, [None], [1, "a"], {"": []}])
    return nested(rng.choice([2, 50, DEEP]))


def nested(depth: int) -> Any:
    """Return lists in each other."""
    found: Any = []
    for _ in range(depth):
        found = [found]
    return found


def mutated(rng: Random, tree: Any, n: int = 1) -> Any:
    """Return a copy of a tree of dictionaries and lists in which `n` places are odd."""
    tree = copy.deepcopy(tree)
    for _ in range(n):
        found = list(places(tree))
        if not found:
            return odd(rng)
        holder, name = rng.choice(found)
        kind = rng.randrange(8)
        if kind == 0:
            del holder[name]
        elif kind == 1 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(name)
        elif kind == 2 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = odd(rng)
        else:
            holder[name] = odd(rng)
    return tree


def places(tree: Any, depth: int = 20) -> Any:
    """Yield every place of a tree, as deep as that: what holds it, and its name there."""
    names = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for name in list(names):
        yield tree, name
        if depth:
            yield from places(tree[name], depth - 1)


def mutated_arrays(rng: Random, arrays: dict[str, NDArray[Any]], n: int) -> dict[str, NDArray[Any]]:
    """Return a copy of some arrays in which `n` are of another type, shape or value, or missing."""
    arrays = dict(arrays)
    for _ in range(n):
        name = rng.choice(sorted(arrays))
        kind = rng.randrange(6)
        if kind == 0 and len(arrays) > 1:
            del arrays[name]
        elif kind == 1:
            arrays[rng.choice([*arrays, "a", ""])] = arrays[name]
        else:
            arrays[name] = _mutated_array(rng, arrays[name])
    return arrays


def _mutated_array(rng: Random, array: NDArray[Any]) -> NDArray[Any]:
    kind = rng.randrange(7)
    if kind == 0:
        types = (np.float32, np.float16, np.int64, np.uint8, np.bool_, np.float64, np.uint64)
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(types))
    if kind == 1:
        return array.reshape(-1)[: rng.randrange(array.size + 1)]
    if kind == 2:
        return np.concatenate([array.reshape(-1)] * 2)
    if kind == 3:
        return array[np.newaxis]
    if kind == 4 or not array.size:
        return np.zeros(rng.choice([(0,), (), (3, 0), (1, 1, 1)]), array.dtype)
    changed, values = np.array(array), [0, 1]
    if array.dtype.kind == "f":
        values = [math.nan, math.inf, -math.inf, 1e308, 0.0, -1.0]  # type: ignore[list-item]
    elif array.dtype.kind == "i":
        values = [-1, 0, 1, 2, 7, 1000, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min]
    for _ in range(rng.choice([1, 1, 5])):
        changed.flat[rng.randrange(array.size)] = rng.choice(values)
    return changed
