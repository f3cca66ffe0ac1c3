"""Files of ours with odd content and a right digest, with damage, or crafted to run code."""

import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
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
from torture.children import Child, command
from torture.grammar import DEEP, mutated, mutated_arrays
from torture.outcomes import Found, misbehaviour
from torture.works import Bench

FILES = "files"
"""Folder of a bench with a whole file of every kind."""
FEW_EPISODES = 30
"""Episodes up to which a run that can go on does."""
Case = Callable[[Random, Path], Found]


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
    places: list[tuple[str, str, Callable[[Path, Random], object]]] = [
        *(("run", f"{run}/model.safetensors", use_record) for run in ("a-run", "best", "evolved")),
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
    if path.stat().st_size and rng.random() < 0.3:
        path.write_bytes(damaged(rng, path.read_bytes()))
    read_recording(path)
    return Found("worked")


# --- damage --------------------------------------------------------------------------------------


def damaged(rng: Random, data: bytes) -> bytes:
    """Return data with one bit turned, or cut short, or with a block of zeros in it."""
    kind, place, changed = rng.randrange(10), rng.randrange(len(data)), bytearray(data)
    if kind == 0:
        return data[:place]
    if kind == 1:
        changed[place : place + 64] = bytes(len(changed[place : place + 64]))
    else:
        changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def flip_cases(folder: Path) -> Case:
    """Return what damages a file of ours and reads it."""
    bases = kinds(folder)

    def case(rng: Random, here: Path) -> Found:
        kind, path = rng.choice(bases), here / "flipped.safetensors"
        path.write_bytes(damaged(rng, kind.data))
        content, arrays = read_arrays(path, kind.name)
        is_same = digest("", content, arrays) == digest("", kind.content, kind.arrays)
        return Found("same") if is_same else Found("changed", f"damage to a {kind.name} went by")

    return case


# --- code ----------------------------------------------------------------------------------------

CANARY = "canary"
"""A file that code in a crafted folder writes, and that must never appear."""
MODULE = f"import pathlib\npathlib.Path({CANARY!r}).touch()\ndef run(*a, **k):\n    return 0\n"
MODULES = ["evil", "onnx", "tensorboard", "stable_baselines3", "distributed"]
"""Modules that lie in the folder: one that files name, others that a command may look for."""
NAMES = [
    *("evil:run", "evil:Evil-v0", "evil.zip", "evil.npz", "./evil.zip", "evil", "evil.pkl"),
    *("os:system", "evil:run:run", "../evil:run", "evil.csv", "evil.pt", "evil.safetensors"),
]
COMMANDS = [
    "evaluate {} --episodes 1",
    "distill --resume {} --quiet",
    "view {} --no-open --out page.html",
    *(f"export {{}} --to {format} --out a" for format in ("c", "onnx", "json")),
    "frontier {}",
    "report {} --quiet",
]


class _Payload:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path(CANARY).touch, ()


def crafted_folder(rng: Random, bench: Bench) -> list[Found]:
    """Use a run of a stranger, with a right digest, that names code and lies beside it."""
    folder, base = bench.new_folder(), rng.choice(kinds(bench.folder / FILES)[:3])
    name = rng.choice(["run", "run.safetensors"])
    (folder / "run").mkdir()
    _lay_traps(folder)
    place = folder / "run" / "model.safetensors" if name == "run" else folder / name
    place.write_bytes(base.made(_crafted(rng, base, folder), base.arrays))
    words = rng.choice(COMMANDS).format(name).split()
    ended = Child(command(words), folder).wait()
    if list(folder.rglob(CANARY)):
        return [Found("ran code", " ".join(words))]
    return [misbehaviour(ended) or Found("worked" if ended.code == 0 else "refused")]


def _crafted(rng: Random, base: Kind, folder: Path) -> Any:
    """Return the content of a record that names code wherever a name may be."""
    names = [*NAMES, str(folder / "evil.zip"), str(folder / "evil.npz")]
    plan = dict(base.content["plan"])
    task, value = dict(plan["task"]), rng.choice(names)
    what = rng.randrange(6)
    if what in (0, 3):
        task["id"] = value
    if what in (1, 3) and "teacher" in plan:
        kind = rng.choice(["shipped", "file", "zip", "function", "examples"])
        plan["teacher"] = plan["teacher"] | {"kind": kind, "name": value}
    if what == 2:
        task |= {"id": "evil.npz", "recording": rng.choice(names)}
    if what == 4:
        task["is_made"] = True
    if what == 5 and "neat_settings" in plan:
        genome = f"[DefaultGenome]\nactivation_default = {value}\n"
        plan["neat_settings"] = f"[NEAT]\nfitness_criterion = {value}\n{genome}"
    elif what == 5:
        part, rule = rng.choice([("learning", "rule"), ("plasticity", "growth")])
        plan[part] = plan[part] | {rule: rng.choice([value, {"name": value}])}
    return base.content | {"plan": plan | {"task": task}}


def _lay_traps(folder: Path) -> None:
    """Write code, pickles and archives into a folder."""
    for name in MODULES:
        (folder / f"{name}.py").write_text(MODULE)
    loaded = pickle.dumps(_Payload())
    for name in ("evil.pkl", "evil.pt", "evil.safetensors"):
        (folder / name).write_bytes(loaded)
    with zipfile.ZipFile(folder / "evil.zip", "w") as file:
        for name in ("data", "policy.pth", "pytorch_variables.pth"):
            file.writestr(name, loaded)
    trap = np.empty(20, dtype=object)
    trap[:] = [_Payload()] * 20
    with (folder / "evil.npz").open("wb") as file:
        np.savez(file, observations=np.zeros((20, 3)), actions=trap)
    for name in ("evil.zip", "evil.py"):
        (folder / "run" / name).write_bytes((folder / name).read_bytes())
