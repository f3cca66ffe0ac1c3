"""Return against parameters: how runs are named, grouped and compared with MLPs."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from smgrnn import Graph
from smgrnn.batch import AnyCondition, Condition, Store
from smgrnn.pages.page import DataTable
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.validation import flatten
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.experiments.frontier import FRONTIERS, KINDS, RATE, Retrained, student
from smgrnn_paper.report.contents import build_report
from smgrnn_paper.report.figures.frontier import draw_groups
from smgrnn_paper.report.frontier import (
    Group,
    frontier_numbers,
    frontier_table,
    group_runs,
    kind_of,
)
from smgrnn_paper.report.markdown import markdown
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import UNKNOWN
from support.fabricated import fabricate, fill_store, with_graph

pytestmark = pytest.mark.xdist_group("frontier")

PAPER = load_paper()
COMMITTED = Path(__file__).parents[3] / "docs" / "results" / "frontier.json"
TASK = "CartPole-v1"
FRUGAL = Condition.distill(TASK, preset="frugal", max_parameters=8)


def frugal(student: str = "smgrnn", **changes: Any) -> Condition:
    return Condition.distill(TASK, preset="frugal", student=student, **changes)


def mlp(budget: int, **changes: Any) -> Condition:
    return frugal("mlp-100", budget=budget, **changes)


def run(condition: AnyCondition, seed: int, held_out_mean: float, n_parameters: int) -> Record:
    """Return a made-up run whose selected network has so many parameters and this return."""
    edges = [(i, n_parameters, 1.0) for i in range(n_parameters)]
    graph = Graph.from_edges(n_parameters, 1, edges=edges)
    return with_graph(fabricate(condition, seed, held_out_mean=held_out_mean), graph)


def group(kind: str, n_parameters: int, *returns: float, task: str = TASK) -> Group:
    n, asked = len(returns), n_parameters if kind == "MLP" else None
    return Group(task, kind, asked, tuple(range(n)), (n_parameters,) * n, returns)


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (FRUGAL, "frugal"),
        (frugal(keep=0.975), "kept 97.5 %"),
        (Condition.distill(TASK, preset="paper"), "paper"),
        (
            Condition.distill(TASK, preset="paper", plasticity={"growth": "exploration"}),
            "exploration",
        ),
        (Condition.distill(TASK, preset="paper", student="static"), "static"),
        (Condition.distill(TASK, preset="paper", student="growth-only"), "growth only"),
        (Condition.distill(TASK, preset="paper", student="mlp-200"), "MLP"),
        (frugal("mlp-pruned", budget=23, max_parameters=8), "MLP, pruned"),
        (student(TASK, "mlp-no-bias", 2), "MLP, no bias"),
        (student(TASK, "linear"), "linear"),
        (student(TASK, "linear-pruned", 4), "linear, pruned"),
        (student(TASK, "retrained", 4), "retrained"),
        (EvolutionCondition.evolve(TASK, method="ndp"), "NDP"),
    ],
)
def test_a_kind_of_student_is_read_off_its_plan(condition: AnyCondition, kind: str) -> None:
    assert kind_of(condition.plan(0)) == kind


def test_rivals_are_treated_alike_but_for_their_learning_rate() -> None:
    """The polish was missing, and linear policies and trees were no rivals at all."""
    shared = {"episodes", "held_out", "select", "polish", "gain", "averaging", "schedule"}
    for experiment in FRONTIERS:
        plans = [it.plan(0) for it in experiment.conditions.values() if isinstance(it, Condition)]
        settings = [flatten(plan.to_dict()) for plan in plans]
        alike = [
            {k: v for k, v in it.items() if k.rpartition(".")[2] in shared and "origin" not in k}
            for it in settings
        ]
        assert all(each == alike[0] for each in alike)
        assert {
            name.rpartition("/")[2].rstrip("-0123456789") for name in experiment.conditions
        } >= set(KINDS)


def test_a_retrained_graph_is_the_grown_one_with_other_weights() -> None:
    short = student(TASK, "retrained", 4).with_episodes(30)
    assert isinstance(short, Retrained)
    plan = short.plan(3)
    record = short.train(plan)
    assert record.plan.key() == plan.key()
    assert plan.origin is not None
    assert (plan.origin.polish, plan.origin.learning.learning_rate) == (0, RATE)
    found = Run(plan.origin).train()
    graph = record.final.graph
    assert np.array_equal(graph.source, found.selected.graph.source)
    assert np.array_equal(graph.target, found.selected.graph.target)
    assert not np.isin(graph.weight, found.selected.graph.weight).any()
    assert record.spent.steps > found.spent.steps


def test_the_committed_numbers_are_computed_again_to_the_bit() -> None:
    """From the returns and sizes of its 36 groups."""
    told = json.loads(COMMITTED.read_text(encoding="utf-8"))
    groups = [
        Group(
            *(it["task"], it["student"], it["asked"], tuple(it["seeds"])),
            *(tuple(it[name]["each"]) for name in ("parameters", "held_out")),
        )
        for it in told["groups"]
    ]
    found = json.loads(json.dumps(frontier_numbers(groups, PAPER)))
    assert found == {name: told[name] for name in ("groups", "paper")}
    rows = {row.labels: [it.text for it in row.cells] for row in frontier_table(groups, found).rows}
    assert rows["LunarLander-v3", "frugal 44"][:3] == ["44", "10", "260.1 [257.4, 262.8]"]
    assert rows["LunarLander-v3", "as printed*"][:3] == ["140", "–", "208 [182, 233]"]


def test_seeds_are_a_group_with_mean_and_interval_and_unfinished_runs_do_not_count() -> None:
    runs = [run(FRUGAL, seed, mean, n) for seed, mean, n in ((2, 30, 7), (0, 10, 5), (1, 20, 6))]
    unfinished = replace(run(FRUGAL, 3, 10, 5), held_out=np.empty(0))
    [found] = group_runs([*runs, runs[0], unfinished])
    assert (found.name, found.asked, found.seeds) == ("frugal 8", 8, (0, 1, 2))
    assert (found.parameters, found.n_parameters, found.returns) == ((5, 6, 7), 6, (10, 20, 30))
    half = 4.302653 * 10 / math.sqrt(3)  # Student's t of two degrees of freedom
    assert found.mean.value == 20
    assert found.mean.interval == pytest.approx((20 - half, 20 + half), rel=1e-6)
    assert group_runs(runs[:1])[0].mean.interval == UNKNOWN
    assert group_runs([unfinished]) == []


def test_groups_are_in_the_order_of_tasks_and_kinds_then_by_size() -> None:
    acrobot = Condition.distill("Acrobot-v1", preset="paper")
    sizes = ((mlp(23), 23), (acrobot, 9), (FRUGAL, 8), (mlp(9), 9))
    found = group_runs([run(condition, 0, 1, n) for condition, n in sizes])
    names = [(each.task, each.name) for each in found]
    assert names == [(TASK, "MLP 9"), (TASK, "MLP 23"), (TASK, "frugal 8"), ("Acrobot-v1", "paper")]


def test_runs_of_other_settings_are_not_averaged_and_say_in_what_they_differ() -> None:
    slow, fast = mlp(16, learning={"learning_rate": 0.001}), mlp(16)
    found = group_runs([run(slow, 0, 1, 16), run(fast, 0, 3, 16), run(mlp(9), 0, 1, 9)])
    assert {each.kind: each.returns for each in found} == {
        "MLP": (1,),
        "MLP, learning_rate 0.001": (1,),
        "MLP, learning_rate 0.003": (3,),
    }


@pytest.mark.parametrize(("size", "nearest"), [(19, 10), (22, 40)])
def test_the_nearest_mlp_is_so_by_ratio(size: int, nearest: int) -> None:
    groups = [group("frugal", size, 1), group("MLP", 10, 1), group("MLP", 40, 1)]
    told = frontier_numbers(groups, PAPER)["groups"]
    assert told[0]["nearest_mlp"]["parameters"] == nearest
    assert told[1]["nearest_mlp"] is None
    alone = frontier_numbers([group("frugal", 19, 1, task="xor"), *groups], PAPER)["groups"][0]
    assert alone["nearest_mlp"] is None


def rows(groups: list[Group]) -> dict[str, dict[str, str]]:
    table = frontier_table(groups, frontier_numbers(groups, PAPER))
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
        "nearest_mlp": "10",
        "difference": "+1.0 [−5.4, 7.4]",
    }
    assert found["MLP 10"]["difference"] == "–"
    assert found["as printed*"]["held_out_mean"] == "497.7 [496.3, 499.1]"
    own = rows([group("frugal", 5, 1.0, task="my:Env-v0")])
    assert list(own) == ["frugal"]
    assert (own["frugal"]["held_out_mean"], own["frugal"]["difference"]) == ("1.0", "–")


def test_means_are_drawn_at_their_sizes_and_a_poor_group_does_not_squeeze_the_others() -> None:
    lander = [group("MLP", 10 * n, 250 + n, 252 + n, task="LunarLander-v3") for n in range(1, 7)]
    lander.append(group("NEAT", 8, -90, -110, task="LunarLander-v3"))
    figure = draw_groups([group("MLP", 10, 1, 3), group("MLP", 40, 3, 3), *lander], PAPER)
    left, right = (ax for ax in figure.findobj(Axes) if isinstance(ax, Axes) and ax.axison)
    assert np.array_equal(left.containers[0][0].get_xydata(), [[10, 2], [40, 3]])
    assert left.containers[1][0].get_xydata().tolist() == [[84, 497.7]]  # the paper's
    low, high = right.get_ylim()
    assert 200 < low < 251 < 257 < high < 280
    assert [text.get_text() for text in right.texts] == ["↓ −100", "↓ 208"]  # NEAT, and the paper


def test_the_report_has_table_and_picture_of_what_has_run(tmp_path: Path) -> None:
    [experiment] = choose_experiments(["frontier"], seeds=2, episodes=4)
    few = dict(list(experiment.conditions.items())[:6])
    fill_store(Store(tmp_path), [replace(experiment, conditions=few)])
    page = build_report(Results(Store(tmp_path), ["frontier"], seeds=2, episodes=4)).page
    [section] = page.sections
    [table, *_] = [it for it in section.blocks if isinstance(it, DataTable)]
    assert {row.labels[1] for row in table.rows} > {"frugal 2", "retrained 2", "as printed*"}
    assert "![Return against parameters](figures/figure-frontier.svg)" in markdown(page)
    [illustration] = page.illustrations
    assert illustration.name != table.name  # both are anchors of the page
    names = ["optimizer-sensitivity", "frontier"]
    found = build_report(Results(Store(tmp_path / "empty"), names, seeds=1, episodes=4))
    assert [each["id"] for each in found.numbers["tables"]] == ["A.I", "A.II"]
    assert found.page.illustrations[-1].picture is None
