"""What commands print with --json stays as it is: every key, and every value that is no time.

Where a key is to move, say so in the changelog, delete the file and run this twice: a file that is
not there is written.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from support.commands import Command

OUTPUTS = Path(__file__).with_name("json_outputs.json")
UNSTABLE = {"seconds", "selection_seconds", "wall_seconds", "versions"}
"""Keys whose values are times, or belong to the machine."""
SHORT = ("--episodes", "5", "--held-out", "2")
SEARCH = ("--rollouts", "20", "--population", "10", "--held-out", "2")
MIRRORED = ("CartPole-v1", "CartPole-v1,mirrored", "--preset", "paper")
COMMANDS: dict[str, tuple[str, ...]] = {
    "distill": ("distill", "CartPole-v1", *SHORT, "--out", "runs/a"),
    "distill, paper": ("distill", "CartPole-v1", "--preset", "paper", *SHORT, "--out", "runs/b"),
    "distill, resumed": ("distill", "--resume", "runs/a"),
    "distill, from": ("distill", "CartPole-v1", "--from", "runs/b", *SHORT, "--out", "runs/c"),
    "distill, seeds": ("distill", "xor", *SHORT, "--seeds", "2", "--out", "runs/x"),
    "dry": ("distill", "CartPole-v1", "--dry-run"),
    "dry, paper": ("distill", "Acrobot-v1", "--preset", "paper", "--dry-run"),
    "dry, as printed": ("distill", "LunarLander-v3", "--preset", "as_printed", "--dry-run"),
    "dry, MLPs": ("distill", "CartPole-v1", "--student", "mlp-100", "--seeds", "2", "--dry-run"),
    "dry, from": (
        "distill",
        "CartPole-v1",
        "--from",
        "runs/b",
        "--set",
        "protect=0.5",
        "--dry-run",
    ),
    "sequence": ("sequence", *MIRRORED, "--cue", *SHORT, "--out", "runs/s"),
    "evolve": ("evolve", "CartPole-v1", *SEARCH, "--out", "runs/e"),
    "evolve, ndp": ("evolve", "CartPole-v1", *SEARCH, "--method", "ndp", "--out", "runs/n"),
    "evaluate": ("evaluate", "runs/a", "--episodes", "2"),
    "evaluate, final": ("evaluate", "runs/a", "--episodes", "2", "--final"),
    "evaluate, two": ("evaluate", "runs/a", "runs/e", "--episodes", "2"),
    "compare": ("compare", "runs/a", "runs/b"),
    "frontier": ("frontier", "runs/a", "runs/b", "--out", "front.svg"),
    "list": ("list",),
    "list, runs": ("list", "runs"),
    "export, c": ("export", "runs/a", "--to", "c"),
    "export, json": ("export", "runs/a", "--to", "json"),
    "export, graphml": ("export", "runs/b", "--to", "graphml", "--out", "graph"),
    "export, onnx": ("export", "runs/b", "--to", "onnx"),
    "view": ("view", "runs/a", "--no-open"),
    "expert, list": ("expert", "list"),
    "expert, evaluate": ("expert", "evaluate", "CartPole-v1", "--episodes", "2"),
}


def stable(told: Any, key: str = "") -> Any:
    """Return a result with every key, and without the values that are unstable."""
    if key in UNSTABLE:
        return "…"
    if isinstance(told, dict):
        return {name: stable(each, name) for name, each in told.items()}
    return [stable(each) for each in told] if isinstance(told, list) else told


def test_results_as_json_have_the_keys_and_values_that_they_had(smgrnn: Command) -> None:
    found = {}
    for name, words in COMMANDS.items():
        said = smgrnn(*words, "--json")
        assert said.code == 0, said.err
        found[name] = stable(json.loads(said.out))
    if not OUTPUTS.exists():
        lines = (f'"{name}": {json.dumps(each, sort_keys=True)}' for name, each in found.items())
        OUTPUTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        pytest.fail("The outputs were not frozen before; they are now.")
    known = json.loads(OUTPUTS.read_text(encoding="utf-8"))
    assert list(found) == list(known)
    for name, each in found.items():
        assert each == known[name], name
