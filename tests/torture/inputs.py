"""Odd inputs: settings and files, with a right digest, that are odd in a place or two.

Thousands are tried in one process; each is refused by one sentence, or taken for what it is.
"""

import copy
import json
import math
import signal
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
from safetensors.numpy import save

import smgrnn
from smgrnn.arrays import Arrays
from smgrnn.config import RunConfig
from smgrnn.errors import SmgrnnError
from smgrnn.experts import read_expert, write_expert
from smgrnn.export import export
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.rules.settings import HistoryOnEdit
from smgrnn.runs.distillation import STUDENTS
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.start import new_run
from smgrnn.storage import FORMAT_VERSION, VERSIONS, digest, read_arrays
from support import runs
from support.evolutions import evolved
from torture.children import Child, Found
from torture.works import Bench

N_TRIES = 200
"""Inputs that one process tries."""

DEEP: Any = []
for _ in range(3000):
    DEEP = [DEEP]
NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 100, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**9, 10**400),
    *(0.0, -0.0, 0.5, 1.5, 1e-300, 5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf),
]
TEXTS = [
    *("", "a", "xor", "CartPole-v1", "../..", "/", "\x00", "\x1b[31m", "*/ int x;", "<script>"),
    *("\ud800", "a" * 10_000, "é\u202e", "a\nb", "%s{0}", "os:system", "nan", "1e400"),
]
OTHERS: list[Any] = [None, True, False, [], [[]], {}, {"a": 1}, [None], [1, "a"], {"": []}, DEEP]


def odd(rng: Random) -> Any:
    return rng.choice(rng.choice([NUMBERS, NUMBERS, TEXTS, OTHERS]))


def places(tree: Any, depth: int = 20) -> Any:
    """Yield every place of a tree, as deep as that: what holds it, and its name there."""
    names = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for name in list(names):
        yield tree, name
        if depth:
            yield from places(tree[name], depth - 1)


