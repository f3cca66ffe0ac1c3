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
from smgrnn import evaluate
from smgrnn.episodes.table import Episodes
from smgrnn.errors import ConfigError, TaskError
from smgrnn.runs.record import Record
from smgrnn_paper import Evolution, EvolutionConfig
from smgrnn_paper.evolution.evolution import new_evolution
from smgrnn_paper.evolution.plan import EvolutionPlan
from support.commands import call
from support.evolutions import SMALL, evolved
from support.runs import contents

METHODS = ("neat", "ndp")


@pytest.fixture(scope="module", params=METHODS)
def evolution(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return evolved(tmp_path_factory.mktemp("runs") / "run", method=request.param, seed=2)


def test_the_budget_is_spent_exactly_and_the_best_of_each_generation_recorded(
    evolution: Evolution,
) -> None:
    assert evolution.folder is not None
    assert (evolution.episodes.n, evolution.generations.n) == (40, 4)
    summary, folder = evolution.summary(), evolution.folder
    assert (summary["episodes"], summary["generations"], summary["population"]) == (40, 4, 10)
    kept = json.loads((folder / "run.json").read_text())
    assert kept["plan"] == evolution.plan.to_dict()
    is_neat = evolution.plan.method == "neat"
    assert ("[NEAT]" in kept["plan"]["neat_settings"]) == is_neat
    if not is_neat:
        return  # of these some are too small to play
    returns = evolution.episodes.returns.reshape(4, 10)
    np.testing.assert_array_equal(evolution.generations.returns, returns.max(axis=1))
    with (folder / "generations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["generation"]) for row in rows] == [1, 2, 3, 4]
    assert [float(row["best_return"]) for row in rows] == returns.max(axis=1).tolist()
    assert [float(row["mean_return"]) for row in rows] == returns.mean(axis=1).tolist()
    place = int(returns[3].argmax())
    assert int(rows[3]["n_edges"]) == evolution.episodes.n_edges.reshape(4, 10)[3, place]
    assert summary["generation_best"] == summary["late_return"] == returns[3].max()
    assert evolution.champion.episode_return == returns.max()


def test_the_champion_is_judged_again_loads_as_a_policy_and_is_found_again(
    evolution: Evolution,
) -> None:
    assert evolution.folder is not None
    assert evolution.held_out.size == 100
    record = Record.load(evolution.folder)
    np.testing.assert_array_equal(evaluate(record, 100), evolution.held_out)
    np.testing.assert_array_equal(evaluate(record, 100, final=True), evolution.held_out)
    champion, policy = evolution.champion.policy, smgrnn.load(evolution.folder)
    assert (policy.config, policy.graph) == (champion.config, champion.graph)
    assert policy.student == evolution.plan.method
    assert policy([0.1, 0.2, 0.3, 0.4]) in (0, 1)
    assert isinstance(record.plan, EvolutionPlan)
    random.seed(1)
    state = random.getstate()
    assert Evolution(record.plan).train().fingerprint == record.fingerprint
    assert random.getstate() == state  # nothing is drawn from the caller's generator


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
    assert found["late_nodes"] == searched.final.graph.n_nodes


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
        ("CartPole-v1", {"method": "ndp", "neat_config": "a.ini"}, "has no effect on NDP"),
        ("Pendulum-v1", {}, "discrete actions; those of 'Pendulum-v1' are not."),
    ],
)
def test_what_cannot_be_searched_is_refused(task: str, settings: Any, sentence: str) -> None:
    with pytest.raises((ConfigError, TaskError)) as caught:
        smgrnn_paper.evolve(task, **{**SMALL, **settings})
    assert sentence in str(caught.value)


def test_a_folder_that_cannot_be_used_is_met_before_anything_is_played(tmp_path: Path) -> None:
    def fail(_: Evolution) -> None:
        pytest.fail("A generation was played.")

    (tmp_path / "file").touch()
    for folder, sentence in ((tmp_path, "holds no run"), (tmp_path / "file" / "run", "be made")):
        with pytest.raises(ConfigError, match=sentence):
            smgrnn_paper.evolve("CartPole-v1", out=folder, watch=fail, **SMALL)
    new_evolution("CartPole-v1", EvolutionConfig(**SMALL), tmp_path / "run").begin()
    with pytest.raises(ConfigError, match="has no champion yet"):
        smgrnn.load(tmp_path / "run")


def test_the_command_prints_one_object_per_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--rollouts", 8, "--population", 4, "--out", tmp_path / "two", "--seeds", 2)
    call("evolve", "CartPole-v1", *flags, "--json", "--quiet")
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert [summary["seed"] for summary in found] == [0, 1]
    names = ["CartPole-v1-neat-0", "CartPole-v1-neat-1"]
    assert [Path(summary["run_dir"]).name for summary in found] == names
    assert said.err == ""
    left = {path.name for path in (tmp_path / "two" / names[0]).iterdir()}
    assert {"curves.png", "topology.png"} <= left
