"""The weights of a run on the way: evenly spaced, never too many, and none without a folder."""

import numpy as np
import pytest

from smgrnn import Graph
from smgrnn.episodes import table
from smgrnn.episodes.table import Snapshots

GRAPH = Graph.from_edges(1, 1, edges=[(0, 1, 0.5)])


def taken(last: int, graph: Graph = GRAPH) -> Snapshots:
    found = Snapshots.start()
    for episode in range(last + 1):
        found = found.followed_by(episode, graph)
    return found


def test_too_many_moments_are_halved_and_stay_even(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_MOMENTS", 4)
    assert taken(3).episode.tolist() == [0, 1, 2, 3]
    assert taken(4).episode.tolist() == [0, 2, 4]
    assert taken(8).episode.tolist() == [0, 4, 8]
    assert taken(1000).episode.tolist() == [0, 256, 512, 768]


def test_a_large_network_is_kept_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_WEIGHTS", 10)
    graph = Graph.from_edges(4, 1, edges=[(node, 4, float(node)) for node in range(4)])
    found = taken(100, graph)
    assert found.weight.size == found.n_edges.sum() <= 10
    assert found.weight.tolist() == [0.0, 1.0, 2.0, 3.0] * found.episode.size
    assert np.unique(np.diff(found.episode)).size <= 1
