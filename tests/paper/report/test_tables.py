"""Tables: ours beside the paper's, with numbers that can be checked by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn.batch import AnyCondition, Experiment, Store
from smgrnn.pages.page import Cell, Column, DataTable, Row
from smgrnn_paper.experiments import EXPERIMENTS, choose_experiments
from smgrnn_paper.report.first_page import at_a_glance
from smgrnn_paper.report.own_tables import (
    baselines,
    best_of_grid,
    own_tables,
)
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.tables import (
    Entry,
    Measured,
    compare,
    count_distances,
    count_likeness,
    effects_of_settings,
)
from support.fabricated import Figures, fill_store, filled

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 2, 8
PAPER = load_paper()

Fill = Callable[..., Results]


@pytest.fixture
def results_of(tmp_path: Path) -> Fill:
    """Return results in which the runs of some experiments have the given figures."""

    def fill(*names: str, of: Figures | None = None, **figures: Any) -> Results:
        def by_seed(_: AnyCondition, seed: int) -> dict[str, Any]:
            return {name: values[seed] for name, values in figures.items()}

        return filled(tmp_path, *names, seeds=SEEDS, episodes=EPISODES, figures=of or by_seed)

    return fill


def table(id: str, experiment: str, results: Results) -> DataTable:
    return compare(PAPER.tables[id], results.every[experiment], results)


def cell(found: DataTable, labels: tuple[str, ...], column: str) -> Entry:
    [row] = [row for row in found.rows if row.labels == labels]
    [entry] = [it for it in row.cells if isinstance(it, Entry) and it.column == column]
    return entry


def every(found: DataTable) -> list[Cell]:
    return [cell for row in found.rows for cell in row.cells]


def test_a_cell_has_ours_the_papers_and_the_difference(results_of: Fill) -> None:
    results = results_of("pruning-ablation", late_return=(490.0, 500.0), n_edges=(80, 90))
    found = table("II", "pruning-ablation", results)
    late = cell(found, ("CartPole-v1", "smgrnn"), "late_return")
    assert late.text == "495.0 ± 5.0"
    assert (late.below, late.tone) == (("497.7 ± 1.8", "−2.7 (undecided)"), "fair")
    assert late.values["difference"] == pytest.approx(-2.7)
    assert late.values["z"] == pytest.approx(-1.5)
    assert (late.values["ours"]["iqm"], late.values["ours"]["low"]) == (495.0, 490.0)
    edges = cell(found, ("CartPole-v1", "smgrnn"), "n_edges")
    assert (edges.text, edges.below[1], edges.tone) == ("85 ± 5", "+1 (same)", "good")


def test_a_number_that_is_printed_twice_counts_once_and_two_numbers_twice(results_of: Fill) -> None:
    """Tables II, A.IV and A.V print the late return of the standard network.

    Adam at 0.01 has 29.80 ± 5.71 nodes in Table A.I and 31.20 ± 3.97 in Table A.II.
    """
    names = ("pruning-ablation", "optimizer-sensitivity")
    results = results_of(*names, late_return=(490.0, 500.0))
    first, again = (
        table(*each, results) for each in (("II", names[0]), ("A.V", "initial-topology"))
    )
    n_cells = len([cell for cell in every(first) if "likeness" in cell.values])
    assert sum(count_likeness([first]).values()) == n_cells
    assert sum(count_distances([again]).values()) > 0
    assert sum(count_distances([first]).values()) == n_cells
    assert count_distances([first, again]) == count_distances([first])
    tables = [table(id, names[1], results) for id in ("A.I", "A.II")]
    assert [sum(count_distances([found]).values()) for found in tables] == [12, 12]
    assert sum(count_distances(tables).values()) == 24


def test_a_cell_on_the_bound_is_within_two_deviations() -> None:
    """12.0 nodes beside 12.80 ± 0.40 are 2.0000000000000018 deviations away, and counted as far."""
    printed = PAPER.tables["A.II"].cell("CartPole-v1/learning_rate=0.001", "n_nodes")
    ours = Measured.of(np.array([10.0, 11, 12, 13, 14]))
    found = Entry.of(Column("n_nodes", "Nodes"), ours, printed)
    assert found.values["z"] < -2.0
    table = DataTable.of("", ("",), ())
    table = replace(table, rows=(Row(("",), (found,)),))
    assert count_distances([table]) == {"near": 0, "apart": 1, "far": 0}


def test_cells_are_judged_by_both_deviations_and_not_by_the_printed_one_alone() -> None:
    """The paper's 498.46 ± 0.23 leave 497 far away, and its 145.7 ± 130.5 let anything be near.

    Late returns of 497 were 6 deviations away, and of 20 within one; 1000 nodes are within one of
    814.8 ± 498.1.
    """

    def likeness(table: str, row: str, metric: str, *ours: float) -> str:
        found = Measured.of(np.array(ours))
        cell = Entry.of(Column(metric, ""), found, PAPER.tables[table].cell(row, metric))
        return str(cell.values["likeness"])

    rate = "A.II", "CartPole-v1/learning_rate=0.003", "late_return"
    assert likeness(*rate, 496.0, 497.0, 497.0, 498.0, 497.0) == "same"
    static = "A.IV", "LunarLander-v3/static", "late_return"
    assert likeness(*static, *np.linspace(15, 25, 10)) == "different"
    assert likeness(*static, *np.linspace(20, 200, 10)) == "undecided"
    nodes = "A.I", "CartPole-v1/optimizer=rmsprop", "n_nodes"
    assert likeness(*nodes, 900.0, 1000.0, 1100.0) == "undecided"
    assert likeness(*rate, 497.0, np.inf) == "different"


def test_settings_without_an_effect_are_named(results_of: Fill) -> None:
    """Here λ changes nothing, T the return alone, and p_rand both at one of its levels."""
    [grid] = choose_experiments(["hyperparameter-grid"], seeds=SEEDS, episodes=EPISODES)
    points = {
        it: dict(part.split("=") for part in n.split(",")) for n, it in grid.conditions.items()
    }

    def of(condition: AnyCondition, seed: int) -> dict[str, Any]:
        point = points[condition]
        is_busy = point["explore_probability"] == "0.5"
        late = float(point["window"]) + is_busy + seed
        return {"late_return": late, "n_nodes": 20 + is_busy, "n_edges": 50}

    found = effects_of_settings(results_of("hyperparameter-grid", of=of))
    rows = {row.labels[0]: [cell.text for cell in row.cells] for row in found.rows}
    assert rows == {
        "T": ["3", "81", "81", "0"],
        "λ": ["3", "81", "0", "0"],
        "θ_var": ["3", "81", "0", "0"],
        "p_rand": ["3", "81", "54", "54"],
    }
    assert found.note == "6 different results at 81 points of the grid."


def test_the_runs_of_a_row_are_found_by_content(results_of: Fill) -> None:
    """The 0 hidden nodes of Table A.V are the standard network of Table II under another name."""
    results = results_of("pruning-ablation", late_return=(490.0, 500.0))
    found = table("A.V", "initial-topology", results)
    assert cell(found, ("CartPole-v1", "n_hidden=0"), "late_return").text == "495.0 ± 5.0"
    assert cell(found, ("CartPole-v1", "n_hidden=5"), "late_return").text == "–"


def test_without_a_printed_deviation_there_is_a_difference_but_no_z(results_of: Fill) -> None:
    sizes = {"n_nodes": (40, 40), "net_growth_nodes": (20, 30)}
    results = results_of("pruning-ablation", best_return=(500.0, 500.0), **sizes)
    found = table("II", "pruning-ablation", results)
    growth = cell(found, ("CartPole-v1", "smgrnn"), "net_growth_nodes")
    assert (growth.below[1], growth.values["z"], growth.tone) == ("+0.8", None, "")
    best = cell(found, ("CartPole-v1", "smgrnn"), "best_return")  # printed as 500.0 ± 0.0
    assert (best.below[1], best.values["z"]) == ("0.0", None)


def test_runs_that_never_converge_are_counted_not_averaged(results_of: Fill) -> None:
    results = results_of("pruning-ablation", sustained_episode=(140, None))
    found = table("II", "pruning-ablation", results)
    entry = cell(found, ("CartPole-v1", "smgrnn"), "sustained_episode")
    assert (entry.text, entry.below[1]) == ("140 ± 0 (1 of 2)", "– (different)")
    assert "(8 of 10)" in found.note
    ours = {"n": 2, "infinite": 1, "mean": 140.0, "std": 0.0, "iqm": None, "low": None}
    assert entry.values["ours"] == {**ours, "high": None}
    never = Measured.of(np.array([np.inf, np.inf]))
    assert never is not None
    assert (never.text(0), never.to_dict()["mean"]) == ("∞", None)


def test_no_runs_are_a_dash_and_not_an_error(tmp_path: Path) -> None:
    results = Results(Store(tmp_path))
    found = table("II", "pruning-ablation", results)
    assert {cell.text for cell in every(found)} == {"–"}
    assert {cell.below[1] for cell in every(found) if cell.below} == {"–"}


def test_settings_are_the_papers(tmp_path: Path) -> None:
    for id, experiment in (("I", "growth-ablation"), ("III", "initial-topology")):
        found = table(id, experiment, Results(Store(tmp_path)))
        assert {cell.below[1] for cell in every(found)} == {"same"}
        shorter = table(id, experiment, Results(Store(tmp_path), episodes=10))
        differing = {(cell.text, *cell.below) for cell in every(shorter) if cell.tone == "bad"}
        assert differing == {("10", "2000", "differs")}
    found = table("A.III", "hyperparameter-grid", Results(Store(tmp_path)))
    assert {cell.below[1] for cell in every(found)} == {"same"}
    assert cell(found, ("update_threshold",), "value").text == "0.0001"  # printed as 1e-4


def test_baselines_and_main_numbers_are_of_the_experiment_that_runs_them(results_of: Fill) -> None:
    figures = {"held_out_mean": (70.0, 90.0), "late_return": (490.0, 500.0), "n_nodes": (30, 31)}
    results = results_of("growth-ablation", **figures)
    found = baselines(results, PAPER)
    assert cell(found, ("Acrobot-v1", "static"), "held_out_mean").text == "80.0 ± 10.0"
    assert cell(found, ("Acrobot-v1", "ndp"), "held_out_mean").text == "–"
    growing, static = at_a_glance(results, PAPER).rows[:2]
    papers = ["".join(cell.below[:1]) for cell in growing.cells]
    assert papers == ["497.7 ± 1.8", "147 ± 15", "30.3 ± 5.6", "84 ± 16"]
    assert (growing.cells[0].text, growing.cells[2].text) == ("495.0 ± 5.0", "30.5 ± 0.5")
    assert [cell.below[:1] for cell in static.cells[2:]] == [("6.0",), ()]


def test_the_grid_is_ranked_by_return_then_variance_then_size(results_of: Fill) -> None:
    [grid] = choose_experiments(["hyperparameter-grid"], seeds=SEEDS, episodes=EPISODES)
    names = ("window", "interval_width", "fluctuation_threshold", "explore_probability")
    best = [("200", "1.0", "0.2", "0.5"), ("50", "0.25", "0.1", "0.1"), ("50", "0.5", "0.2", "0.5")]
    figures: list[dict[str, Any]] = [
        {"late_return": (480.0, 480.0), "n_nodes": (20, 20)},
        {"late_return": (480.0, 480.0), "n_nodes": (21, 21)},  # larger
        {"late_return": (470.0, 490.0), "n_nodes": (10, 10)},  # varies
        {"late_return": (400.0, 400.0), "n_nodes": (5, 5)},
    ]
    named = [",".join(map("=".join, zip(names, each, strict=True))) for each in best]
    ranks = {grid.conditions[name]: rank for rank, name in enumerate(named)}

    def of(condition: AnyCondition, seed: int) -> dict[str, Any]:
        return {name: values[seed] for name, values in figures[ranks.get(condition, 3)].items()}

    found = best_of_grid(results_of("hyperparameter-grid", of=of), PAPER)
    assert [line.labels[:5] for line in found.rows[:3]] == [
        (str(rank), *each) for rank, each in enumerate(best, start=1)
    ]
    shown = {line.labels[-1]: line for line in found.rows if line.labels[-1]}
    assert shown["paper's best"].labels[1:5] == ("50", "0.5", "0.05", "0.25")
    assert shown["paper's best"].cells[0].below[0] == "494.26 ± 3.57"
    assert shown["shared defaults"].labels[1:5] == ("100", "0.5", "0.1", "0.25")
    assert 5 <= len(found.rows) <= 7


def by_teacher(condition: AnyCondition, seed: int) -> dict[str, Any]:
    """Late returns are the seed, of smooth teachers 1000."""
    return {"late_return": 1000.0 if "smooth" in str(condition.expert(seed)) else float(seed)}


@pytest.fixture
def taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Return results of short runs with as many seeds as the experiments have."""
    for id, experiment in EXPERIMENTS.items():
        monkeypatch.setitem(EXPERIMENTS, id, experiment.scaled(episodes=4))
    on_cartpole = [_only_cartpole(EXPERIMENTS[id]) for id in ("growth-ablation-v3", "teachers-v2")]
    store = Store(tmp_path)
    fill_store(store, on_cartpole, by_teacher)
    return Results(store, ["growth-ablation", "teachers"])


