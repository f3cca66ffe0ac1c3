"""Every experiment is what the paper prints, valid, and found by name."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from smgrnn.batch import AnyCondition, Condition, Experiment
from smgrnn.batch.experiment import queue_runs
from smgrnn.errors import ConfigError
from smgrnn.runs.distillation import new_learner
from smgrnn.runs.plan import Plan
from smgrnn_paper.evolution.evolution import Evolution
from smgrnn_paper.evolution.plan import EvolutionPlan
from smgrnn_paper.experiments import EXPERIMENTS, choose_experiments, find_experiment
from smgrnn_paper.experiments.frontier import FRONTIERS
from smgrnn_paper.experiments.paper import OTHER_TEACHERS, TEACHERS
from smgrnn_paper.experiments.registry import SMOKE_EPISODES, SMOKE_SEEDS
from support.commands import call

pytestmark = pytest.mark.xdist_group("experiments")

every_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)


@every_experiment
def test_every_condition_can_be_built(experiment: Experiment) -> None:
    built = set()
    for condition in experiment.conditions.values():
        plan = condition.plan(experiment.seeds[-1])
        if isinstance(plan, Plan):
            new_learner(plan)
        elif (condition.task, condition.variant) not in built:
            assert isinstance(plan, EvolutionPlan)
            Evolution(plan)
        built.add((condition.task, condition.variant))


def test_the_runs_of_the_tables_are_as_many_as_the_paper_has_and_shared_ones_are_run_once() -> None:
    """And ten more of each task, by an MLP without biases, which the paper does not have."""
    paper = [replace(each, more={}) for each in EXPERIMENTS.values() if each.artefacts]
    assert len(paper) == 9
    runs = queue_runs(paper)
    assert (sum(len(list(each.runs())) for each in paper), len(runs)) == (1075 + 30, 885 + 30)
    assert Counter(run.condition.task for run in runs) == {
        "CartPole-v1": 620,
        "Acrobot-v1": 185,
        "LunarLander-v3": 100,
        "xor": 10,
    }
    # Seven conditions of CartPole and Acrobot have 20 more, seven of optimizers and rates 15; the
    # other teachers have 60 runs of each task.
    runs = queue_runs(EXPERIMENTS.values())
    assert Counter(run.condition.task for run in runs) == {
        "CartPole-v1": 620 + 7 * 20 + 7 * 15 + 60,
        "Acrobot-v1": 185 + 7 * 20 + 60,
        "LunarLander-v3": 100 + 60,
        "xor": 10,
    }


def test_a_condition_has_as_many_seeds_wherever_it_is_asked_for() -> None:
    """Which experiment a claim finds its runs in must not matter."""
    seeds: dict[AnyCondition, set[tuple[int, ...]]] = {}
    for experiment in EXPERIMENTS.values():
        for name, condition in experiment.conditions.items():
            if condition.episodes == 2000:
                seeds.setdefault(condition, set()).add(experiment.all_seeds(name))
            if isinstance(condition, Condition):
                _, at, other = name.partition("@")
                teachers = OTHER_TEACHERS[at + other] if at else TEACHERS
                assert condition.teachers == teachers.get(condition.task, ())
    assert {len(found) for found in seeds.values()} == {1}
    numbers = Counter(len(each) for found in seeds.values() for each in found)
    # ten: growth without pruning, all of the lander, the evolved, XOR, other teachers
    assert numbers == {30: 14, 10: 2 + 8 + 6 + 1 + 18}


def test_every_table_and_figure_with_numbers_has_an_experiment() -> None:
    shown = [artefact for experiment in EXPERIMENTS.values() for artefact in experiment.artefacts]
    tables = ["I", "II", "III", *(f"A.{n}" for n in ("I", "II", "III", "IV", "V", "VI"))]
    figures = [*map(str, range(3, 9)), "A.1", "A.2"]
    expected = [f"Table {name}" for name in tables] + [f"Fig. {name}" for name in figures]
    assert sorted(shown) == sorted(expected)


def test_an_experiment_is_found_by_its_id_or_by_its_name_in_the_latest_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for version in (10, 9):
        experiment = replace(EXPERIMENTS["growth-ablation-v3"], id=f"growth-ablation-v{version}")
        monkeypatch.setitem(EXPERIMENTS, experiment.id, experiment)
    assert find_experiment("growth-ablation-v3").id == "growth-ablation-v3"
    assert find_experiment("growth-ablation").id == "growth-ablation-v10"


def test_an_unknown_name_is_an_error_with_a_hint() -> None:
    for name, hint in (("Pruning", "Did you mean 'pruning-ablation-v3'?"), ("?", "There are base")):
        with pytest.raises(ConfigError, match="There is no experiment") as caught:
            find_experiment(name)
        assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("names", "more"),
    [([], ()), (["growth-ablation", "all"], ()), (["frontier", "all"], FRONTIERS[:1])],
)
def test_no_name_or_all_is_all_and_a_study_may_stand_beside_it(
    names: list[str], more: tuple[Experiment, ...]
) -> None:
    """The study used to be dropped without a word."""
    assert choose_experiments(names) == [*EXPERIMENTS.values(), *more]


def test_seeds_and_episodes_can_be_chosen_and_smoke_is_few_of_both() -> None:
    [chosen] = choose_experiments(["baseline-comparison"], seeds=3, episodes=100)
    assert {chosen.all_seeds(name) for name in chosen.conditions} == {(0, 1, 2)}
    assert {condition.episodes for condition in chosen.conditions.values()} == {100}
    with pytest.raises(ConfigError, match="number of seeds must be "):
        choose_experiments(seeds=0)
    smoke = choose_experiments(smoke=True)
    seeds = {len(each.all_seeds(name)) for each in smoke for name in each.conditions}
    episodes = {c.episodes for each in smoke for c in each.conditions.values()}
    assert (seeds, episodes) == ({SMOKE_SEEDS}, {SMOKE_EPISODES})


def test_the_command_runs_what_is_missing_and_exits_with_1_if_a_run_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The weights overflow at once.
    fails = {"optimizer": "sgd", "learning_rate": 1e308, "update": "step"}
    conditions = {
        name: Condition.distill(
            "CartPole-v1", preset="paper", n_hidden=1, episodes=2, learning=learning
        )
        for name, learning in (("good", {}), ("bad", fails))
    }
    experiment = replace(EXPERIMENTS["final-topologies-v3"], conditions=conditions, more={})
    monkeypatch.setitem(EXPERIMENTS, "final-topologies-v3", experiment)

    def reproduce(seeds: int, *flags: object) -> tuple[str, str]:
        words = ("--seeds", seeds, "--jobs", 1, "--store", tmp_path)
        with pytest.raises(SystemExit) as caught:
            call("reproduce", "final-topologies", *words, *flags)
        assert caught.value.code == 1
        out, err = capsys.readouterr()
        return out.replace("\n", " "), err

    words, told = reproduce(11)
    assert words.startswith(f"22 runs: 0 were in {tmp_path}, 11 were run")
    assert "final-topologies-v3 bad seed 0 failed: A weight became infinite" in words
    assert "And 1 more failed" in words
    assert "22/22" in told
    printed, told = reproduce(12, "--json", "--quiet")
    figures = json.loads(printed)
    assert told == ""
    assert figures["experiments"] == ["final-topologies-v3"]
    assert (figures["runs"], figures["found"], figures["done"]) == (24, 11, 1)
    assert len(figures["failures"]) == 12


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--jobs 0", "--jobs must be an int"),
        ("--jobs 2 --scheduler tcp://127.0.0.1:1", "Give --jobs or --scheduler, not both"),
        ("--scheduler nowhere://", "There is no Dask scheduler at nowhere://"),
    ],
)
def test_a_wrong_option_is_met_at_the_door(tmp_path: Path, words: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        call("reproduce", "optimizer-sensitivity", "--store", tmp_path, *words.split())
