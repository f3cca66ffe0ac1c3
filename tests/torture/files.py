"""Odd values, and files of ours with some of them and a right digest."""

import copy
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

import smgrnn
from smgrnn.arrays import Arrays
from smgrnn.experts import read_expert, write_expert
from smgrnn.export.formats import FORMATS
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.storage import FORMAT_VERSION, VERSIONS, digest, read_arrays
from smgrnn.tasks.recording import read_recording
from support.evolutions import evolved
from support.runs import TEACHERS, trained
from torture.outcomes import Found

FEW_EPISODES = 30
"""Episodes up to which a run that can go on does."""
Case = Callable[[Random, Path], Found]
"""Makes one bad input in a folder and tries it."""

# --- odd values ----------------------------------------------------------------------------------

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


# --- odd files -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of file: one that is whole, and what is done with those that can be read."""

    name: str
    content: dict[str, Any]
    arrays: Arrays
    use: Callable[[Path, Random], object]

    def made(self, content: Any, arrays: Arrays) -> bytes:
        """Return a file with this content, as if we had written it."""
        try:
            found, text = digest(self.name, content, arrays), json.dumps(content)
        except (ValueError, RecursionError):  # no digest can be had of it
            found, text = "", "[" * DEEP + "]" * DEEP
        version = VERSIONS.get(self.name, FORMAT_VERSION)
        header = json.dumps({"kind": self.name, "version": version, "digest": found, "content": 0})
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return save(arrays, metadata={"smgrnn": f"{header[:-2]}{text}}}"})


@cache
def kinds(folder: Path) -> tuple[Kind, ...]:
    """Return a whole file of every kind, made once in a folder."""
    folder.mkdir(exist_ok=True)
    trained(folder, name="a-run", episodes=12, held_out=2)
    trained(folder, "xor", name="best", episodes=12, held_out=2, handover="best")
    evolved(folder / "evolved", rollouts=12, population=6)
    write_expert(folder / "expert.safetensors", TEACHERS["Acrobot-v1"], {"steps": 3, "by": ["us"]})
    smgrnn.SMGrNN(n_inputs=4, n_outputs=2, n_hidden=3, seed=0).save(folder / "net.safetensors")
    files: list[tuple[str, str, Callable[[Path, Random], object]]] = [
        *(("run", f"{run}/model.safetensors", use_record) for run in ("a-run", "best", "evolved")),
        ("expert", "expert.safetensors", lambda path, _: read_expert(path)),
        ("network", "net.safetensors", lambda path, _: smgrnn.SMGrNN.load(path)),
    ]
    return tuple(Kind(name, *read_arrays(folder / file, name), use) for name, file, use in files)


def use_record(path: Path, rng: Random) -> object:
    """Do with a record all that commands do."""
    record = Record.load(path)
    record.changes, record.fingerprint, record.is_finished  # noqa: B018
    if record.episodes.n:
        record.summary()
    policy = record.student(final=rng.random() < 0.3).policy
    FORMATS[rng.choice(["c", "json", "graphml"])][0](policy, "a")
    policy.reset()
    policy(np.zeros(policy.task.n_inputs))
    if rng.random() < 0.3:
        evaluate(record, 1)
    if isinstance(record.plan, Plan) and record.plan.n_episodes <= FEW_EPISODES:
        run = Run.resume(path)
        return run.train() if rng.random() < 0.3 else run
    return record


def file_cases(folder: Path) -> Case:
    """Return what makes a file that is odd in one or two places, and reads it."""
    bases = kinds(folder)

    def case(rng: Random, here: Path) -> Found:
        if rng.random() < 0.15:
            return _odd_recording(rng, here)
        kind, path = rng.choice(bases), here / "odd.safetensors"
        content, arrays = kind.content, kind.arrays
        if rng.random() < 0.6:
            content = mutated(rng, content, rng.choice([1, 1, 2]))
        if content is kind.content or rng.random() < 0.2:
            arrays = mutated_arrays(rng, arrays, rng.choice([1, 1, 2]))
        path.write_bytes(kind.made(content, arrays))
        kind.use(path, rng)
        return Found("worked")

    return case


def _odd_recording(rng: Random, folder: Path) -> Found:
    """Read a file of recorded examples that is odd."""
    suffix = rng.choice(["npz", "csv", "safetensors"])
    path, n = folder / f"odd.{suffix}", rng.choice([0, 1, 10, 30])
    arrays = {"observations": np.zeros((n, 3)), "actions": np.arange(n) % 2}
    if rng.random() < 0.8:
        arrays = mutated_arrays(rng, arrays, 1)
    if suffix == "csv":
        words = ["1", "0", "x", "nan", "1e999", '"', "\x00", "9" * 5000, ""]
        rows = [",".join(rng.choice(words[:2] + words) for _ in range(3)) for _ in range(n)]
        path.write_text("\n".join([rng.choice(["x,y,action", "action", "", "a,a,a"]), *rows]))
    elif suffix == "npz":
        np.savez(path, **arrays)  # type: ignore[arg-type]
    else:
        path.write_bytes(save({name: np.ascontiguousarray(each) for name, each in arrays.items()}))
    data = bytearray(path.read_bytes())
    if data and rng.random() < 0.3:
        data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.randrange(1, len(data) + 1)])
    read_recording(path)
    return Found("worked")
