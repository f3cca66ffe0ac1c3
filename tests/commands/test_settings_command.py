"""`smgrnn settings` lists all settings that `--set` takes, each with a meaning."""

import json
from typing import Any

import pytest

from smgrnn.config import CHOICES, RunConfig, with_settings
from support.commands import Command


@pytest.fixture
def listed(smgrnn: Command) -> dict[str, dict[str, Any]]:
    said = smgrnn("settings", "--json")
    assert (said.code, said.err) == (0, "")
    found: dict[str, dict[str, Any]] = json.loads(said.out)
    return found


def test_every_setting_is_listed_with_its_owner_default_and_meaning(
    listed: dict[str, dict[str, Any]], smgrnn: Command
) -> None:
    assert listed["network"]["density"] == {
        "default": 1.0,
        "meaning": "Fraction of the allowed node pairs that start connected.",
    }
    assert listed["plasticity module"]["plasticity.growth"]["default"] == "frugal"
    assert listed["growth rule relay"]["growth.interval_width"]["default"] == 0.5
    assert listed["optimizer adamw"]["optimizer.weight_decay"]["default"] == 0.01
    assert listed["learning rule hebbian"].keys() == {"rule.trace_decay"}
    rows = [row for table in listed.values() for row in table.values()]
    assert all(row["meaning"] for row in rows)
    names = {name for table in listed.values() for name in table}
    for preset in ("paper", "frugal"):
        assert RunConfig.for_task("xor", preset=preset).named().keys() <= names
    words = smgrnn("settings").out
    assert all(f"  {name} " in words for name in names)


def test_every_setting_that_is_listed_can_be_set(listed: dict[str, dict[str, Any]]) -> None:
    titles = {"growth": "growth rule", "pruning": "pruning rule", "rule": "learning rule"}
    for choice, table in CHOICES.items():
        part = choice.rpartition(".")[2]
        for name in table:
            for setting, row in listed[f"{titles.get(part, part)} {name}"].items():
                texts = (f"{choice}={name}", f"{setting}={row['default']}")
                with_settings(RunConfig(), texts)
    for owner in ("run", "network", "learning", "plasticity module"):
        for setting, row in listed[owner].items():
            assert with_settings(RunConfig(), (f"{setting}={row['default']}",)) is not None
