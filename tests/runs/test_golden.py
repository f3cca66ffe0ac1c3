"""Digests of short runs: whatever is rewritten, training gives the same numbers to the last bit.

Every student, both backends, examples, continuous actions and both evolutions.  A digest that moves
means that published numbers move: say so in the changelog, under Results, and raise
`RECORDS_VERSION`.
"""

from pathlib import Path
from typing import Any

import pytest

from smgrnn.runs import Record, evolve
from smgrnn.storage import digest, pack
from support.runs import settings, trained

CARTPOLE, ACROBOT = "CartPole-v1", "Acrobot-v1"
PAPER: dict[str, Any] = {"plasticity": {}}
"""The rules of the preset, not the busy ones of other tests."""
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "smgrnn": (CARTPOLE, {"episodes": 60}),
    "smgrnn of the paper": (CARTPOLE, {"episodes": 60, "seed": 3, **PAPER}),
    "static": (CARTPOLE, {"student": "static"}),
    "growth-only": (CARTPOLE, {"student": "growth-only"}),
    "mlp-100": (CARTPOLE, {"student": "mlp-100"}),
    "mlp-200": (ACROBOT, {"student": "mlp-200", "episodes": 4}),
    "Acrobot": (ACROBOT, {"episodes": 8, "seed": 1}),
    "as printed": (CARTPOLE, {"preset": "as_printed", **PAPER}),
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
}
EVOLUTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "neat": (CARTPOLE, {"method": "neat", "seed": 1}),
    "ndp": (ACROBOT, {"method": "ndp", "seed": 0}),
}
GOLDEN = {
    "smgrnn": "51a2a70a28b307c8",
    "smgrnn of the paper": "19c945fb7408a110",
    "static": "faa74d1279aa4e14",
    "growth-only": "8d2634943197e431",
    "mlp-100": "f76736832eec7baf",
    "mlp-200": "c51108a0ab268fa5",
    "Acrobot": "afa970003ee13c40",
    "as printed": "20dda0ff8336a5a2",
    "larger": "a462460af6a1d0e1",
    "xor": "3893f51e8a8bb670",
    "Pendulum": "bbdfb8a4cf3cd954",
    "normalised": "c1c9f5daf16101c3",
    "sgd": "a401bfa511ed5251",
    "rmsprop": "215d141c27229d39",
    "adamw": "4a06ee157bbfdda2",
    "neat": "fc2951698d3ddee2",
    "ndp": "a08613bf952a3718",
}


def digest_of(record: Record) -> str:
    """Return the digest of all results, whatever the settings are called."""
    arrays = pack("episodes", record.episodes) | pack("edits", record.edits)
    for role in sorted(record.students):
        arrays |= pack(role, record.students[role].graph)
    return digest("golden", record.best_score, arrays | {"held_out": record.held_out})[:16]


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
