"""Experiments beyond the paper: every condition can be run, and every hypothesis is about some."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from smgrnn.errors import ConfigError
from smgrnn_paper.experiments import find_experiment
from smgrnn_paper.experiments.beyond import BEYOND
from smgrnn_paper.experiments.registry import choose_experiments, is_experiment
from smgrnn_paper.report.claims import Claim, load_hypotheses
from smgrnn_paper.report.statistics import Origin

ROOT = Path(__file__).parents[3]


def test_they_run_by_one_name_and_beside_others() -> None:
    assert is_experiment("beyond")
    assert [each.id for each in choose_experiments(["beyond"])] == list(BEYOND)
    with pytest.raises(ConfigError, match="Did you mean 'beyond'"):
        choose_experiments(["beyand"])


@pytest.mark.parametrize("id", BEYOND)
def test_every_condition_can_be_planned_and_differs(id: str) -> None:
    experiment = BEYOND[id]
    for name, condition in experiment.conditions.items():
        n_seeds = len(set(experiment.all_seeds(name)))
        assert n_seeds >= (10 if condition.task == "LunarLander-v3" else 20)
    keys = {condition.key(0) for condition in experiment.conditions.values()}
    assert len(keys) == len(experiment.conditions)


@pytest.mark.parametrize("claim", load_hypotheses().values(), ids=lambda claim: claim.id)
def test_a_hypothesis_is_about_conditions_that_there_are(claim: Claim) -> None:
    conditions = find_experiment(claim.experiment).conditions
    for source in claim.sources:
        assert f"{source.task}/{source.condition}" in conditions
        if claim.margin is not None:
            assert claim.margin.on(source.task, [{Origin("", "", 0): 1.0}]) > 0


def test_a_gru_learns_recall() -> None:
    distill_gru = run_path(str(ROOT / "benchmarks" / "gru.py"))["distill_gru"]
    returns = distill_gru("recall,delay=1", episodes=150, seed=1)
    assert set(returns) <= {0.0, 1.0}
    assert returns[-30:].mean() > 0.8
    again = distill_gru("recall,delay=1", episodes=5, seed=1)
    assert np.array_equal(again, returns[:5])
