"""The figures: complete, in the paper's layout, true to the runs, and small enough to print."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from smgrnn import Graph
from smgrnn.batch import AnyCondition, Condition, Experiment, Store
from smgrnn.episodes.table import Episodes
from smgrnn.pages.figure import take_picture
from smgrnn.runs.record import Record
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.experiments import EXPERIMENTS, STUDIES
from smgrnn_paper.report.figures.graphs import representative
from smgrnn_paper.report.figures.registry import FIGURES, draw
from smgrnn_paper.report.paper import WORDS, load_paper
from smgrnn_paper.report.results import Results
from support.fabricated import bred, fabricate, filled, with_graph

pytestmark = pytest.mark.xdist_group("figures")

SEEDS, EPISODES = 2, 8
PAPER = load_paper()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every run there is, short and made up."""
    return filled(tmp_path_factory.mktemp("store"), seeds=SEEDS, episodes=EPISODES)


def words(figure: Figure) -> Iterator[str]:
    return (str(each.get_text()) for each in figure.findobj(Text))


def panels(figure: Figure) -> dict[str, Any]:
    """Return the panels by letter: their axes, or None of those that are made of several."""
    letters = [text[1] for text in words(figure) if re.match(r"\([a-z]\) ", text)]
    axes = {ax.get_title("left")[1:2]: ax for ax in figure.findobj(Axes) if isinstance(ax, Axes)}
    return {letter: axes.get(letter) for letter in sorted(letters)}


def run(
    condition: AnyCondition,
    seed: int = 0,
    *,
    returns: Any = 0.0,
    sizes: Any = 6,
    graph: Graph | None = None,
    **changes: Any,
) -> Record:
    """Return a made-up run with these returns and nodes."""
    n = max(np.size(returns), np.size(sizes))
    episodes = Episodes.start(n)
    episodes.steps[:] = 1
    episodes.returns[:], episodes.n_nodes[:] = returns, sizes
    record = replace(fabricate(condition, seed), episodes=episodes, **changes)
    return record if graph is None else with_graph(record, graph)


CARTPOLE = Condition.distill("CartPole-v1", preset="paper", episodes=4)
EVOLUTION = EvolutionCondition.evolve("CartPole-v1", rollouts=4, population=2)


def spans(ax: Axes) -> list[tuple[float, float]]:
    """Return lowest and highest point of each band."""
    paths = [path for each in ax.collections for path in each.get_paths()]
    heights = [np.asarray(path.vertices)[:, 1] for path in paths]
    return [(float(each.min()), float(each.max())) for each in heights]


# ------------------------------------------------------------------------------------ the registry


def test_every_figure_of_the_paper_is_there() -> None:
    assert FIGURES.keys() - PAPER.figures.keys() == WORDS["figures"].keys()
    assert FIGURES.keys() > PAPER.figures.keys()
    every = (EXPERIMENTS | STUDIES).values()
    filled = {name for each in every for name in each.artefacts if "Fig." in name}
    assert filled == {f"Fig. {id}" for id in FIGURES}


def experiment_of(id: str) -> Experiment:
    every = (EXPERIMENTS | STUDIES).values()
    return next(each for each in every if f"Fig. {id}" in each.artefacts)


@pytest.mark.parametrize("id", PAPER.figures)
def test_a_figure_shows_the_conditions_of_the_paper(id: str) -> None:
    printed, shown = PAPER.figures[id], experiment_of(id).conditions
    tasks = {panel.task for panel in printed.panels if panel.task}
    assert tasks <= {condition.task for condition in shown.values()}
    of_tasks = tasks or {condition.task for condition in shown.values()}
    wanted = {f"{task}/{name}" for task in of_tasks for name in printed.conditions}
    assert wanted <= shown.keys()


@pytest.mark.parametrize("id", PAPER.figures)
def test_a_figure_has_the_panels_of_the_paper_and_no_text_is_cut_off(
    id: str, results: Results
) -> None:
    """Numbers at axes aside: there are some beyond their ends, which are not drawn."""
    figure = draw(id, results)
    assert figure is not None
    expected = len(PAPER.figures[id].panels)
    assert "".join(panels(figure)) == "abcdef"[: expected if expected > 1 else 0]
    assert f"Fig. {id}. {PAPER.figures[id].title}" in {" ".join(t.split()) for t in words(figure)}
    assert len(take_picture(figure).data) < 300_000
    figure.draw_without_rendering()
    axes = [axis for ax in figure.findobj(Axes) for axis in (ax.xaxis, ax.yaxis)]
    ticks = {label for axis in axes for label in axis.get_ticklabels(which="both")}
    texts = [each for each in figure.findobj(Text) if each not in ticks]
    boxes = [each.get_window_extent() for each in texts if each.get_text()]
    assert min(box.x0 for box in boxes) >= -1
    assert max(box.x1 for box in boxes) <= figure.bbox.x1 + 1


def test_without_runs_there_are_no_figures(tmp_path: Any) -> None:
    empty = Results(Store(tmp_path))
    assert [id for id in FIGURES if draw(id, empty) is not None] == []


