"""Odd settings of runs and searches, and short runs of those that are taken."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.config import RunConfig
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.runs.run import new_run
from smgrnn.runs.students import STUDENTS
from smgrnn_paper import EvolutionConfig
from smgrnn_paper.evolution.evolution import new_evolution
from support.runs import settings, teacher
from torture.grammar import NUMBERS, mutated, places
from torture.outcomes import Found

FEW = {"episodes": 3, "held_out": 1, "checkpoint_every": 2}
EXTREMES: dict[str, list[Any]] = {
    "growth": [*GROWTH, "none"],
    "pruning": [*PRUNING, "none"],
    "optimizer": [*OPTIMIZERS],
    "rule": [*LEARNING],
    "student": [*STUDENTS],
    "handover": ["best", "final"],
    "interval": [1, 2, "episode"],
    "max_nodes": [6, 7, 20],
    "max_edges": [8, 9, 40],
    "history_on_edit": ["keep", "reset"],
    "optimizer_on_edit": ["keep", "reset"],
    "seed": [0, 2**63 - 1],
    **{name: [1, 2] for name in FEW},
}
"""Values at the edges of what is allowed, which together no test has tried."""
BY_TYPE: dict[type, list[Any]] = {
    bool: [True, False],
    int: [1, 2, 30],
    float: [0.0, 1e-9, 1.0, 1e6],
    type(None): [None, 1, 9],
}
"""Those of all other settings, by the type of the usual value."""


def settings_cases(folder: Path) -> Callable[[Random, Path], Found]:
    """Return what makes odd settings and tries them."""
    expert = teacher(folder, "CartPole-v1")

    def case(rng: Random, here: Path) -> Found:
        if rng.random() < 0.1:
            return _evolve(rng)
        task = rng.choice(["CartPole-v1", "xor"])
        given: dict[str, Any] = {"preset": rng.choice(["paper", "frugal"]), **FEW}
        given |= {"expert": expert} if task == "CartPole-v1" else {}
        config = RunConfig.for_task(task, **given)
        if rng.random() < 0.5:
            config = settings(folder, task, **given)
        values = config.to_dict()
        for _ in range(rng.randrange(8)):
            holder, name = rng.choice(list(places(values)))
            known = EXTREMES.get(name) or BY_TYPE.get(type(holder[name]))
            holder[name] = rng.choice(known) if known else holder[name]
        if rng.random() < 0.5:
            values = mutated(rng, values, rng.choice([1, 1, 2]))
        config = RunConfig.from_dict(values)
        run = new_run(task, config)
        if run.plan.n_episodes <= FEW["episodes"] and config.held_out <= FEW["held_out"]:
            run.train()
        return Found("worked")

    return case


def _evolve(rng: Random) -> Found:
    values = EvolutionConfig(rollouts=8, population=4, held_out=1).to_dict()
    values["method"] = rng.choice(["neat", "ndp"])
    values[rng.choice(sorted(values))] = rng.choice(NUMBERS)
    config = EvolutionConfig.from_dict(values)
    search = new_evolution("CartPole-v1", config)
    if config.rollouts <= 20 and config.held_out == 1:
        search.train()
    return Found("worked")
