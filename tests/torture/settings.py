"""Odd settings of runs and searches, and short runs of those that are taken."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.config import CHOICES, RunConfig
from smgrnn.runs.run import new_run
from smgrnn_paper import EvolutionConfig
from smgrnn_paper.evolution.evolution import new_evolution
from support.runs import settings, teacher
from torture.grammar import NUMBERS, mutated
from torture.outcomes import Found

FEW = {"episodes": 3, "held_out": 1, "checkpoint_every": 2}
EXTREMES: dict[str, list[Any]] = {
    "plasticity.window": [1, 2, 1000],
    "plasticity.interval": [1, 2, "episode"],
    "plasticity.prune_period": [1, 2],
    "plasticity.growth": ["relay", "relay-alone", "frugal", "candidates", "gradient", "none"],
    "plasticity.pruning": ["weak", "contribution", "none"],
    "growth.max_relays": [None, 1, 50],
    "growth.explore_probability": [0.0, 1.0],
    "growth.explore_ratio": [0.0, 1.0],
    "pruning.weight_threshold": [0.0, 1e9],
    "pruning.update_threshold": [0.0, 1e9],
    "pruning.prune_fraction": [1e-9, 1.0],
    "plasticity.size": [None, 1, 5],
    "growth.n_candidates": [1, 64],
    "growth.candidate_sources": [1, 50],
    "plasticity.max_nodes": [6, 7, 20, 10_000],
    "plasticity.max_edges": [8, 9, 40, 100_000],
    "plasticity.history_on_edit": ["keep", "reset"],
    "plasticity.optimizer_on_edit": ["keep", "reset"],
    "network.n_hidden": [0, 1, 30],
    "network.density": [1e-9, 1.0],
    "network.weight_std": [0.0, 1e3],
    "network.iterations": [1, 2, 20],
    "network.carry_state": [True, False],
    "learning.optimizer": ["adam", "sgd", "rmsprop"],
    "learning.learning_rate": [1e-12, 1e6],
    "learning.averaging": [0.0, 0.999],
    "bias": [True, False],
    "normalise": [True, False],
    "handover": ["best", "final"],
    "parameters": [None, 1, 9, 30],
    "student": ["smgrnn", "static", "growth-only", "mlp-100", "mlp-pruned"],
    "seed": [0, 2**63 - 1],
    "gain": [1e-9, 1e9],
}
"""Values at the edges of what is allowed, which together no test has tried."""


def settings_cases(folder: Path) -> Callable[[Random, Path], Found]:
    """Return what makes odd settings and tries them."""
    expert = teacher(folder, "CartPole-v1")

    def case(rng: Random, _: Path) -> Found:
        if rng.random() < 0.1:
            return _evolve(rng)
        task = rng.choice(["CartPole-v1", "xor"])
        given: dict[str, Any] = {"preset": rng.choice(["paper", "frugal"]), **FEW}
        given |= {"expert": expert} if task == "CartPole-v1" else {}
        config = RunConfig.for_task(task, **given)
        if rng.random() < 0.5:
            config = settings(folder, task, **given)
        values = config.to_dict()
        for place in rng.sample(sorted(EXTREMES), rng.randrange(8)):
            _put(values, place, rng.choice(EXTREMES[place]))
        if rng.random() < 0.5:
            values = mutated(rng, values, rng.choice([1, 1, 2]))
        config = RunConfig.from_dict(values)
        run = new_run(task, config)
        if run.plan.n_episodes <= FEW["episodes"] and config.held_out <= FEW["held_out"]:
            run.train()
        return Found("worked")

    return case


def _put(values: dict[str, Any], place: str, value: Any) -> None:
    first, _, name = place.rpartition(".")
    for part in CHOICES.get(first, (first,) if first else ()):
        values = values[part]
        if not isinstance(values, dict):  # a rule that is named, or none
            return
    values[name] = value


def _evolve(rng: Random) -> Found:
    values = EvolutionConfig(rollouts=8, population=4, held_out=1).to_dict()
    values["method"] = rng.choice(["neat", "ndp"])
    values[rng.choice(sorted(values))] = rng.choice(NUMBERS)
    config = EvolutionConfig.from_dict(values)
    search = new_evolution("CartPole-v1", config)
    if config.rollouts <= 20 and config.held_out == 1:
        search.train()
    return Found("worked")
