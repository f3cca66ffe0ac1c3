"""Crafted folders: run folders and experts from a stranger, made to run code when they are used.

All carry a right digest.  The code they name or hold writes a file, which must never appear.
"""

import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from torture.children import Child, command
from torture.files import Kind, kinds
from torture.outcomes import Found, misbehaviour
from torture.works import Bench

CANARY = "canary"
MODULE = f"import pathlib\npathlib.Path({CANARY!r}).touch()\ndef run(*a, **k):\n    return 0\n"
NAMES = ["evil", "onnx", "tensorboard", "stable_baselines3", "distributed"]
"""Modules that lie in the folder: one that files name, others that a command may look for."""
VALUES = [
    *("evil:run", "evil:Evil-v0", "evil.zip", "evil.npz", "./evil.zip", "evil", "evil.pkl"),
    *("os:system", "evil:run:run", "../evil:run", "evil.csv", "evil.pt", "evil.safetensors"),
]
COMMANDS = [
    ("evaluate", "{}", "--episodes", "1"),
    ("distill", "--resume", "{}", "--quiet"),
    ("view", "{}", "--no-open", "--out", "page.html"),
    ("export", "{}", "--to", "c", "--out", "a"),
    ("export", "{}", "--to", "onnx", "--out", "a"),
    ("export", "{}", "--to", "json", "--out", "a"),
    ("frontier", "{}"),
    ("report", "{}", "--quiet"),
]


class _Payload:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path(CANARY).touch, ()


def crafted_folder(rng: Random, bench: Bench) -> list[Found]:
    """Use a crafted folder as its victim would."""
    folder, base = bench.new_folder(), rng.choice(kinds(bench.folder / "files")[:3])
    name = rng.choice(["run", "run.safetensors"])
    _lay_traps(folder)
    (folder / "run").mkdir()
    data = base.made(_craft(rng, base, folder), base.arrays)
    place = folder / "run" / "model.safetensors" if name == "run" else folder / name
    place.write_bytes(data)
    for each in ("evil.zip", "evil.py"):
        (folder / "run" / each).write_bytes((folder / each).read_bytes())
    words = [word.format(name) for word in rng.choice(COMMANDS)]
    ended = Child(command(words), folder).wait()
    if list(folder.rglob(CANARY)):
        return [Found("ran code", " ".join(words))]
    return [misbehaviour(ended) or Found("worked" if ended.code == 0 else "refused")]


def _craft(rng: Random, base: Kind, folder: Path) -> Any:
    """Return the content of a record that names code wherever a name may be."""
    names = [*VALUES, str(folder / "evil.zip"), str(folder / "evil.npz")]
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
    if what == 5:
        plan = _with_rules(rng, plan, value)
    return base.content | {"plan": plan | {"task": task}}


def _with_rules(rng: Random, plan: dict[str, Any], value: str) -> dict[str, Any]:
    """Return a plan that names a rule, or settings of NEAT, of another's making."""
    if "neat_settings" in plan:
        text = (
            f"[NEAT]\nfitness_criterion = {value}\n[DefaultGenome]\nactivation_default = {value}\n"
        )
        return plan | {"neat_settings": text}
    named = rng.choice([value, {"name": value}])
    if rng.random() < 0.5:
        return plan | {"learning": plan["learning"] | {"rule": named}}
    return plan | {"plasticity": plan["plasticity"] | {"growth": named}}


def _lay_traps(folder: Path) -> None:
    """Write code, pickles and archives into a folder."""
    for name in NAMES:
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
