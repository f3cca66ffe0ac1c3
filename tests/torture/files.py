"""Files of ours with odd content and a right digest: what reads them must judge."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
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
from torture.grammar import DEEP, mutated, mutated_arrays
from torture.outcomes import Found

FEW_EPISODES = 30
"""Episodes up to which a run that can go on does."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: one that is whole, and what is done with those that can be read."""

    name: str
    content: dict[str, Any]
    arrays: Arrays
    data: bytes
    use: Callable[[Path, Random], object]

    def made(self, content: Any, arrays: Arrays) -> bytes:
        """Return a file with this content, as if we had written it."""
        try:
            found = digest(self.name, content, arrays)
        except (ValueError, RecursionError):  # no digest can be had of it
            found = ""
        version = VERSIONS.get(self.name, FORMAT_VERSION)
        header = {"kind": self.name, "version": version, "digest": found}
        text = json.dumps(header | {"content": "@"}).replace('"@"', _json(content))
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return save(arrays, metadata={"smgrnn": text})


def _json(content: Any) -> str:
    try:
        return json.dumps(content)
    except RecursionError:
        return "[" * DEEP + "]" * DEEP


@cache
def kinds(folder: Path) -> tuple[Kind, ...]:
    """Return a whole file of every kind, made once in a folder."""
    trained(folder, name="a-run", episodes=12, held_out=2)
    trained(folder, "xor", name="best", episodes=12, held_out=2, handover="best")
    evolved(folder / "evolved", rollouts=12, population=6)
    write_expert(folder / "expert.safetensors", TEACHERS["Acrobot-v1"], {"steps": 3, "by": ["us"]})
    smgrnn.SMGrNN(n_inputs=4, n_outputs=2, n_hidden=3, seed=0).save(folder / "net.safetensors")
    places: list[tuple[str, str, Callable[[Path, Random], object]]] = [
        ("run", "a-run/model.safetensors", use_record),
        ("run", "best/model.safetensors", use_record),
        ("run", "evolved/model.safetensors", use_record),
        ("expert", "expert.safetensors", lambda path, _: read_expert(path)),
        ("network", "net.safetensors", lambda path, _: smgrnn.SMGrNN.load(path)),
    ]
    return tuple(
        Kind(name, *read_arrays(folder / file, name), (folder / file).read_bytes(), use)
        for name, file, use in places
    )


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


def odd_file(bases: tuple[Kind, ...], rng: Random, folder: Path) -> Found:
    """Read a file whose content is odd in one or two places."""
    kind, path = rng.choice(bases), folder / "odd.safetensors"
    content, arrays = kind.content, kind.arrays
    if rng.random() < 0.6:
        content = mutated(rng, content, rng.choice([1, 1, 2]))
    if content is kind.content or rng.random() < 0.2:
        arrays = mutated_arrays(rng, arrays, rng.choice([1, 1, 2]))
    path.write_bytes(kind.made(content, arrays))
    kind.use(path, rng)
    return Found("worked")


def odd_recording(rng: Random, folder: Path) -> Found:
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


def file_cases(folder: Path) -> Callable[[Random, Path], Found]:
    """Return what makes and tries an odd file, of any kind."""
    bases = kinds(folder)

    def case(rng: Random, here: Path) -> Found:
        made = odd_recording if rng.random() < 0.15 else partial(odd_file, bases)
        return made(rng, here)

    return case