def _only_cartpole(experiment: Experiment) -> Experiment:
    kept = {name: each for name, each in experiment.conditions.items() if "Cart" in name}
    more = {name: seeds for name, seeds in experiment.more.items() if name in kept}
    return Experiment(**{**vars(experiment), "conditions": kept, "more": more})


def mean(runs: Runs) -> tuple[int, float]:
    values = runs.values("late_return")
    return values.size, float(values.mean())


def test_claims_have_all_seeds_and_tables_those_of_the_paper(taught: Results) -> None:
    runs = taught.find("CartPole-v1", "static")
    assert mean(runs) == (30, 14.5)
    assert mean(runs.table) == (10, 4.5)
    assert (runs.n_missing, runs.table.n_missing) == (0, 0)
    assert runs.table.table == runs.table
    table = compare(PAPER.tables["A.IV"], taught.every["growth-ablation"], taught)
    [row] = [row for row in table.rows if row.labels == ("CartPole-v1", "static")]
    names = [column.name for column in table.columns]
    late = row.cells[names.index("late_return")].values["ours"]
    assert (late["n"], late["mean"]) == (10, 4.5)


def test_runs_are_told_apart_by_their_teachers(taught: Results) -> None:
    runs = taught.find("CartPole-v1", "static@plain")
    each_of = [runs.taught_by(name) for name in runs.condition.teachers]
    assert [each.seeds[:3] for each in each_of] == [(0, 3, 6), (1, 4, 7), (2, 5, 8)]
    assert [mean(each) for each in each_of] == [(4, 4.5), (3, 4.0), (3, 5.0)]


def test_the_table_of_teachers_has_a_column_for_each(taught: Results) -> None:
    [table] = own_tables(taught.every["teachers"], taught, PAPER)
    rows = {row.labels: [cell.text for cell in row.cells] for row in table.rows}
    names = ["robust", "plain-0", "plain-1", "plain-2", "smooth"]
    assert [column.heading for column in table.columns] == names
    returns = ["14.5 ± 8.7", "4.5 ± 3.4", "4.0 ± 2.4", "5.0 ± 2.4", "1000.0 ± 0.0"]
    assert rows["CartPole-v1", "static"] == returns
    assert rows["CartPole-v1", "the teacher"][-1] == "500.0"
    assert len(rows) == 3 * 4
