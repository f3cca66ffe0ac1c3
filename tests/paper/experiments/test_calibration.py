"""The calibration: which readings are tried, and how far each is from the paper."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from smgrnn.batch import AnyCondition, Condition, Experiment, Store
from smgrnn.config import RunConfig
from smgrnn_paper.experiments import STUDIES
from smgrnn_paper.experiments.calibration import (
    AXES,
    CALIBRATION,
    FINALISTS,
    PAPER,
    READINGS,
    ROWS,
    SHORTLIST,
    Reading,
    condition_name,
)
from smgrnn_paper.report.calibration import (
    FARTHEST,
    FIRST,
    SIZES,
    Distances,
    calibration_tables,
    printed_sizes,
    rank_readings,
    refutations,
)
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import Results
from support.fabricated import fill_store

PRINTS = load_paper()
PRINTED = {(each.table, each.row, each.metric): each for each in printed_sizes(PRINTS)}
NEAR, FAR = READINGS[:2]


def study(*rows: str) -> Experiment:
    """Return a stage in which two readings run some rows of the paper's tables."""
    conditions = {
        condition_name(reading, row): reading.apply(ROWS[row]).with_episodes(4)
        for reading in (NEAR, FAR)
        for row in rows
    }
    return replace(STUDIES["calibration-final-v2"], conditions=conditions, seeds=(0, 1), more={})


def test_every_reading_is_another_and_each_stage_runs_some_of_those_before_it() -> None:
    """All rows: those with other optimizers than Adam had become impossible to make."""
    assert len(set(READINGS)) == len(READINGS) == 252  # as docs/calibration.md says
    for axis, values in AXES.items():
        assert {getattr(reading, axis) for reading in READINGS} == set(values)
    assert set(FINALISTS) <= set(SHORTLIST) <= set(READINGS)
    for stage in CALIBRATION:
        assert {Reading.of(it.settings) for it in stage.conditions.values()} <= set(READINGS)


@pytest.mark.parametrize("reading", [NEAR, READINGS[-1]])
def test_a_reading_is_found_again_in_the_settings_it_makes(reading: Reading) -> None:
    assert Reading.of(reading.apply(Condition.distill("CartPole-v1")).settings) == reading
    assert Reading.of(RunConfig.for_task("CartPole-v1")) == PAPER
    assert Reading.of(RunConfig.for_task("CartPole-v1", preset="as_printed")).readout == "state"


def test_every_structural_number_counts_once_with_a_deviation() -> None:
    assert len(PRINTED) == len(printed_sizes(PRINTS)) == 12 + 8 + 8 + 9 + 6 + 3
    assert {table for table, _, _ in PRINTED} == {*SIZES, FIRST}
    assert all(each.std > 0 and each.row in ROWS for each in PRINTED.values())
    assert PRINTED["A.I", "CartPole-v1/optimizer=sgd", "churn_ratio"][3:5] == (58.20, 5.49)
    assert PRINTED["A.V", "Acrobot-v1/n_hidden=5", "net_growth_nodes"][3:] == (33.7, 9.0, False)
    growth = PRINTED["II", "CartPole-v1/growth-only", "net_growth_nodes"]
    assert growth.std == pytest.approx(1891.4 * 1108 / 6128)
    firsts = [each.mean for each in PRINTED.values() if each.table == FIRST]
    assert firsts == pytest.approx([0.1, 3.1, 2.8])


def test_a_number_far_away_counts_no_more_than_the_farthest() -> None:
    size = PRINTED["A.VI", "CartPole-v1/smgrnn", "n_nodes"]
    assert size.distance(30.3) == 0.0
    assert size.distance(30.3 - 2 * 5.6) == pytest.approx(2.0)
    assert size.distance(5000.0) == FARTHEST


def test_readings_are_ranked_by_the_mean_over_tables(tmp_path: Path) -> None:
    """One reading has almost the paper's numbers of Table A.I, the other is a deviation off."""
    experiment = study("CartPole-v1/optimizer=adam", "CartPole-v1/learning_rate=0.01")

    def figures(condition: AnyCondition, _: int) -> dict[str, float]:
        is_near = Reading.of(condition.settings) == NEAR
        # A net change of 100, so that the churn ratio has two decimals.
        size, n_edges = (30, 82) if is_near else (36, 76)
        return {"n_nodes": size, "n_edges": n_edges, "churn_ratio": 44.08}

    fill_store(Store(tmp_path), [experiment], figures)
    ranked = rank_readings(experiment, Results(Store(tmp_path)), PRINTS)
    assert [each.reading for each in ranked] == [NEAR, FAR]
    near, far = ranked
    size, rate = 0.2 / 5.71 / 2, (abs(30 - 31.2) / 3.97 + abs(44.08 - 41.6) / 6.65) / 2
    assert near.tables == {"A.I": pytest.approx(size), "A.II": pytest.approx(rate)}
    assert near.overall == pytest.approx((size + rate) / 2)
    assert far.tables["A.I"] == pytest.approx(6.2 / 5.71 / 2)


def test_the_second_distance_counts_deviations_as_one_more_table() -> None:
    size = PRINTED["A.I", "CartPole-v1/optimizer=adam", "n_nodes"]
    chance = (1 / 16 + 1 / 18) ** 0.5
    assert size.spread_distance(size.std, 9) == 0.0
    assert size.spread_distance(2 * size.std, 9) == pytest.approx(math.log(2) / chance)
    assert size.spread_distance(0.0, 9) == FARTHEST
    found = Distances(NEAR, {size: size.mean}, {size: (2 * size.std, 9)})
    assert found.overall == 0.0
    assert found.second == pytest.approx(math.log(2) / chance / 2)


def test_a_reading_under_which_a_printed_number_cannot_be_is_refuted() -> None:
    """One relay a call: 2409 relays in 1934 calls, and a deviation that no such sizes have."""
    assert [each.row for each in refutations(PAPER, PRINTED.values())] == [
        "Acrobot-v1/growth-only",
        "LunarLander-v3/growth-only",
        "CartPole-v1/optimizer=rmsprop",
    ]
    for change in ({"max_relays": None}, {"max_relays": 3}, {"interval": 100}):
        assert refutations(replace(PAPER, **change), PRINTED.values()) == []


def test_a_reading_that_has_not_run_in_full_is_not_ranked(tmp_path: Path) -> None:
    experiment, store = study("Acrobot-v1/smgrnn"), Store(tmp_path)
    assert calibration_tables(experiment, Results(store), PRINTS) == []
    fill_store(store, [experiment])
    missing = experiment.conditions[condition_name(FAR, "Acrobot-v1/smgrnn")]
    store.path(missing.key(1)).unlink()
    [found] = rank_readings(experiment, Results(store), PRINTS)
    assert found.reading == NEAR
    tables = calibration_tables(experiment, Results(store), PRINTS)
    assert [table.id for table in tables] == ["readings", "axes", "numbers"]
