"""Return against parameters: how runs are named, grouped and compared with MLPs."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from smgrnn import Graph
from smgrnn.batch import AnyCondition, Condition, Store
from smgrnn.pages.page import DataTable, Illustration
from smgrnn.runs.record import Record
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.report.contents import build_report
from smgrnn_paper.report.figures.registry import draw
from smgrnn_paper.report.frontier import (
    Group,
    draw_groups,
    first_size,
    frontier_numbers,
    frontier_table,
    group_runs,
    kind_of,
    mlp_as_good,
    nearest_mlp,
    printed_points,
)
from smgrnn_paper.report.markdown import markdown
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import UNKNOWN
from support.fabricated import fabricate, fill_store, with_graph

pytestmark = pytest.mark.xdist_group("frontier")

PAPER = load_paper()
TASK = "CartPole-v1"
FRUGAL = Condition.distill(TASK, preset="frugal", parameters=8)


def mlp(budget: int, **changes: Any) -> Condition:
    return Condition.distill(TASK, preset="frugal", student="mlp-100", budget=budget, **changes)


def run(condition: AnyCondition, seed: int, held_out_mean: float, n_parameters: int) -> Record:
    """Return a made-up run that hands over so many parameters, with this held-out return."""
    graph = Graph.from_edges(
        n_parameters, 1, edges=[(i, n_parameters, 1.0) for i in range(n_parameters)]
    )
    return with_graph(fabricate(condition, seed, held_out_mean=held_out_mean), graph)


def group(kind: str, n_parameters: int, *returns: float, task: str = TASK) -> Group:
    n, asked = len(returns), n_parameters if kind == "MLP" else None
    return Group(task, kind, asked, tuple(range(n)), (n_parameters,) * n, returns)


# ------------------------------------------------------------------------------- kinds and groups


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (FRUGAL, "frugal"),
        (Condition.distill(TASK, preset="frugal", keep=0.95), "kept 95 %"),
        (Condition.distill(TASK, preset="frugal", keep=0.975), "kept 97.5 %"),
        (Condition.distill(TASK), "paper"),
        (Condition.distill(TASK, plasticity={"growth": "exploration"}), "exploration"),
        (Condition.distill(TASK, student="static"), "static"),
        (Condition.distill(TASK, student="growth-only"), "growth only"),
        (mlp(16), "MLP"),
        (Condition.distill(TASK, student="mlp-200"), "MLP"),
        (
            Condition.distill(TASK, preset="frugal", student="mlp-pruned", budget=23, parameters=8),
            "MLP, pruned",
        ),
        (EvolutionCondition.evolve(TASK, method="neat"), "NEAT"),
        (EvolutionCondition.evolve(TASK, method="ndp"), "NDP"),
    ],
)
def test_a_kind_of_student_is_read_off_its_plan(condition: AnyCondition, kind: str) -> None:
    assert kind_of(condition.plan(0)) == kind


def test_seeds_are_a_group_with_mean_deviation_interval_and_worst() -> None:
    runs = [run(FRUGAL, seed, mean, n) for seed, mean, n in ((2, 30, 7), (0, 10, 5), (1, 20, 6))]
    [found] = group_runs(runs)
    assert (found.name, found.asked, found.seeds) == ("frugal 8", 8, (0, 1, 2))
    assert (found.parameters, found.n_parameters) == ((5, 6, 7), 6)
    assert found.returns == (10, 20, 30)
    half = 4.302653 * 10 / math.sqrt(3)  # Student's t of two degrees of freedom
    assert found.std == 10
    assert found.mean.value == 20
    assert found.mean.interval == pytest.approx((20 - half, 20 + half), rel=1e-6)


def test_one_run_has_no_interval() -> None:
    [found] = group_runs([run(FRUGAL, 0, 10, 5)])
    assert (found.mean.interval, found.std) == (UNKNOWN, None)


def test_unfinished_runs_do_not_count_and_others_count_once() -> None:
    runs = [run(FRUGAL, seed, 10, 5) for seed in (0, 1, 1)]
    unfinished = replace(run(FRUGAL, 2, 10, 5), held_out=np.empty(0))
    [found] = group_runs([*runs, unfinished])
    assert found.seeds == (0, 1)
    assert group_runs([unfinished]) == []


def test_groups_are_in_the_order_of_tasks_and_kinds_then_by_size() -> None:
    acrobot = Condition.distill("Acrobot-v1")
    runs = [
        run(mlp(23), 0, 1, 23),
        run(acrobot, 0, 1, 9),
        run(FRUGAL, 0, 1, 8),
        run(mlp(9), 0, 1, 9),
    ]
    found = [(each.task, each.name) for each in group_runs(runs)]
    assert found == [(TASK, "MLP 9"), (TASK, "MLP 23"), (TASK, "frugal 8"), ("Acrobot-v1", "paper")]


def test_runs_of_other_settings_are_not_averaged_and_say_in_what_they_differ() -> None:
    slow, fast = mlp(16, learning={"learning_rate": 0.001}), mlp(16)
    found = group_runs([run(slow, 0, 1, 16), run(fast, 0, 3, 16), run(mlp(9), 0, 1, 9)])
    assert {each.kind: each.returns for each in found} == {
        "MLP": (1,),
        "MLP, learning_rate 0.001": (1,),
        "MLP, learning_rate 0.003": (3,),
    }


# --------------------------------------------------------------------------- beside the MLPs


def test_the_mlp_as_good_lies_on_the_line_over_logarithms() -> None:
    mlps = [group("MLP", 10, 1, 1), group("MLP", 40, 3, 3)]
    found = mlp_as_good(group("frugal", 5, 2, 2), mlps)
    assert found is not None
    assert found.parameters.value == pytest.approx(20)
    assert found.parameters.interval == pytest.approx((20, 20))
    assert found.text() == "20"


@pytest.mark.parametrize(("mean", "text"), [(4, ">40"), (3, "40"), (1, "≤10"), (0, "≤10")])
def test_beyond_the_mlps_only_the_side_is_known(mean: float, text: str) -> None:
    mlps = [group("MLP", 10, 1, 1), group("MLP", 40, 3, 3)]
    found = mlp_as_good(group("frugal", 5, mean, mean), mlps)
    assert found is not None
    assert found.text() == text
    is_between = text == "40"
    assert (found.to_dict()["parameters"] is not None) == is_between
    assert (found.to_dict()["smallest"], found.to_dict()["largest"]) == (10, 40)


def test_its_interval_comes_from_the_seeds_of_both() -> None:
    mlps = [group("MLP", 10, 0, 2, 1, 1), group("MLP", 40, 2, 4, 3, 3)]
    found = mlp_as_good(group("frugal", 5, 1.5, 2.5, 2, 2), mlps)
    assert found is not None
    low, high = found.parameters.interval
    assert 10 < low < 18
    assert 22 < high < 60
    assert found == mlp_as_good(group("frugal", 5, 1.5, 2.5, 2, 2), mlps)
    single = mlp_as_good(group("frugal", 5, 2), mlps)
    assert single is not None
    assert single.parameters.interval == UNKNOWN
    assert single.text() == "20"


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=5),
    st.lists(st.integers(-6, 6), min_size=1, max_size=4),
)
def test_the_first_size_that_reaches_a_goal(means: list[int], goals: list[int]) -> None:
    """Beside a walk along the line, also where it goes up and down."""
    sizes = np.exp2(np.arange(1, len(means) + 1))
    found = first_size(sizes, np.array([[float(m)] * len(goals) for m in means]), np.array(goals))
    for goal, size in zip(goals, found, strict=True):
        fine = np.linspace(1, len(means), 2520 * (len(means) - 1) + 1)
        reached = np.interp(fine, range(1, len(means) + 1), means) >= goal - 1e-9
        if not reached.any():
            assert size > sizes[-1]
        elif reached[0]:
            assert size < sizes[0]
        else:
            assert math.log2(size) == pytest.approx(fine[reached.argmax()], abs=1e-3)


def test_the_nearest_mlp_is_so_by_ratio_and_the_difference_is_welchs() -> None:
    mlps = [group("MLP", 10, 1, 2, 4), group("MLP", 40, 9, 9, 9)]
    grown = group("frugal", 19, 6, 7, 5, 6)
    assert nearest_mlp(grown, mlps) == mlps[0]
    assert nearest_mlp(group("frugal", 22, 1), mlps) == mlps[1]
    assert nearest_mlp(mlps[0], mlps) is None
    assert nearest_mlp(group("frugal", 19, 1, task="xor"), mlps) is None
    [*_, told] = frontier_numbers([*mlps, grown], PAPER)["groups"]
    test = stats.ttest_ind(grown.returns, mlps[0].returns, equal_var=False)
    low, high = test.confidence_interval()
    expected = {"parameters": 10, "difference": 6 - 7 / 3, "low": low, "high": high}
    assert told["nearest_mlp"] == pytest.approx(expected)


def test_the_paper_prints_the_growing_network_of_table_ii() -> None:
    [point] = printed_points(PAPER, ["LunarLander-v3", "xor"])
    assert (point.n_parameters, point.mean.value) == (140, 207.6)
    assert point.std == pytest.approx(33.3 * math.sqrt(10 / 9))
    half = 2.262157 * 33.3 / 3  # ten seeds, and a deviation over n
    assert point.mean.interval == pytest.approx((207.6 - half, 207.6 + half))


# --------------------------------------------------------------------------------- the table


def rows(groups: list[Group]) -> dict[str, dict[str, str]]:
    table = frontier_table(groups, PAPER)
    names = [column.name for column in table.columns]
    return {
        row.labels[1]: dict(zip(names, (cell.text for cell in row.cells), strict=True))
        for row in table.rows
    }


def test_the_table_states_every_group_and_what_the_paper_prints() -> None:
    groups = [group("MLP", 10, 1, 1), group("MLP", 40, 3, 3), group("frugal", 5, 1.5, 2.5)]
    found = rows(groups)
    assert found["frugal"] == {
        "n_parameters": "5",
        "runs": "2",
        "held_out_mean": "2.0 [−4.4, 8.4]",
        "std": "0.7",
        "worst": "1.5",
        "mlp_as_good": "20 [14, 28]",
        "nearest_mlp": "10",
        "difference": "+1.0 [−5.4, 7.4]",
    }
    assert found["MLP 10"]["mlp_as_good"] == found["MLP 10"]["difference"] == "–"
    assert found["as printed*"]["held_out_mean"] == "497.7 [496.3, 499.1]"
    assert "Table II" in frontier_table(groups, PAPER).note


def test_without_mlps_and_for_tasks_of_ones_own_there_is_nothing_beside_it() -> None:
    found = rows([group("frugal", 5, 1.0, task="my:Env-v0")])
    assert list(found) == ["frugal"]
    assert found["frugal"]["mlp_as_good"] == found["frugal"]["difference"] == "–"
    assert found["frugal"]["held_out_mean"] == "1.0"


def test_an_interval_that_is_wide_has_no_decimals() -> None:
    assert rows([group("frugal", 5, 100, 130)])["frugal"]["held_out_mean"] == "115 [−76, 306]"


# --------------------------------------------------------------------------------- the picture


def panels(figure: Figure) -> list[Axes]:
    return [ax for ax in figure.findobj(Axes) if isinstance(ax, Axes) and ax.axison]


def numbers_at_arrows(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_means_are_drawn_at_their_sizes_and_those_asked_for_are_connected() -> None:
    groups = [group("MLP", 10, 1, 3), group("MLP", 40, 3, 3), group("frugal", 5, 2, 2, task="xor")]
    groups.append(replace(groups[-1], asked=5))
    left, right = panels(draw_groups(groups, PAPER))
    assert (left.get_title("left"), right.get_title("left")) == ("(a) CartPole", "(b) XOR")
    line = left.containers[0][0]
    assert np.array_equal(line.get_xydata(), [[10, 2], [40, 3]])
    assert line.get_linestyle() == "-"
    assert [each[0].get_linestyle() for each in right.containers] == ["-", "None"]
    assert left.get_xscale() == "log"
    assert len(left.containers) == 2  # the MLPs, and the paper's
    star = left.containers[1][0]
    assert (star.get_markerfacecolor(), star.get_xydata().tolist()) == ("white", [[84, 497.7]])


def test_a_poor_group_does_not_squeeze_the_others() -> None:
    good = [group("MLP", 10 * n, 250 + n, 252 + n) for n in range(1, 7)]
    poor = group("NEAT", 8, -90, -110, task=TASK)
    lander = [replace(each, task="LunarLander-v3") for each in (*good, poor)]
    figure = draw_groups(lander, PAPER)
    [ax] = panels(figure)
    low, high = ax.get_ylim()
    assert 200 < low < 251
    assert 257 < high < 280
    assert numbers_at_arrows(ax) == ["−100", "208"]  # NEAT's, and the paper's
    note = " ".join(figure.get_supxlabel().split())
    assert "Arrows: means below the panel" in note
    assert "Mean over 2 runs of each group" in note


def test_one_group_of_one_run_can_be_drawn() -> None:
    [ax] = panels(draw_groups([group("mine", 5, 0.0, task="my:Env-v0")], PAPER))
    assert ax.get_title("left") == "my:Env-v0"
    assert numbers_at_arrows(ax) == []


# --------------------------------------------------------------------------------- the report


def test_the_report_has_table_and_picture_of_what_has_run(tmp_path: Path) -> None:
    [experiment] = choose_experiments(["frontier"], seeds=2, episodes=4)
    few = dict(list(experiment.conditions.items())[:6])
    store = Store(tmp_path)
    fill_store(store, [replace(experiment, conditions=few)])
    results = Results(store, ["frontier"], seeds=2, episodes=4)
    page = build_report(results).page
    [section] = page.sections
    [illustration] = [it for it in section.blocks if isinstance(it, Illustration)]
    [table, *_] = [it for it in section.blocks if isinstance(it, DataTable)]
    assert {row.labels[1] for row in table.rows} > {"frugal 6", "kept 95 %", "as printed*"}
    assert "![Return against parameters](figures/figure-frontier.svg)" in markdown(page)
    assert illustration.name != table.name  # both are anchors of the page
    figure = draw("frontier", results)
    assert figure is not None
    n_asked = 2 * len(experiment.conditions)
    assert figure.get_suptitle() == f"Return against parameters (12 of {n_asked} runs)"


def test_without_runs_nothing_is_shown(tmp_path: Path) -> None:
    names = ["optimizer-sensitivity", "frontier"]
    found = build_report(Results(Store(tmp_path), names, seeds=1, episodes=4))
    assert found.page.sections[-1].id == "frontier-v1"
    assert [table["id"] for table in found.numbers["tables"]] == ["A.I", "A.II"]
    assert found.page.illustrations[-1].picture is None
