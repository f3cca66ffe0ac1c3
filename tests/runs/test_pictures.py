"""The picture of the network that a run hands over: what is written in it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.text import Text

from smgrnn import Graph
from smgrnn.episodes.table import Episodes
from smgrnn.policy import Policy
from smgrnn.runs import pictures
from smgrnn.runs.checkpoints import Checkpoint
from smgrnn.runs.metrics import Comparison
from smgrnn.runs.pictures import FEW, draw_curves, draw_topology
from smgrnn.runs.record import Record
from support.flat import network_config
from support.runs import trained


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return trained(tmp_path_factory.mktemp("run"), name=None, episodes=2, held_out=1).record


def words(record: Record, graph: Graph, folder: Path) -> list[str]:
    """Return what the picture of a record says that hands over a graph."""
    network = network_config(n_inputs=4, n_outputs=2, bias=True)
    student = Checkpoint(Policy(graph, network, record.plan.task), 1, np.array([1.0]))
    with mpl.rc_context({"svg.fonttype": "none"}):
        draw_topology(replace(record, checkpoints=(student,)), folder / "topology.svg")
    text = (folder / "topology.svg").read_text(encoding="utf-8")
    return [each.strip() for each in re.findall(r"<text[^>]*>([^<]*)</text>", text)]


def test_a_small_network_has_its_ends_named_and_its_weights_written_and_a_large_one_not(
    record: Record, tmp_path: Path
) -> None:
    edges = [(0, 5, 0.51234), (4, 7, -1.0), (7, 6, 63.75)]
    found = words(record, Graph.from_edges(5, 2, 1, edges=edges), tmp_path)
    ends = {"position", "velocity", "angle", "angular velocity", "bias", "left", "right"}
    assert ends | {"+0.512", "−1", "+63.8"} < set(found)
    n = FEW + 1
    large = Graph.from_edges(5, 2, n - 2, edges=[(0, 5 + k, 1.0) for k in range(n)])
    assert "+1" not in words(replace(record, held_out=np.empty(0)), large, tmp_path)


def test_the_curves_mark_when_the_job_was_done_and_nothing_lies_on_them(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 40 episodes of 400 the pole stays up; at the 115th, 25 of the last 100 fell."""
    drawn: list[Any] = []
    monkeypatch.setattr(pictures, "_write", lambda figure, path: drawn.append(figure))
    columns: Any = (np.resize(column, 200) for column in record.episodes)
    returns = np.where(np.arange(200) < 40, 400.0, 500.0)
    given = replace(record, episodes=Episodes(*columns)._replace(returns=returns))
    given = replace(
        given,
        checkpoints=(Checkpoint(record.students["final"], 150, np.array([1.0])),),
        comparison=Comparison(expert_return=498.5, random_return=-1180.3),
    )
    for each, is_solved in ((given, True), (record, False)):
        draw_curves(each, tmp_path / "curves.png")
        texts = [text.get_text() for text in drawn[-1].findobj(Text)]
        assert ("solved in episode 115" in texts) == is_solved
        assert ("selected: episode 150" in texts) == is_solved
        assert ("expert 498.5" in texts) == ("random policy −1180.3" in texts) == is_solved
        assert {"Return", "Size", "Agreement with the expert, %", "solved at 475"} < set(texts)
        drawn[-1].draw_without_rendering()
    for ax in (ax for figure in drawn for ax in figure.axes):
        legend, title = (each.get_window_extent() for each in (ax.get_legend(), ax._left_title))
        assert legend.y0 > ax.bbox.y1 - 1
        assert title.x1 < legend.x0
