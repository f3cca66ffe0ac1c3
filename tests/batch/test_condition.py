"""A condition's key is its content: nothing else, and all of it."""

import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import AnyCondition, Condition
from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError, ExpertError
from smgrnn.experts import Expert, find_teacher, write_expert
from smgrnn.runs import plan
from smgrnn.tasks import find_task
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.evolution.evolution import new_evolution
from support.trials import asking, teacher

CARTPOLE = Condition.distill("CartPole-v1", preset="paper")
SAME = [
    Condition.distill(
        "CartPole-v1", preset="paper", density=0.8, learning={"learning_rate": 0.01}
    ),  # defaults
    Condition("CartPole-v1", replace(CARTPOLE.settings, seed=7)),
]
OTHERS = [
    Condition.distill("Acrobot-v1", preset="paper"),
    Condition.distill("CartPole-v1", preset="paper", student="static"),
    Condition.distill("CartPole-v1", preset="paper", learning={"learning_rate": 0.02}),
    Condition.distill("CartPole-v1", preset="paper", plasticity={"window": 99}),
    CARTPOLE.with_episodes(1999),
    EvolutionCondition.evolve("CartPole-v1"),
    EvolutionCondition.evolve("CartPole-v1", method="ndp"),
]


def test_all_of_the_content_and_the_seed_make_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = CARTPOLE.key(0)
    assert {each.key(0) for each in SAME} == {key}
    assert len({key, *(each.key(0) for each in OTHERS)}) == 1 + len(OTHERS)
    assert len({CARTPOLE.key(seed) for seed in range(100)}) == 100
    monkeypatch.setattr(plan, "RECORDS_VERSION", plan.RECORDS_VERSION + 1)
    assert CARTPOLE.key(0) != key


def test_of_an_expert_file_the_content_counts_and_not_the_path(tmp_path: Path) -> None:
    first = teacher(tmp_path)
    copy = shutil.copy(first, tmp_path / "copy.safetensors")
    keys = [
        Condition.distill("CartPole-v1", preset="paper", expert=str(path)).key(0)
        for path in (first, copy)
    ]
    assert keys[0] == keys[1] != CARTPOLE.key(0)
    write_expert(copy, Expert.from_layers([([[0.0] * 4] * 2, [0.0, 1.0])]), {})
    assert Condition.distill("CartPole-v1", preset="paper", expert=str(copy)).key(0) != keys[0]


def test_runs_take_the_teachers_in_turn_and_their_plans_say_which(tmp_path: Path) -> None:
    own = Path(teacher(tmp_path))
    taught = Condition.distill(
        "CartPole-v1", preset="paper", teachers=("CartPole-v1-plain-1", str(own))
    )
    names = [taught.plan(seed).teacher.name for seed in range(4)]
    assert names == ["CartPole-v1-plain-1", str(own.resolve())] * 2
    for seed in range(4):
        alone = Condition.distill("CartPole-v1", preset="paper", expert=taught.expert(seed))
        assert alone.key(seed) == taught.key(seed) != CARTPOLE.key(seed)
    with pytest.raises(ConfigError, match="not both"):
        Condition("CartPole-v1", RunConfig(expert="CartPole-v1-smooth"), teachers=(str(own),))
    with pytest.raises(ExpertError, match="No bundled expert for Pendulum-v1"):
        Condition.distill("Pendulum-v1", preset="paper").key(0)


def test_the_budget_of_an_mlp_counts_also_if_it_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = find_task("CartPole-v1")
    expert, _ = find_teacher(None, task)

    def key(**changes: Any) -> str:
        config = RunConfig.for_task(task.id, preset="paper", student="mlp-100", **changes)
        return plan.plan_run(config, task, expert).key()

    sized = key(budget=84)
    for budget, is_same in {84: True, 85: True, 100: False}.items():  # 85: the same width
        monkeypatch.setattr(plan, "find_budget", lambda _, found=budget: found)
        assert (key() == sized) == is_same


def test_of_neat_settings_the_content_counts(tmp_path: Path) -> None:
    text = files("smgrnn_paper.evolution").joinpath("neat_configs", "default.ini").read_text()
    file = tmp_path / "neat.ini"
    file.write_text(text)
    own = EvolutionCondition.evolve("CartPole-v1", neat_config=str(file))
    key = own.key(0)
    assert key == EvolutionCondition.evolve("CartPole-v1").key(0)
    file.write_text(text + "\n")
    assert own.key(0) != key


@pytest.mark.parametrize(
    ("n", "population", "generations"),
    [(2000, 50, 40), (1000, 50, 20), (120, 50, 2), (99, 49, 2), (20, 10, 2), (1, 4, 2)],
)
def test_a_shortened_evolution_keeps_two_generations(
    n: int, population: int, generations: int
) -> None:
    short = EvolutionCondition.evolve("CartPole-v1").with_episodes(n).settings
    assert (short.population, short.generations) == (population, generations)


@pytest.mark.parametrize("method", ["neat", "ndp"])
def test_the_shortest_evolution_runs(method: str) -> None:
    short = EvolutionCondition.evolve("CartPole-v1", method=method).with_episodes(1)
    assert new_evolution(short.task, short.settings).train().episodes.n == short.episodes == 8


@pytest.mark.parametrize("noun", ["seeds", "episodes"])
def test_none_are_too_few(noun: str) -> None:
    with pytest.raises(ConfigError, match=rf"number of {noun} must be .*Got 0"):
        asking({"a": CARTPOLE}).scaled(**{noun: 0})


AS_PRINTED: dict[str, Any] = {"preset": "as_printed", "readout": "sum"}
PINNED: dict[str, tuple[AnyCondition, int]] = {
    "0aad10679a5e3ca9": (CARTPOLE, 0),
    "ea0bbe1b8c425d28": (CARTPOLE, 7),
    "99dd09210523a95f": (Condition.distill("Acrobot-v1", preset="paper", student="static"), 0),
    "7820808b78922440": (
        Condition.distill("LunarLander-v3", preset="paper", student="growth-only"),
        0,
    ),
    "7d6bec87c00b5851": (
        Condition.distill("CartPole-v1", preset="paper", student="mlp-100", budget=80),
        0,
    ),
    "57e7c1cba1cdae9b": (
        Condition.distill("CartPole-v1", preset="paper", student="mlp-200", budget=60),
        0,
    ),
    "76500f2188eb3bea": (Condition.distill("xor", preset="paper"), 0),
    "b89bd6432255ff0d": (
        Condition.distill("CartPole-v1", **AS_PRINTED, n_hidden=3),
        0,
    ),
    "2cd99c974083a6d2": (EvolutionCondition.evolve("CartPole-v1"), 0),
    "058320db98871cde": (EvolutionCondition.evolve("Acrobot-v1", method="ndp"), 3),
}


@pytest.mark.parametrize("expected", PINNED)
def test_keys_are_what_they_were(expected: str) -> None:
    """A key that moves makes every stored result a stranger."""
    pinned, seed = PINNED[expected]
    assert pinned.key(seed).startswith(expected)
