"""Results: the runs of a condition, over the seeds of the tables, over all, and by teacher."""

from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import AnyCondition, Experiment, Store
from smgrnn_paper.experiments import EXPERIMENTS
from smgrnn_paper.report.own_tables import own_tables
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.tables import compare
from support.fabricated import fill_store

pytestmark = pytest.mark.xdist_group("report")

PAPER = load_paper()


def of(condition: AnyCondition, seed: int) -> dict[str, Any]:
    """Late returns are the seed, of smooth teachers 1000."""
    return {"late_return": float(seed) if condition.teachers else 1000.0}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Return results of short runs with as many seeds as the experiments have."""
    for id, experiment in EXPERIMENTS.items():
        monkeypatch.setitem(EXPERIMENTS, id, experiment.scaled(episodes=4))
    on_cartpole = [_only_cartpole(EXPERIMENTS[id]) for id in ("growth-ablation-v2", "teachers-v1")]
    store = Store(tmp_path)
    fill_store(store, on_cartpole, of)
    return Results(store, ["growth-ablation", "teachers"])


def _only_cartpole(experiment: Experiment) -> Experiment:
    kept = {name: each for name, each in experiment.conditions.items() if "Cart" in name}
    more = {name: seeds for name, seeds in experiment.more.items() if name in kept}
    return Experiment(**{**vars(experiment), "conditions": kept, "more": more})


def mean(runs: Runs) -> tuple[int, float]:
    values = runs.values("late_return")
    return values.size, float(values.mean())


def test_claims_have_all_seeds_and_tables_those_of_the_paper(results: Results) -> None:
    runs = results.find("CartPole-v1", "static")
    assert mean(runs) == (40, 19.5)
    assert mean(runs.table) == (10, 4.5)
    assert (runs.n_missing, runs.table.n_missing) == (0, 0)
    assert runs.table.table == runs.table
    table = compare(PAPER.tables["A.IV"], results.every["growth-ablation"], results)
    [row] = [row for row in table.rows if row.labels == ("CartPole-v1", "static")]
    names = [column.name for column in table.columns]
    late = row.cells[names.index("late_return")].values["ours"]
    assert (late["n"], late["mean"]) == (10, 4.5)


def test_a_further_run_that_is_missing_is_missing_for_claims_alone(results: Results) -> None:
    condition = results.find("CartPole-v1", "static").condition
    results.store.path(condition.key(23)).unlink()
    runs = results.find("CartPole-v1", "static")
    assert (runs.n_missing, runs.table.n_missing) == (0, 0)  # what was read stays
    fresh = Results(results.store, ["growth-ablation"]).find("CartPole-v1", "static")
    assert (fresh.n_missing, fresh.table.n_missing) == (1, 0)


def test_runs_are_told_apart_by_their_teachers(results: Results) -> None:
    runs = results.find("CartPole-v1", "static")
    taught = [runs.taught_by(name) for name in runs.condition.teachers]
    assert [each.seeds[:3] for each in taught] == [(0, 3, 6), (1, 4, 7), (2, 5, 8)]
    assert [mean(each) for each in taught] == [(14, 19.5), (13, 19.0), (13, 20.0)]
    assert [mean(each.table) for each in taught] == [(4, 4.5), (3, 4.0), (3, 5.0)]


def test_the_table_of_teachers_has_all_of_them_and_each(results: Results) -> None:
    [table] = own_tables(results.every["teachers"], results, PAPER)
    lines = [line for line in table.rows if line.labels[:2] == ("CartPole-v1", "static")]
    found = {line.labels[2]: line.cells[0].text for line in lines}
    assert found == {
        "all three": "19.5 ± 11.5",
        "plain-0": "19.5 ± 12.1",
        "plain-1": "19.0 ± 11.2",
        "plain-2": "20.0 ± 11.2",
        "smooth": "1000.0 ± 0.0",
    }
    assert {line.labels[2]: line.labels[3] for line in lines}["smooth"] == "500.0"
    assert len(table.rows) == 3 * 3 * 5
