"""Flipped bits, cut files and emptied blocks in files of ours and in compiled code."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from smgrnn.storage import read_arrays
from torture.children import Child, program
from torture.files import kinds
from torture.outcomes import Found, misbehaviour
from torture.works import Bench, compared, end_of

BLOCK = 64


def damaged(rng: Random, data: bytes) -> bytes:
    """Return data with one bit turned, or cut short, or with a block of zeros in it."""
    kind = rng.randrange(10)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    if kind == 1:
        start = rng.randrange(len(data))
        changed[start : start + BLOCK] = bytes(len(changed[start : start + BLOCK]))
        return bytes(changed)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def flip_cases(folder: Path) -> Callable[[Random, Path], Found]:
    """Return what damages a file of ours and reads it."""
    bases = kinds(folder)

    def case(rng: Random, here: Path) -> Found:
        kind, path = rng.choice(bases), here / "flipped.safetensors"
        path.write_bytes(damaged(rng, kind.data))
        content, arrays = read_arrays(path, kind.name)
        is_same = content == kind.content and arrays.keys() == kind.arrays.keys()
        is_same = is_same and all(
            arrays[name].tobytes() == kind.arrays[name].tobytes() for name in arrays
        )
        return Found("same") if is_same else Found("changed", f"damage to a {kind.name} went by")

    return case


def damage_compiled_code(rng: Random, bench: Bench) -> list[Found]:
    """Empty, cut or flip some files of compiled code, as a power cut leaves them, and run."""
    folder, copy = bench.new_folder(), bench.new_folder() / "cache"
    shutil.copytree(os.environ["NUMBA_CACHE_DIR"], copy)
    files = sorted(copy.rglob("*.nb?"))
    for path in rng.sample(files, rng.choice([1, 4, len(files) // 4])):
        data = path.read_bytes()
        path.write_bytes(rng.choice([b"", data[: len(data) // 2], damaged(rng, data)]))
    work = next(each for each in bench.works if each.name == "distill, frugal")
    ended = Child(program(work.words, NUMBA_CACHE_DIR=str(copy)), folder).wait()
    if found := misbehaviour(ended):
        return [found]
    if ended.code:
        return [Found("stuck", ended.err[-300:])]
    return [compared(end_of(folder), bench.undisturbed(work).end)]
