"""`smgrnn frontier`: what it prints, what it draws, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smgrnn.batch import Condition, Store
from smgrnn_paper.experiments.frontier import student
from support.commands import Command, refused
from support.fabricated import fabricate

pytestmark = pytest.mark.xdist_group("frontier")

CONDITIONS = {
    "frugal": student("CartPole-v1", "grown", 8),
    "mlp": student("CartPole-v1", "mlp", 1),
}


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Return two made-up seeds of a growing network and of an MLP, as files of a store."""
    store = Store(tmp_path / "results" / "store")
    found = []
    for name, mean in (("frugal", 490.0), ("mlp", 480.0)):
        for seed in range(2):
            record = fabricate(CONDITIONS[name], seed, held_out_mean=mean + seed)
            store.save(record)
            found.append(store.path(record.plan.key()))
    return found


def shown(out: str) -> None:
    """Check that a table has a growing network, an MLP and what the paper prints."""
    head, grown, dense, printed, *_ = out.splitlines()
    assert head.split()[:3] == ["CartPole-v1", "Parameters", "Runs"]
    assert "490.5 [484.1, 496.9]" in grown
    names = ("frugal 8 ", "MLP ", "as printed* ")
    assert all(map(str.startswith, (grown, dense, printed), names))
    assert len({len(line) for line in (head, grown, dense, printed)}) == 1
    assert max(map(len, out.splitlines())) <= 100


def test_numbers_as_json(runs: list[Path], smgrnn: Command, tmp_path: Path) -> None:
    said = smgrnn("frontier", *runs[:3], "--json", "--out", "drawn.svg")
    numbers = json.loads(said.out)
    grown, dense = numbers["groups"]
    assert (grown["task"], grown["student"], grown["asked"]) == ("CartPole-v1", "frugal", 8)
    assert (grown["seeds"], grown["held_out"]["mean"]) == ([0, 1], 490.5)
    assert grown["nearest_mlp"]["difference"] == pytest.approx(10.5)
    assert grown["nearest_mlp"]["low"] is None  # of a single MLP
    assert (dense["student"], dense["nearest_mlp"], dense["held_out"]["std"]) == ("MLP", None, None)
    assert [each["late_return"]["mean"] for each in numbers["paper"]] == [497.7]
    assert numbers["picture"] == "drawn.svg"
    assert (tmp_path / "drawn.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_given_runs_or_those_of_the_store_are_shown_side_by_side(
    runs: list[Path], smgrnn: Command, tmp_path: Path
) -> None:
    """Two conditions of the experiment have run; the store is where `reproduce` leaves it."""
    said = smgrnn("frontier", *runs)
    assert (said.code, said.err) == (0, "")
    shown(said.out)
    said = smgrnn("frontier", "--out", "drawn.png")
    shown(said.out)
    assert said.out.endswith("The picture is in drawn.png.\n")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    for episodes in (4, 6):  # after `reproduce --smoke frontier`, the longest there are
        short = fabricate(CONDITIONS["frugal"].with_episodes(episodes), 0)
        Store(tmp_path / "short").save(short)
    first, _, grown, *_ = smgrnn("frontier", "--store", "short").out.splitlines()
    assert first.startswith("Short runs: 1 of ")
    assert " seeds, 6 to 8 of " in first
    assert grown.startswith("frugal 8 ")


def test_one_task_can_be_shown_alone(runs: list[Path], smgrnn: Command, tmp_path: Path) -> None:
    other = fabricate(Condition.distill("Acrobot-v1", preset="paper"), 0)
    other.save(tmp_path / "other.safetensors")
    words = ("frontier", *runs, "other.safetensors", "--json")
    for more, tasks in (
        ((), {"CartPole-v1", "Acrobot-v1"}),
        (("--task", "Acrobot-v1"), {"Acrobot-v1"}),
    ):
        told = json.loads(smgrnn(*words, *more).out)
        assert {each["task"] for each in told["groups"]} == tasks
    sentence = refused(smgrnn("frontier", *runs, "--task", "CartPol-v1"))
    assert sentence == "There is no run of CartPol-v1. Did you mean 'CartPole-v1'?"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--store", "nowhere"], "nowhere has no finished run of the experiment frontier;"),
        (["begun.safetensors"], "None of these runs is finished"),
        (["{run}", "--store", "elsewhere"], "--store is for the experiment: leave it out"),
        (["runs/nowhere"], "There is no run folder runs/nowhere."),
        (["{run}", "--out", "a.pdf"], "A picture is an .svg or a .png file. Got a.pdf instead."),
    ],
)
def test_what_cannot_be_shown_is_refused(
    runs: list[Path], smgrnn: Command, tmp_path: Path, words: list[str], sentence: str
) -> None:
    begun = replace(fabricate(CONDITIONS["frugal"], 0), held_out=np.empty(0))
    begun.save(tmp_path / "begun.safetensors")
    given = (word.format(run=runs[0]) for word in words)
    assert refused(smgrnn("frontier", *given)).startswith(sentence)
