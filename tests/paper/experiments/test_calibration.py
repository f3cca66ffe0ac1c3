"""The calibration: which readings are tried, and how far each is from the paper."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn.batch import Condition, Store
from smgrnn_paper.experiments.calibration import (
    CALIBRATION,
    FINALISTS,
    FITTED,
    PAPER,
    READINGS,
    ROWS,
    SHORTLIST,
    SUM,
    Reading,
    Stage,
    condition_name,
)
from smgrnn_paper.report.calibration import (
    FARTHEST,
    HELD_OUT,
    WINDOWS,
    Distances,
    calibration_tables,
    converged,
    measure_reading,
    rank_readings,
    refutations,
    targets,
)
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import Results
from support.fabricated import fabricate, fill_store

PRINTS = load_paper()
TARGETS = targets(PRINTS)
NEAR, FAR = READINGS[:2]


def stage(*rows: str, n_seeds: int = 2) -> Stage:
    """Return a stage in which two readings run some rows of the paper's tables."""
    conditions = {
        condition_name(reading, row): reading.apply(ROWS[row])
        for reading in (NEAR, FAR)
        for row in rows
    }
    final = CALIBRATION["calibration-final-v3"].experiment
    seeds = tuple(range(n_seeds))
    return Stage(replace(final, conditions=conditions, seeds=seeds, more={}), (NEAR, FAR))


def target(group: str, row: str, metric: str) -> Any:
    """Return the first target of its kind."""
    kind = (group, row, metric)
    return next(each for each in TARGETS if (each.group, each.row, each.metric) == kind)


def test_every_reading_is_another_and_each_stage_runs_those_it_names() -> None:
    assert len(set(READINGS)) == len(READINGS) == 672  # as docs/calibration.md says
    *closest, elsewhere = FINALISTS
    assert {PAPER} <= set(closest) <= set(SHORTLIST)
    assert elsewhere in READINGS
    for found, readings in CALIBRATION.values():
        assert len(found.conditions) % len(readings) == 0
        assert set(found.more) <= set(found.conditions)


@pytest.mark.parametrize("reading", [NEAR, READINGS[-1], PAPER])
def test_a_reading_is_found_again_in_the_settings_it_makes(reading: Reading) -> None:
    usual = Condition.distill("CartPole-v1", preset="paper")
    applied = reading.apply(usual)
    settings = applied.settings
    spread = reading.initial_weight if reading.spread == "new" else reading.spread
    found = {
        "learning.update": reading.update,
        "learning.loss": reading.loss,
        "readout": reading.readout,
        "weight_std": spread,
        "plasticity.interval": reading.interval,
        "plasticity.history_on_edit": reading.history,
        "growth.scale": reading.scale,
        "growth.max_relays": reading.max_relays,
        "growth.initial_weight": reading.initial_weight,
    }
    assert found.items() <= settings.named().items()
    assert (applied.key(0) == usual.key(0)) == (reading == PAPER)
    static = reading.apply(
        Condition.distill("CartPole-v1", preset="paper", student="static")
    ).settings
    assert static.plasticity.is_static
    assert static.network.weight_std == spread


def test_the_distance_counts_what_is_fitted_and_nothing_held_out() -> None:
    assert len(set(TARGETS)) == len(TARGETS) == 6 + 6 + 6 + 4
    assert {each.row for each in TARGETS} == set(FITTED)
    assert not any("Lunar" in row for row in FITTED)
    growth = target("growth only", "CartPole-v1/growth-only", "net_growth_nodes")
    assert growth.std == pytest.approx(1891.4 * 1108 / 6128)
    assert [each[3:] for each in TARGETS if each.at] == [(29.8, 5.71, 1000), (31.2, 3.97, 1000)]
    sums = {row for row in ROWS if row.endswith(SUM)}
    assert {ROWS[row].settings.learning.reduction for row in sums} == {"sum"}


