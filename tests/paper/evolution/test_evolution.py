"""Evolutionary searches on a budget: the record, the run folder, and what is refused."""

import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smgrnn
import smgrnn_paper
from smgrnn.commands.output import Output
from smgrnn.episodes.table import Episodes
from smgrnn.errors import ConfigError, TaskError
from smgrnn.runs import Record, evaluate
from smgrnn_paper import Evolution, EvolutionConfig
from smgrnn_paper.commands.evolve import evolve_command, prepare_evolutions
from smgrnn_paper.evolution.evolution import new_evolution
from smgrnn_paper.evolution.plan import EvolutionPlan
from support.evolutions import SMALL, evolved, record
from support.runs import contents

METHODS = ("neat", "ndp")


@pytest.mark.parametrize("method", METHODS)
def test_the_budget_is_spent_exactly(method: Any, tmp_path: Path) -> None:
    evolution = evolved(tmp_path / "run", method=method)
    assert evolution.episodes.n == 40
    assert evolution.generations.n == 4
    summary = evolution.summary()
    assert (summary["episodes"], summary["generations"], summary["population"]) == (40, 4, 10)
    kept = json.loads((tmp_path / "run" / "run.json").read_text())
    assert kept["plan"] == evolution.plan.to_dict()
    asked = EvolutionConfig(method=method, **SMALL).to_dict()
    assert {name: kept["plan"][name] for name in asked if name != "neat_config"} == {
        name: value for name, value in asked.items() if name != "neat_config"
    }
    assert ("[NEAT]" in kept["plan"]["neat_settings"]) == (method == "neat")


