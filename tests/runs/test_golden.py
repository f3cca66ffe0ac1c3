"""Digests of short runs: whatever is rewritten, training gives the same numbers to the last bit.

Every student, both backends, examples, continuous actions and both evolutions.  A digest that moves
means that published numbers move: say so in the changelog, under Results, and raise
`RECORDS_VERSION`.
"""

from pathlib import Path
from typing import Any, get_args

import pytest

from smgrnn.arrays import to_arrays
from smgrnn.config import DEMANDS, Method
from smgrnn.runs import Record
from smgrnn.storage import digest
from smgrnn_paper import evolve
from support.runs import settings, trained

CARTPOLE, ACROBOT = "CartPole-v1", "Acrobot-v1"
PAPER: dict[str, Any] = {"plasticity": {}}
"""The rules of the preset, not the busy ones of other tests."""
BUSY: dict[str, Any] = {"interval": 20, "window": 20}
FRUGAL: dict[str, Any] = {"preset": "frugal", "plasticity": {"interval": 20}}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "smgrnn": (CARTPOLE, {"episodes": 60}),
    "smgrnn of the paper": (CARTPOLE, {"episodes": 60, "seed": 3, **PAPER}),
    "static": (CARTPOLE, {"student": "static"}),
    "growth-only": (CARTPOLE, {"student": "growth-only"}),
    "mlp-100": (CARTPOLE, {"student": "mlp-100", "budget": 80}),
    "mlp-200": (ACROBOT, {"student": "mlp-200", "episodes": 4, "budget": 107}),
    "Acrobot": (ACROBOT, {"episodes": 8, "seed": 1}),
    "as printed": (CARTPOLE, {"preset": "as_printed", "readout": "sum", **PAPER}),
    "larger": (
        CARTPOLE,
        {"n_hidden": 5, "iterations": 3, "activation": "sigmoid", "carry_state": False},
    ),
    "xor": ("xor", {"episodes": 60, **PAPER}),
    "Pendulum": ("Pendulum-v1", {"episodes": 3, "iterations": 2, "bias": True}),
    "normalised": (CARTPOLE, {"episodes": 8, "normalise": True}),
    "sgd": (CARTPOLE, {"learning": {"optimizer": "sgd"}}),
    "rmsprop": (CARTPOLE, {"learning": {"optimizer": "rmsprop"}}),
    "adamw": (CARTPOLE, {"learning": {"optimizer": "adamw", "bias_correction": "edge"}}),
    "squared error": (CARTPOLE, {"learning": {"loss": "plus_minus"}, "readout": "state"}),
    "mlp-pruned": (
        ACROBOT,
        {"student": "mlp-pruned", "budget": 80, "parameters": 30, "episodes": 150},
    ),
    "frugal": (CARTPOLE, {"episodes": 60, **FRUGAL}),
    "frugal, at most 40": (ACROBOT, {"episodes": 40, "parameters": 40, **FRUGAL}),
    "frugal, at most 6": (CARTPOLE, {"episodes": 60, "parameters": 6, **FRUGAL}),
    "frugal, to keep a share": (CARTPOLE, {"episodes": 40, "keep": 0.9, **FRUGAL}),
    "frugal xor": ("xor", {"episodes": 1500, "parameters": 12, **FRUGAL}),
    "LunarLander": ("LunarLander-v3", {"episodes": 4, "handover": "final", **FRUGAL}),
    "no velocities": (f"{CARTPOLE},hide=velocities", {"episodes": 300, "parameters": 20, **FRUGAL}),
    "recall": ("recall", {"episodes": 200, **FRUGAL}),
    "feedback": (CARTPOLE, {"learning": {"rule": "feedback"}, "iterations": 2}),
    "hebbian": (CARTPOLE, {"learning": {"rule": "hebbian"}, "iterations": 2}),
    "copies": (ACROBOT, {"episodes": 8, "plasticity": {**BUSY, "growth": "duplicate"}}),
    "splits": (CARTPOLE, {"plasticity": {**BUSY, "growth": "split", "pruning": "random"}}),
}
EVOLUTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "neat": (CARTPOLE, {"method": "neat", "seed": 1}),
    "ndp": (ACROBOT, {"method": "ndp", "seed": 0}),
}
GOLDEN = {
    "smgrnn": "f70d6d7794e610e9",
    "smgrnn of the paper": "c43629c02bceaae1",
    "static": "6eb9bb64872a3f97",
    "growth-only": "6b267f578e4b93c1",
    "mlp-100": "0a456dda93e7f8d3",
    "mlp-200": "bf5229e3851d04cc",
    "Acrobot": "6e8efe0aec02abad",
    "as printed": "99f0cc79cf703249",
    "larger": "e34fd84d08508e43",
    "xor": "19cfc227b0e9ed20",
    "Pendulum": "6cc2218fd3b630a8",
    "normalised": "819ec31496ab8f7d",
    "sgd": "950ea3def6c51445",
    "rmsprop": "59c7a48434741613",
    "adamw": "1ca6d731d667b4de",
    "squared error": "6d451689b8312acb",
    "mlp-pruned": "9b98f8d71898bb69",
    "frugal": "3533ff239207438f",
    "frugal, at most 40": "031e230330672e9d",
    "frugal, at most 6": "82e5718aa17fc5b8",
    "frugal, to keep a share": "a1d2333f416d5718",
    "frugal xor": "149420c5443f43fc",
    "LunarLander": "0c8f326591d4993c",
    "no velocities": "815a1619ec9ed227",
    "recall": "ded4fcdc9deab24a",
    "feedback": "ce5e3c3c12ac5539",
    "hebbian": "464203ce8f84b398",
    "copies": "21539254a8ff85f1",
    "splits": "a9007279ba43d1d8",
    "neat": "c0003cbe23c50790",
    "ndp": "2108575a92f8d986",
}


def digest_of(record: Record) -> str:
    """Return the digest of all results, whatever the settings are called."""
    arrays = to_arrays(record.episodes, "episodes.") | to_arrays(record.edits, "edits.")
    for role in sorted(record.students):
        arrays |= to_arrays(record.students[role].graph, f"{role}.")
    for number, member in enumerate(record.family):
        arrays |= to_arrays(member.policy.graph, f"family.{number}.")
    return digest("golden", record.best_score, arrays | {"held_out": record.held_out})[:16]


def test_every_student_and_method_has_a_digest() -> None:
    assert {changes.get("student", "smgrnn") for _, changes in RUNS.values()} == set(DEMANDS)
    assert set(EVOLUTIONS) == set(get_args(Method))


@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_the_numbers_that_it_gave(tmp_path: Path, name: str) -> None:
    task, changes = RUNS[name]
    run = trained(tmp_path, task, name=None, held_out=3, **changes)
    assert digest_of(run.record) == GOLDEN[name]


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name][0] in (CARTPOLE, ACROBOT)])
def test_both_backends_give_the_same_numbers(tmp_path: Path, name: str) -> None:
    task, changes = RUNS[name]
    config = settings(tmp_path, task, held_out=3, **changes)
    if not config.normalise:
        run = trained(tmp_path, task, None, held_out=3, env_backend="gymnasium", **changes)
        assert digest_of(run.record) == GOLDEN[name]


@pytest.mark.parametrize("name", EVOLUTIONS)
def test_an_evolution_gives_the_numbers_that_it_gave(name: str) -> None:
    task, changes = EVOLUTIONS[name]
    evolution = evolve(task, rollouts=20, population=10, held_out=2, **changes)
    assert digest_of(evolution.record) == GOLDEN[name]