def mutated(rng: Random, tree: Any) -> Any:
    """Return a copy of a tree of dictionaries and lists in which one or two places are odd."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 2])):
        holder, name = rng.choice([*places(tree)] or [({}, "")])
        kind = rng.randrange(8)
        if kind == 0:
            holder.pop(name, None) if isinstance(holder, dict) else holder.pop(name)
        elif kind < 3 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = odd(rng) if kind == 1 else holder.pop(name, None)
        else:
            holder[name] = odd(rng)
    return tree


def mutated_arrays(rng: Random, arrays: Arrays) -> Arrays:
    """Return a copy of arrays of which one is of another type, shape or value, or missing."""
    name = rng.choice(sorted(arrays))
    array = np.array(arrays[name])
    if array.size and rng.random() < 0.4:
        values: list[Any] = [0, 1]
        if array.dtype.kind == "f":
            values = [math.nan, math.inf, -math.inf, 1e308, 0.0, -1.0]
        elif array.dtype.kind == "i":
            values = [-1, 0, 1, 2, 7, 1000, 2**31, 2**53, -(2**53), 2**63 - 1, -(2**63)]
        for _ in range(rng.choice([1, 1, 5])):
            array.flat[rng.randrange(array.size)] = rng.choice(values)
        return {**arrays, name: array}
    with np.errstate(all="ignore"):
        others = [
            *(array.astype(kind) for kind in (np.float32, np.int64, np.uint8, np.bool_)),
            *(array.reshape(-1)[: rng.randrange(array.size + 1)], array[np.newaxis]),
            *(np.concatenate([array.reshape(-1)] * 2), np.zeros((3, 0), array.dtype), None),
        ]
    changed = {**arrays, name: rng.choice(others)}
    return {each: found for each, found in changed.items() if found is not None}


# --- settings ------------------------------------------------------------------------------------

FEW = {"episodes": 3, "held_out": 1, "checkpoint_every": 2}
EXTREMES: dict[Any, list[Any]] = {
    **{"growth": [*GROWTH, "none"], "pruning": [*PRUNING, "none"], "optimizer": [*OPTIMIZERS]},
    **{"rule": [*LEARNING], "student": [*STUDENTS], "select": ["return", "faithful", "final"]},
    **{"interval": [1, 2, "episode"], "max_nodes": [6, 7, 20], "max_edges": [8, 9, 40]},
    **{"history_on_edit": [*get_args(HistoryOnEdit)], "optimizer_on_edit": ["keep", "reset"]},
    **{"seed": [0, 2**63 - 1], **{name: [1, 2] for name in FEW}},
    **{bool: [True, False], int: [1, 2, 30], float: [0.0, 1e-9, 1.0, 1e6], type(None): [None, 9]},
}
"""Values at the edges of what is allowed, by name or by the type of the usual value."""


def try_settings(rng: Random, folder: Path) -> None:
    """Train with odd settings, if they are taken and the run is short."""
    task = rng.choice(["CartPole-v1", "xor"])
    given: dict[str, Any] = {"preset": rng.choice(["paper", "frugal"]), **FEW}
    given |= {"expert": runs.teacher(folder, task)} if task == "CartPole-v1" else {}
    usual = rng.choice([RunConfig.for_task(task, **given), runs.settings(folder, task, **given)])
    values = usual.to_dict()
    for _ in range(rng.randrange(8)):
        holder, name = rng.choice(list(places(values)))
        known = EXTREMES.get(name) or EXTREMES.get(type(holder[name]))
        holder[name] = rng.choice(known) if known else holder[name]
    values = mutated(rng, values) if rng.random() < 0.5 else values
    config = RunConfig.from_dict(values)
    run = new_run(task, config)
    if run.plan.n_episodes <= FEW["episodes"] and config.held_out <= FEW["held_out"]:
        run.train()


# --- files of ours with odd content and a right digest -------------------------------------------

Kind = tuple[str, dict[str, Any], Arrays, Callable[[Path, Random], object]]
"""The name of a kind of file, one that is whole, and what is done with those that can be read."""


def make_kinds(folder: Path) -> list[Kind]:
    runs.trained(folder, name="a-run", episodes=12, held_out=2)
    runs.trained(folder, "xor", name="best", episodes=12, held_out=2, select="return")
    evolved(folder / "evolved", rollouts=12, population=6)
    write_expert(folder / "expert.safetensors", runs.TEACHERS["Acrobot-v1"], {"by": ["us"]})
    smgrnn.SMGrNN(n_inputs=4, n_outputs=2, n_hidden=3, seed=0).save(folder / "net.safetensors")
    learner = smgrnn.Learner(4, 2, seed=0)
    learner.learn_stream(np.ones((300, 4)), np.arange(300) % 2)
    learner.save(folder / "learner.safetensors")
    files: list[tuple[str, str, Callable[[Path, Random], object]]] = [
        *(("run", f"{run}/model.safetensors", use_record) for run in ("a-run", "best", "evolved")),
        ("expert", "expert.safetensors", lambda path, _: read_expert(path)),
        ("network", "net.safetensors", lambda path, _: smgrnn.SMGrNN.load(path)),
        ("learner", "learner.safetensors", use_learner),
    ]
    return [(name, *read_arrays(folder / file, name), use) for name, file, use in files]


def use_record(path: Path, rng: Random) -> None:
    """Do with a record all that commands do."""
    record = Record.load(path)
    record.fingerprint, record.is_finished  # noqa: B018
    if record.episodes.n:
        record.summary()
    policy = record.student(final=rng.random() < 0.3).policy
    with TemporaryDirectory() as folder:
        export(policy, Path(folder) / "a", to=rng.choice(["c", "json", "graphml"]))
    policy.reset()
    policy(np.zeros(policy.task.n_inputs))
    if rng.random() < 0.3:
        evaluate(record, 1)
    if isinstance(record.plan, Plan) and record.plan.n_episodes <= 30:
        run = Run.resume(path)
        if rng.random() < 0.3:
            run.train()


def use_learner(path: Path, rng: Random) -> None:
    learner = smgrnn.Learner.load(path)
    learner.learn_stream(np.ones((50, learner.config.n_inputs)), np.zeros(50, int))
    learner.settle()


def try_file(kinds: list[Kind], rng: Random, folder: Path) -> None:
    """Write a file that is odd in a place or two, and use it."""
    name, content, arrays, use = rng.choice(kinds)
    changed = mutated(rng, content) if rng.random() < 0.6 else content
    if changed is content or rng.random() < 0.2:
        arrays = mutated_arrays(rng, arrays)
    try:
        found, text = digest(name, changed, arrays), json.dumps(changed)
    except (ValueError, RecursionError):  # no digest can be had of it
        found, text = "", "[" * 3000 + "]" * 3000
    version = VERSIONS.get(name, FORMAT_VERSION)
    header = json.dumps({"kind": name, "version": version, "digest": found, "content": 0})
    whole = {each: np.ascontiguousarray(array) for each, array in arrays.items()}
    path = folder / "odd.safetensors"
    path.write_bytes(save(whole, metadata={"smgrnn": f"{header[:-2]}{text}}}"}))
    use(path, rng)


# --- many in one process -------------------------------------------------------------------------


def outcome(work: Callable[[], object]) -> Found:
    """Return what became of an input: worked, refused by a sentence, or what may not be."""
    try:
        work()
    except SmgrnnError as error:
        said = str(error)
        is_sentence = said.isprintable() and said.endswith((".", "?"))
        return Found("refused") if is_sentence else Found("wordy", said[:300])
    except Exception:
        return Found("traceback", traceback.format_exc()[-700:])
    return Found("worked")


def odd_inputs(kind: str, seed: str, number: int, bench: Bench) -> list[Found]:
    """Try many odd settings, or files, in one process; a crash there ends it."""
    place = bench.folder / "kinds"
    if not place.exists():
        place.mkdir()
        bench.kinds = make_kinds(place)

    def work() -> None:
        warnings.simplefilter("ignore")
        tries = partial(try_file, bench.kinds) if kind == "files" else try_settings
        for n in range(N_TRIES):
            rng = Random(f"{seed}/{number}/{n}")
            signal.alarm(300)  # one that is slow ends by it
            print(json.dumps(outcome(partial(tries, rng, Path.cwd()))), flush=True)

    child = Child(work, bench.new_folder(), "tries")
    ended = child.wait()
    found = [Found(*json.loads(line)) for line in ended.out.splitlines() if line.startswith("[")]
    if len(found) < N_TRIES:
        bad = "hang" if ended.is_hung or ended.code == -signal.SIGALRM else "crash"
        found.append(Found(bad, f"try {len(found)}, code {ended.code}: {ended.err[-400:]}"))
    return found
