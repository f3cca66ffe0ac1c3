"""Whatever is rewritten, training gives the same numbers to the last bit.

A digest that moves means that published numbers move: say so in the changelog, under Results, and
raise `RECORDS_VERSION`.  A new run gets its digest by `PYTHONPATH=tests python -m frozen NAME…`.
"""

import json
from pathlib import Path
from typing import get_args

import pytest

from frozen.bare import BARE
from frozen.runs import OF_LEARNING, OF_PLASTICITY, OF_RULES, OF_STUDENTS, RUNS
from frozen.values import DIGESTS, frozen, records
from smgrnn.config import Method, Student
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.learning.settings import Loss
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.rules.paper import Scale
from support.runs import settings

KINDS = "growth", "pruning"
KNOWN = json.loads(DIGESTS.read_text())
COMPILED = ("CartPole-v1", "Acrobot-v1", "recall")
"""Tasks that both backends have."""
BOTH = [
    name
    for name, (task, options) in RUNS.items()
    if isinstance(task, str) and task.partition(",")[0] in COMPILED
    if name not in OF_RULES | OF_STUDENTS  # a rule does not know who plays; others have its task
    if not {"method", "start", "normalise", "folder"} & set(options)  # which differ in snapshots
    if "keep" not in options  # which plays hundreds of episodes more
]
"""Runs on each task, of each student and with each setting, to train in Gymnasium too."""
ONLY_PRUNED = {f"growth none, K = {k}" for k in (1, 2)} | {
    "growth candidates, K = 1",  # which hears of none
    "only orphans",
}
ONLY_GROWN = {f"pruning none, K = {k}" for k in (1, 2)} | {"a call an episode, if due"}
pytestmark = pytest.mark.filterwarnings("ignore::smgrnn.errors.GrowthLimitWarning")


def test_every_run_has_a_digest() -> None:
    assert set(KNOWN) == {*RUNS, *BARE}


def test_every_student_method_and_rule_has_a_run(tmp_path: Path) -> None:
    options = [options for _, options in RUNS.values()]
    assert {each.get("method") for each in options} == {None, *get_args(Method)}
    made = [
        settings(tmp_path, task, **{key: each[key] for key in each if key not in ("folder",)})
        for task, each in RUNS.values()
        if isinstance(task, str) and not {"method", "start"} & set(each)
    ]
    assert {each.student for each in made} == set(get_args(Student))
    growth, pruning = ([getattr(each.plasticity, kind) for each in made] for kind in KINDS)
    assert {getattr(each, "name", None) for each in growth} == {*GROWTH, None}
    assert {getattr(each, "name", None) for each in pruning} == {*PRUNING, None}
    assert {each.scale for each in growth if hasattr(each, "scale")} == set(get_args(Scale))
    assert {each.learning.rule.name for each in made} == set(LEARNING)
    assert {each.learning.optimizer.name for each in made} == set(OPTIMIZERS)
    losses = {each.learning.loss for each in made} - {None}
    assert losses | {"mse", "cross_entropy"} == set(get_args(Loss))  # which tasks choose


@pytest.mark.parametrize("name", [*OF_RULES, *OF_PLASTICITY, *OF_LEARNING])
def test_rules_are_frozen_in_runs_that_edit(name: str) -> None:
    edits = KNOWN[name]
    assert (edits["added"] > 0) != (name in ONLY_PRUNED)
    assert edits["removed"] > 0 or name in ONLY_GROWN


@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_the_numbers_that_it_gave(tmp_path: Path, name: str) -> None:
    assert frozen(records(tmp_path, name)) == KNOWN[name]


@pytest.mark.parametrize("name", BOTH)
def test_both_backends_give_the_same_numbers(tmp_path: Path, name: str) -> None:
    assert frozen(records(tmp_path, name, env_backend="gymnasium")) == KNOWN[name]


@pytest.mark.parametrize("name", BARE)
def test_what_learns_outside_of_runs_gives_the_numbers_that_it_gave(name: str) -> None:
    assert BARE[name]() == KNOWN[name]


@pytest.mark.parametrize("name", ["at most 9 nodes", "at most 14 edges"])
def test_a_limit_is_met_with_a_warning(tmp_path: Path, name: str) -> None:
    (record,) = records(tmp_path, name)
    assert len(record.warnings) == 1
