"""The timeline: at every moment it holds the graph that the edits make, and its weights."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smgrnn import Graph, Run
from smgrnn.episodes.table import Snapshots
from smgrnn.graph.drawing import layout
from smgrnn.graph.edit import Cause
from smgrnn.view import Timeline
from smgrnn.view.style import place_nodes
from smgrnn.view.timeline import FOREVER, MOST_EDGES, MOST_NODES, NO_CAUSE, Tracks
from support.runs import GROWING, replay, trained

Ends = tuple[int, int, int]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def timeline(run: Run) -> Timeline:
    return Timeline.of(run.record)


def structure(timeline: Timeline, update: int) -> tuple[list[int], set[Ends]]:
    """Return ids of the nodes, and id, source and target of the edges, in a frame."""
    frame, edges = timeline.frame(update), timeline.edges
    columns = (edges.id, edges.source, edges.target)
    rows = zip(*(column[frame.edges].tolist() for column in columns), strict=True)
    return timeline.nodes.id[frame.nodes].tolist(), set(rows)


def structure_of(graph: Graph) -> tuple[list[int], set[Ends]]:
    return graph.node_ids.tolist(), {edge[:3] for edge in graph.edges()}


def weights(timeline: Timeline, update: int) -> dict[int, float]:
    frame = timeline.frame(update)
    ids = timeline.edges.id[frame.edges].tolist()
    return dict(zip(ids, frame.weight.tolist(), strict=True))


def weights_of(graph: Graph) -> dict[int, float]:
    return {edge.id: edge.weight for edge in graph.edges()}


def test_every_frame_is_the_graph_that_the_edits_make(run: Run, timeline: Timeline) -> None:
    start, last = run.plan.make_graph(), int(run.episodes.steps.sum())
    graphs = [(0, start), *replay(start, run.edits)]
    assert len(graphs) > 20
    for (_, before), (update, graph) in pairwise(graphs):
        assert structure(timeline, update) == structure_of(graph)
        assert structure(timeline, update - 1) == structure_of(before)
    assert structure(timeline, last) == structure_of(run.final.graph)
    for update, graph in ((0, start), (last, run.final.graph)):
        assert weights(timeline, update) == pytest.approx(weights_of(graph))


def test_weights_are_those_of_the_snapshots(run: Run, timeline: Timeline) -> None:
    snapshots = run.record.snapshots
    parts = np.cumsum(snapshots.n_edges)[:-1]
    ids, weight = np.split(snapshots.edge_ids, parts), np.split(snapshots.weight, parts)
    for moment, episode in enumerate(snapshots.episode.tolist()):
        shown = weights(timeline, int(timeline.ends[episode]))
        kept = dict(zip(ids[moment].tolist(), weight[moment].tolist(), strict=True))
        assert shown == pytest.approx(kept)


def test_a_weight_between_two_snapshots_lies_in_line() -> None:
    tracks = Tracks(np.array([0, 2, 4]), np.array([0, 10, 4, 6]), np.array([1.0, 2, -1, -3]))
    places = [(0, 5), (1, 5), (1, 0), (1, 100)]
    assert [tracks.at(*place) for place in places] == [1.5, -2, -1, -3]


def test_lives_tell_when_and_why(timeline: Timeline) -> None:
    for lives in (timeline.nodes, timeline.edges):
        assert ((lives.born == 0) == (lives.born_by == NO_CAUSE)).all()
        assert ((lives.died == FOREVER) == (lives.died_by == NO_CAUSE)).all()
        assert (np.diff(lives.id) > 0).all()
    assert set(timeline.edges.born_by) == {NO_CAUSE, Cause.RELAY, Cause.EXPLORATION}
    assert set(timeline.nodes.died_by) == {NO_CAUSE, Cause.ORPHAN}
    relay = int(np.flatnonzero(timeline.nodes.born_by == Cause.RELAY)[0])
    around = timeline.nodes.source[relay], timeline.nodes.target[relay]
    born, node = timeline.nodes.born[relay], timeline.nodes.id[relay]
    edges = timeline.edges.only(timeline.edges.born == born)
    assert (around[0], node) in set(zip(edges.source, edges.target, strict=True))
    assert (node, around[1]) in set(zip(edges.source, edges.target, strict=True))


def test_a_run_without_snapshots_still_has_a_timeline(run: Run) -> None:
    timeline = Timeline.of(replace(run.record, snapshots=Snapshots.start()))
    last = int(timeline.ends[-1])
    assert weights(timeline, last) == weights_of(run.final.graph)
    assert all(np.isfinite(timeline.frame(update).weight).all() for update in range(0, last, 50))


def test_time_is_counted_in_episodes(run: Run, timeline: Timeline) -> None:
    assert timeline.update_at(0) == 0
    assert timeline.update_at(2) == run.episodes.steps[:2].sum()
    assert timeline.times(timeline.ends).tolist() == list(range(31))


def test_nodes_have_places_of_their_own_inputs_left_and_outputs_right(
    run: Run, timeline: Timeline
) -> None:
    places = place_nodes(timeline)
    for update in range(0, int(timeline.ends[-1]) + 1, 25):
        alive = places[timeline.frame(update).nodes]
        assert len(np.unique(alive.round(6), axis=0)) == len(alive)
    x = places[:, 0]
    assert (x[:4] == 0).all()
    assert (x[4:6] == 1).all()
    assert ((x[6:] > 0.1) & (x[6:] < 0.9)).all()
    assert (place_nodes(Timeline.of(run.record)) == places).all()
    last = dict(zip(timeline.nodes.id.tolist(), map(tuple, places.tolist()), strict=True))
    assert {node: last[node] for node in run.graph.node_ids.tolist()} == layout(run.graph)


def test_the_hidden_nodes_of_an_mlp_stand_in_one_column(tmp_path: Path) -> None:
    run = trained(tmp_path, name=None, student="mlp-100", budget=60, episodes=2)
    assert set(place_nodes(Timeline.of(run.record))[:, 0]) == {0, 0.5, 1}


@pytest.mark.filterwarnings("ignore:Growth stopped")
def test_a_large_network_is_thinned_evenly_and_keeps_its_inputs(tmp_path: Path) -> None:
    large: dict[str, Any] = {"interval": 1, "max_relays": 200, "window": 2, "max_nodes": 2000}
    rules = {**GROWING, **large, "explore_ratio": 0.0001}
    run = trained(tmp_path, name=None, student="growth-only", episodes=6, plasticity=rules)
    whole = Timeline.of(run.record)
    thinned = whole.thinned()
    assert thinned.thinned().edges.n == thinned.edges.n  # a small network is drawn whole
    assert run.final.graph.n_nodes == 2000
    assert 200 < thinned.hidden.n <= MOST_NODES
    assert 0 < thinned.edges.most_at_once() <= MOST_EDGES
    assert thinned.nodes.id[:6].tolist() == list(range(6))
    ends = np.concatenate([thinned.edges.source, thinned.edges.target])
    assert np.isin(ends, thinned.nodes.id).all()
    last = int(whole.ends[-1])
    shown, all_weights = weights(thinned, last), weights_of(run.final.graph)
    assert shown == {id: all_weights[id] for id in shown}