@pytest.mark.parametrize("id", FIGURES)
def test_what_there_is_is_drawn_and_the_title_says_how_much(id: str, tmp_path: Any) -> None:
    store = Store(tmp_path)
    shown = experiment_of(id)
    short = next(iter(shown.conditions.values())).with_episodes(EPISODES)
    store.save(fabricate(short, 1))
    partial = Results(store, [shown.id], seeds=SEEDS, episodes=EPISODES)
    figure = draw(id, partial)
    n_asked = SEEDS * len(shown.conditions)
    assert figure is not None
    assert f"(1 of {n_asked} runs)" in " ".join(" ".join(words(figure)).split())


# -------------------------------------------------------------------------------- what figures show


def test_figure_4_is_shaded_over_all_runs_and_figure_3_by_their_deviation() -> None:
    returns = (10.0, 20.0, 60.0)
    runs = [run(CARTPOLE, seed, returns=[each] * 4) for seed, each in enumerate(returns)]
    drawn = panels(FIGURES["4"]({"CartPole-v1/smgrnn": runs}))
    assert drawn["a"].lines[0].get_ydata().tolist() == [30.0] * 4
    assert spans(drawn["a"]) == [(10.0, 60.0)]
    assert spans(drawn["d"]) == []  # all of one size
    assert [text.get_text() for text in drawn["b"].texts] == ["not run"]
    drawn = panels(FIGURES["3"]({"CartPole-v1/smgrnn": runs}))
    ((low, high),) = spans(drawn["a"])
    assert (low, high) == pytest.approx((30 - np.std(returns), 30 + np.std(returns)))


def test_figure_3_has_the_threshold_and_a_cross_for_the_best_of_each_generation() -> None:
    evolved = run(EVOLUTION, returns=[7, 1, 2, 9], sizes=[5, 4, 4, 6])
    evolved = bred(evolved, evolved.episodes, 2)
    task = replace(evolved.plan.task, reward_threshold=8.0)
    evolved = replace(evolved, plan=replace(evolved.plan, task=task))
    drawn = panels(FIGURES["3"]({"CartPole-v1/neat": [evolved]}))
    curve, crosses, threshold = drawn["a"].lines
    assert curve.get_ydata().tolist() == [7, 1, 2, 9]
    assert (crosses.get_marker(), crosses.get_linestyle()) == ("x", "None")
    assert crosses.get_xydata().tolist() == [[2, 7], [4, 9]]
    assert set(threshold.get_ydata()) == {8.0}
    assert drawn["d"].lines[0].get_xydata().tolist() == [[2, 5], [4, 6]]


def test_nothing_is_drawn_beyond_the_possible_return() -> None:
    runs = [run(CARTPOLE, seed, returns=[each] * 8) for seed, each in enumerate((400.0, 500, 500))]
    for id, name in (("3", "smgrnn"), ("A.1", "window=50")):
        figure = FIGURES[id]({f"CartPole-v1/{name}": runs})
        axes = [ax for ax in figure.findobj(Axes) if isinstance(ax, Axes)]
        assert max(ax.dataLim.y1 for ax in axes if ax.dataLim.y1 > 400) == 500.0


def test_candidates_too_small_to_play_have_no_return() -> None:
    """Their score is the nodes they lack: on Acrobot it would beat every return there is."""
    evolved = run(EVOLUTION, returns=[-3, -500, -3, -100])
    evolved.episodes.steps[[0, 2]] = 0
    evolved.episodes.steps[1] = 0  # nobody plays in the first generation
    evolved = bred(evolved, evolved.episodes, 2)
    drawn = panels(FIGURES["3"]({"CartPole-v1/ndp": [evolved]}))
    curve, crosses, *_ = drawn["a"].lines
    assert curve.get_ydata()[3] == -100
    assert np.isnan(curve.get_ydata()[:3]).all()
    assert np.isnan(crosses.get_ydata()[0])
    assert crosses.get_ydata()[1] == -100


def test_figure_7_carries_xor_on_to_the_end_and_shows_final_sizes() -> None:
    xor = Condition.distill("xor", preset="paper", episodes=4)
    records = {
        "xor/smgrnn": [run(xor, sizes=[4, 5])],
        "CartPole-v1/smgrnn": [run(CARTPOLE, sizes=[6, 6, 6, 7, 7, 7, 8, 9])],
    }
    drawn = panels(FIGURES["7"](records))
    assert drawn["a"].lines[0].get_ydata().tolist() == [4, 5, 5, 5, 5, 5, 5, 5]
    assert [bar.get_height() for bar in drawn["b"].patches] == [5, 9]
    assert {(5.0, 5.0), (8.5, 8.5)} <= set(spans(drawn["b"]))  # over the final quarter


def test_figure_8_shows_the_run_of_median_size() -> None:
    graphs = [Graph.from_edges(1, 1, n, [(0, 1, 1.0)]) for n in (9, 1, 4, 4)]
    graphs[2] = Graph.from_edges(1, 1, 4, [(0, 1, 1.0), (1, 2, 1.0)])
    runs = [run(CARTPOLE, seed, graph=graph) for seed, graph in enumerate(graphs)]
    assert representative(runs).plan.seed == 3  # 1 < 4 with 1 edge < 4 with 2 < 9
    assert representative(runs[:3]).plan.seed == 2
    figure = FIGURES["8"]({"CartPole-v1/smgrnn": runs})
    assert "seed 3: 6 nodes, 1 edges" in set(words(figure))
