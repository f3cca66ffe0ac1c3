"""The picture of the network that a run hands over: what is written in it."""

import re
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from smgrnn import Graph
from smgrnn.config import NetworkConfig
from smgrnn.policy import Policy
from smgrnn.runs import Record
from smgrnn.runs.family import Member
from smgrnn.runs.pictures import FEW, draw_topology
from support.runs import trained


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return trained(tmp_path_factory.mktemp("run"), name=None, episodes=2, held_out=1).record


def words(record: Record, graph: Graph, folder: Path) -> list[str]:
    """Return what the picture of a record says that hands over a graph."""
    network = NetworkConfig(n_inputs=graph.n_inputs, n_outputs=graph.n_outputs)
    student = Member(Policy(graph, network, record.plan.task), 1, np.array([1.0]))
    with mpl.rc_context({"svg.fonttype": "none"}):
        draw_topology(replace(record, family=(student,)), folder / "topology.svg")
    text = (folder / "topology.svg").read_text(encoding="utf-8")
    return [each.strip() for each in re.findall(r"<text[^>]*>([^<]*)</text>", text)]


def test_a_small_network_has_its_ends_named_and_its_weights_written(
    record: Record, tmp_path: Path
) -> None:
    edges = [(0, 5, 0.51234), (4, 7, -1.0), (7, 6, 63.75)]
    found = words(record, Graph.from_edges(5, 2, 1, edges=edges), tmp_path)
    ends = ["position", "velocity", "angle", "angular velocity", "bias", "left", "right"]
    title = (
        f"CartPole-v1: 3 parameters, 1 hidden node, held-out return {record.held_out.mean():.1f}"
    )
    assert sorted(found) == sorted([*ends, "+0.512", "-1", "+63.8", title])


def test_the_weights_of_a_large_network_are_left_out(record: Record, tmp_path: Path) -> None:
    n = FEW + 1
    edges = [(0, 5 + k, 1.0) for k in range(n)]
    unfinished = replace(record, held_out=np.empty(0))
    found = words(unfinished, Graph.from_edges(5, 2, n - 2, edges=edges), tmp_path)
    assert f"CartPole-v1: {n} parameters, {n - 2} hidden nodes" in found
    assert "position" in found
    assert "+1" not in found
