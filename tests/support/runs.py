"""Short runs to test with: teachers of one layer, rules that edit often, folders to compare."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn import Graph, GraphEdit, Run
from smgrnn.config import RunConfig
from smgrnn.experts import Expert, write_expert
from smgrnn.graph.edit import apply
from smgrnn.graph.log import Edits
from smgrnn.policy import Policy
from smgrnn.runs.checkpoints import Checkpoint
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.runs.start import new_run
from smgrnn.storage import digest
from smgrnn.tasks import Task
from support import trials
from support.flat import flat_learning, flat_rules, network_config

RULES = {**trials.RULES, "initial_weight": 0.01}
"""Changes to the rules that let them edit a few times in an episode and in every way."""

GROWING = {name: each for name, each in RULES.items() if not name.endswith("_threshold")}
"""Those that have a say where nothing is pruned."""

TEACHERS = {
    # Pushes the cart to where the pole leans: too late, so that returns differ and runs are short.
    "CartPole-v1": Expert.from_layers([([[0, 0, 0, 0], [0, 0, 1.0, 0.0]], [0, 0])]),
    # Drives the elbow the way it turns, which adds energy until the free end swings up.
    "Acrobot-v1": Expert.from_layers(
        [([[0, 0, 0, 0, 0, -1], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]], [0, 0, 0])]
    ),
    # Damps the pendulum; the action is one number within ±2.
    "Pendulum-v1": Expert.from_layers([([[0.0, -1.0, -0.3]], [0.0])]),
}

RESULTS = ("episodes.csv", "edits.csv.gz")
"""The files of a run that hold neither times nor versions."""


def teacher(folder: Path, task: str) -> str:
    path = folder / f"{task}.safetensors"
    if not path.exists():
        write_expert(path, TEACHERS[task], {})
    return str(path)


def settings(folder: Path, task: str = "CartPole-v1", **changes: Any) -> RunConfig:
    """Return the settings of a short run with many edits, its teacher in the folder."""
    defaults: dict[str, Any] = {"episodes": 30, "checkpoint_every": 10}
    if task in TEACHERS:
        defaults["expert"] = teacher(folder, task)
    changes = {"preset": "paper", **changes}
    start = {name: changes[name] for name in ("preset", "student") if name in changes}
    if not str(changes.get("student", "")).startswith("mlp"):
        rules = RunConfig.for_task(task, **start).plasticity
        known = {
            entry.name
            for part in (rules, rules.growth, rules.pruning)
            for entry in (fields(part) if is_dataclass(part) else ())
        }
        defaults["plasticity"] = {name: each for name, each in RULES.items() if name in known}
    return RunConfig.for_task(task, **nested({**defaults, **changes}))


def nested(changes: dict[str, Any]) -> dict[str, Any]:
    found = dict(changes)
    for name, nest in (("plasticity", flat_rules), ("learning", flat_learning)):
        if isinstance(found.get(name), dict):
            found[name] = nest(found[name])
    return found


def planned(folder: Path, task: str = "CartPole-v1", **changes: Any) -> Plan:
    return new_run(task, settings(folder, task, **changes)).plan


def trained(
    folder: Path, task: str = "CartPole-v1", name: str | None = "run", **changes: Any
) -> Run:
    """Return a short run; its folder is `name` in `folder`, and there is none without a name."""
    place = None if name is None else folder / name
    run = new_run(task, settings(folder, task, **changes), place)
    run.train()
    return run


def played(n_parameters: int, *returns: float, episode: int = 1) -> Checkpoint:
    """Return a student of so many parameters, with returns made by hand."""
    n = n_parameters
    graph = Graph.from_edges(n, 1, edges=[(source, n, 1.0) for source in range(n)])
    config = network_config(n_inputs=n, n_outputs=1)
    return Checkpoint(
        Policy(graph, config, Task("any", n, 1, is_discrete=True)), episode, np.array(returns)
    )


def contents(folder: Path) -> dict[str, Any]:
    """Return all that a finished run left, except times and the folder's own name."""
    found: dict[str, Any] = {name: (folder / name).read_bytes() for name in RESULTS}
    record = Record.load(folder)
    found["record"] = record.fingerprint
    found["snapshots"] = [np.asarray(column).tolist() for column in record.snapshots]
    found["resume"] = digest("resume", None, record.resume or {})
    report = json.loads((folder / "run.json").read_text())
    for name in ("seconds", "selection_seconds", "selection_episodes", "run_dir"):  # effort
        report["summary"].pop(name, None)
    report["summary"].get("polish", {}).pop("seconds", None)
    return {**found, "run.json": report}


def replay(graph: Graph, edits: Edits) -> list[tuple[int, Graph]]:
    """Apply a run's edits to its first graph; return each graph with the update it came after."""
    graphs = []
    for call in np.unique(edits.call):
        made = edits.call == call
        graph = apply(graph, GraphEdit(edits.rows[made], edits.weight[made])).graph
        graphs.append((int(edits.update[made][0]), graph))
    return graphs