def test_numbers_that_are_held_out_are_measured_and_choose_nothing(tmp_path: Path) -> None:
    """A late return of LunarLander as printed, and its edges one deviation off."""
    fitted, row, store = "Acrobot-v1/smgrnn", "LunarLander-v3/smgrnn", Store(tmp_path)
    found = stage(fitted, row)
    fill_store(store, [found.experiment], lambda *_: {"late_return": 207.6, "n_edges": 180})
    ranked = rank_readings(found, Results(store), PRINTS)[0]
    assert HELD_OUT not in ranked.groups
    far = {each.metric: each.distance(it) for each, it in ranked.numbers.items() if each.row == row}
    assert (far["late_return"], far["n_edges"]) == pytest.approx((0.0, 1.0))
    assert ranked.held_out == pytest.approx(np.mean(list(far.values())))
    assert measure_reading(NEAR, {}).held_out is None


def test_a_number_far_away_counts_no_more_than_the_farthest() -> None:
    size = target("sizes", "CartPole-v1/smgrnn", "n_nodes")
    assert size.distance(30.3) == 0.0
    assert size.distance(30.3 - 2 * 5.6) == pytest.approx(2.0)
    assert size.distance(math.inf) == FARTHEST
    chance = (1 / 16 + 1 / 18) ** 0.5
    assert size.spread_distance(size.std, 9) == 0.0
    assert size.spread_distance(2 * size.std, 9) == pytest.approx(math.log(2) / chance)
    assert size.spread_distance(0.0, 9) == FARTHEST


def test_convergence_is_the_end_of_the_first_episodes_with_a_sufficient_mean() -> None:
    """Nine of ten from the eleventh on reach 475; "up to 100" sees the first one alone."""
    record = fabricate(ROWS["CartPole-v1/smgrnn"], 0)
    record.episodes.returns[:] = [500, *[0] * 9, *[500] * (record.episodes.n - 10)]
    assert [converged(record, window) for window in WINDOWS] == [1, 20, 29, 58, 105, 1]
    record.episodes.returns[:] = 0
    assert {converged(record, window) for window in WINDOWS} == {math.inf}


def test_the_distance_is_the_mean_over_groups(tmp_path: Path) -> None:
    """Sizes a deviation off, a return two, and deviations of the sizes as printed."""
    row, store = "Acrobot-v1/smgrnn", Store(tmp_path)
    found = stage(row, n_seeds=3)
    nodes = iter([45, 48, 50] * 2)
    fill_store(
        store,
        [found.experiment],
        lambda _, __: {"late_return": -94 - 3.8, "n_nodes": next(nodes), "n_edges": 158},
    )
    ranked = rank_readings(found, Results(store), PRINTS)
    assert {each.reading for each in ranked} == {NEAR, FAR}
    groups = ranked[0].groups
    assert groups["returns"] == pytest.approx(2.0)
    assert groups["sizes"] == pytest.approx((abs(143 / 3 - 47.5) / 9.0 + 1) / 2)
    chance = (1 / 4 + 1 / 18) ** 0.5
    spread = abs(math.log(np.std([45, 48, 50]) / 9.0)) / chance
    assert groups["spreads"] == pytest.approx((spread + 2 * FARTHEST) / 3)
    assert ranked[0].window == "100"  # the paper's 80 is nearer than to 50
    assert groups["convergence"] == pytest.approx(20 / 12)
    assert ranked[0].overall == pytest.approx(np.mean(list(groups.values())))


def test_a_reading_under_which_a_printed_number_cannot_be_is_refuted() -> None:
    """One relay a call: 2409 relays in 1934 calls."""
    episode = replace(PAPER, update="episode", interval=1)
    for reading in (PAPER, episode):
        assert [each.row for each in refutations(reading, TARGETS)] == ["Acrobot-v1/growth-only"]
    for change in ({"max_relays": None}, {"max_relays": 3}, {"update": 50, "interval": 1}):
        assert refutations(replace(PAPER, **change), TARGETS) == ()
    assert measure_reading(episode, {}).refuted == ()


def test_a_reading_that_has_not_run_in_full_is_not_ranked(tmp_path: Path) -> None:
    row, store = "Acrobot-v1/smgrnn", Store(tmp_path)
    found = stage(row)
    assert calibration_tables(found, Results(store), PRINTS) == []
    fill_store(store, [found.experiment])
    missing = found.experiment.conditions[condition_name(FAR, row)]
    store.path(missing.key(1)).unlink()
    [ranked] = rank_readings(found, Results(store), PRINTS)
    assert isinstance(ranked, Distances)
    assert ranked.reading == NEAR
    tables = calibration_tables(found, Results(store), PRINTS)
    assert [table.id for table in tables] == ["readings", "axes", "numbers"]