def test_the_best_of_each_generation_is_recorded(tmp_path: Path) -> None:
    evolution = evolved(tmp_path / "run")
    returns = evolution.episodes.returns.reshape(4, 10)
    np.testing.assert_array_equal(evolution.generations.returns, returns.max(axis=1))
    with (tmp_path / "run" / "generations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["generation"]) for row in rows] == [1, 2, 3, 4]
    assert [float(row["best_return"]) for row in rows] == returns.max(axis=1).tolist()
    assert [float(row["mean_return"]) for row in rows] == returns.mean(axis=1).tolist()
    place = int(returns[3].argmax())
    assert int(rows[3]["n_edges"]) == evolution.episodes.n_edges.reshape(4, 10)[3, place]
    assert evolution.summary()["generation_best"] == returns[3].max()
    assert evolution.summary()["late_return"] == returns[3].max()
    assert evolution.champion.episode_return == returns.max()


def test_late_sizes_are_those_of_generations_that_could_play() -> None:
    """Of one candidate in each generation; the last quarter is two."""
    candidates = Episodes.start(8)
    candidates.n_nodes[:] = [6, 6, 6, 6, 6, 6, 8, 0]
    candidates.n_edges[:] = [6, 6, 6, 6, 6, 6, 9, 0]
    candidates.steps[:7] = 10
    searched = evolved().record
    assert isinstance(searched.plan, EvolutionPlan)
    plan = replace(searched.plan, population=1)
    found = plan.figures(replace(searched, episodes=candidates))
    assert (found["late_nodes"], found["late_edges"], found["late_growth_nodes"]) == (8.0, 9.0, 2.0)
    candidates.steps[6] = 0
    found = plan.figures(replace(searched, episodes=candidates))
    assert found["late_nodes"] == searched.graph.n_nodes


def test_neat_solves_cartpole_within_ten_generations() -> None:
    assert evolved(rollouts=500, population=50).generations.returns.max() >= 475


def test_a_candidate_too_small_to_play_is_never_the_best_of_its_generation() -> None:
    """Where returns are negative, its score of a few nodes below zero would beat all who played."""
    evolution = smgrnn_paper.evolve("Acrobot-v1", method="ndp", seed=0, rollouts=40, population=20)
    is_small = evolution.episodes.steps == 0
    assert is_small.any()
    assert evolution.episodes.returns[is_small].min() > -20
    assert (evolution.generations.steps > 0).all()
    assert evolution.generations.returns.max() < -50
    first = np.flatnonzero(~is_small & (evolution.episodes.returns >= -100))
    expected = int(first[0]) + 1 if first.size else None
    assert evolution.summary()["convergence_episode"] == expected


@pytest.mark.parametrize("method", METHODS)
def test_the_champion_is_judged_again_and_loads_as_a_policy(method: Any, tmp_path: Path) -> None:
    evolution = evolved(tmp_path / "run", method=method)
    assert evolution.held_out.size == 100
    record = Record.load(tmp_path / "run")
    np.testing.assert_array_equal(evaluate(record, 100), evolution.held_out)
    np.testing.assert_array_equal(evaluate(record, 100, final=True), evolution.held_out)
    champion, policy = evolution.champion.policy, smgrnn.load(tmp_path / "run")
    assert (policy.config, policy.graph) == (champion.config, champion.graph)
    assert policy.student == method
    assert policy([0.1, 0.2, 0.3, 0.4]) in (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_gives_one_record_whatever_ran_before(method: Any, tmp_path: Path) -> None:
    random.seed(1)
    expected = record(method, 3)
    state = random.getstate()
    assert record(method, 4) != expected
    assert record(method, 3) == expected
    assert random.getstate() == state  # nothing is drawn from the caller's generator
    for name in ("a", "b"):
        evolved(tmp_path / name, method=method)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.parametrize("method", METHODS)
def test_a_search_rebuilt_from_its_record_alone_ends_bit_identical(
    method: Any, tmp_path: Path
) -> None:
    evolved(tmp_path / "run", method=method, seed=2)
    record = Record.load(tmp_path / "run")
    assert isinstance(record.plan, EvolutionPlan)
    assert Evolution(record.plan).train().fingerprint == record.fingerprint


def test_a_search_is_not_resumed_as_a_distillation_nor_the_other_way(tmp_path: Path) -> None:
    """It went on as one, and wrote wrong figures over those of the search."""
    evolved(tmp_path / "run")
    before = contents(tmp_path / "run")
    with pytest.raises(ConfigError, match="resume it with smgrnn evolve"):
        smgrnn.Run.resume(tmp_path / "run")
    smgrnn.distill("xor", episodes=2, out=tmp_path / "other")
    with pytest.raises(ConfigError, match="resume it with smgrnn distill"):
        Evolution.resume(tmp_path / "other")
    assert contents(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("task", "settings", "sentence"),
    [
        ("CartPole-v1", {"rollouts": 45}, "45 rollouts does not divide into generations of 10."),
        ("CartPole-v1", {"method": "ndp", "neat_config": "a.ini"}, "for NEAT says nothing to NDP"),
        ("Pendulum-v1", {}, "discrete actions; those of 'Pendulum-v1' are not."),
    ],
)
def test_what_cannot_be_searched_is_refused(task: str, settings: Any, sentence: str) -> None:
    with pytest.raises((ConfigError, TaskError)) as caught:
        smgrnn_paper.evolve(task, **{**SMALL, **settings})
    assert sentence in str(caught.value)


def test_an_evolved_student_cannot_be_distilled() -> None:
    with pytest.raises(ConfigError, match=r"^neat is evolved, not distilled: use smgrnn evolve\.$"):
        smgrnn.distill("CartPole-v1", student="neat")


def test_a_folder_that_cannot_be_used_is_met_before_anything_is_played(tmp_path: Path) -> None:
    def fail(_: Evolution) -> None:
        pytest.fail("A generation was played.")

    (tmp_path / "file").touch()
    for folder, sentence in ((tmp_path, "holds no run"), (tmp_path / "file" / "run", "be made")):
        with pytest.raises(ConfigError, match=sentence):
            smgrnn_paper.evolve("CartPole-v1", out=folder, watch=fail, **SMALL)


def test_a_search_that_was_begun_has_no_champion_yet(tmp_path: Path) -> None:
    new_evolution("CartPole-v1", EvolutionConfig(**SMALL), tmp_path / "run").begin()
    with pytest.raises(ConfigError, match="has no champion yet"):
        smgrnn.load(tmp_path / "run")


def test_the_command_prints_one_object_per_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = EvolutionConfig(**SMALL)
    evolutions = prepare_evolutions("CartPole-v1", config, tmp_path / "two", None, 2)
    evolve_command(evolutions, Output(as_json=True, quiet=True))
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert [summary["seed"] for summary in found] == [0, 1]
    assert [Path(summary["run_dir"]).name for summary in found] == [
        "CartPole-v1-neat-0",
        "CartPole-v1-neat-1",
    ]
    assert said.err == ""


def test_the_command_says_what_came_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = EvolutionConfig(**SMALL)
    evolutions = prepare_evolutions("CartPole-v1", config, tmp_path / "one", None, 1)
    evolve_command(evolutions, Output())
    said = capsys.readouterr().out
    assert "4 generations of 10" in said
    assert said.startswith("Held-out return ")
    assert {"curves.png", "topology.png"} <= {path.name for path in (tmp_path / "one").iterdir()}
