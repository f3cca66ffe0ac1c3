"""The graph: its start, its invariants and its edits by hand."""

import re
from typing import Any

import numpy as np
import pytest

from smgrnn import Graph, GraphEdit
from smgrnn.errors import GraphError
from smgrnn.graph import Cause, Edge, EditDraft, Operation, apply, check, initial_graph
from support.flat import network_config
from support.networks import SMALL

ADD_NODE, ADD_EDGE, REMOVE_EDGE, REMOVE_NODE = Operation
CUSTOM = Cause.CUSTOM
COLUMNS = ("node_ids", "source", "target", "weight", "edge_ids")
WITHOUT_3 = (REMOVE_EDGE, 2, 1, 3), (REMOVE_EDGE, 4, 3, 4), (REMOVE_NODE, 3, -1, -1)
"""Rows that remove node 3 of SMALL."""


def start(seed: int = 0, **settings: Any) -> Graph:
    return initial_graph(network_config(**settings), np.random.default_rng(seed))


def pairs(graph: Graph) -> set[tuple[int, int]]:
    return {(edge.source, edge.target) for edge in graph.edges()}


def table(*rows: tuple[int, ...]) -> GraphEdit:
    """Return an edit of rows (operation, id, source, target), all caused by hand."""
    array = np.array([(row[0], CUSTOM, *row[1:]) for row in rows], dtype=np.int64)
    return GraphEdit(array, np.full(len(rows), 0.5))


# --- initial topology -----------------------------------------------------------------------------


def test_inputs_are_connected_to_outputs_and_hidden_nodes_to_all_but_inputs() -> None:
    graph = start(n_inputs=3, n_outputs=2, density=1.0)
    assert pairs(graph) == {(u, v) for u in range(3) for v in (3, 4)}
    graph = start(n_inputs=2, n_outputs=2, n_hidden=2, density=1.0)
    assert pairs(graph) == {(u, v) for u in range(6) for v in range(2, 6) if u != v}


@pytest.mark.parametrize(
    ("settings", "n_edges"),
    [
        ({"n_inputs": 4, "n_outputs": 2}, 6),  # 0.8 · 8 = 6.4
        ({"n_inputs": 8, "n_outputs": 4}, 26),  # 0.8 · 32 = 25.6
        ({"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "density": 0.5}, 18),  # 5 · 7 = 35 pairs
        ({"n_inputs": 5, "n_outputs": 5, "density": 0.001}, 1),  # at least one
    ],
)
def test_the_density_is_the_share_of_allowed_pairs(
    settings: dict[str, float], n_edges: int
) -> None:
    for seed in range(5):
        assert start(seed, **settings).n_edges == n_edges


def test_every_allowed_pair_is_equally_likely() -> None:
    counts = np.zeros((5, 5))
    for seed in range(400):
        for source, target in pairs(start(seed, n_inputs=3, n_outputs=2, density=0.5)):
            counts[source, target] += 1
    assert counts[:3, 3:].sum() == 400 * 3
    assert np.abs(counts[:3, 3:] - 200).max() < 4 * 10  # four standard deviations


def test_initial_weights_are_gaussian_of_the_given_deviation() -> None:
    weight = start(n_inputs=50, n_outputs=50, density=1.0, weight_std=0.3).weight
    assert abs(weight.mean()) < 4 * 0.3 / 50
    assert weight.std() == pytest.approx(0.3, rel=0.06)
    assert not start(n_inputs=5, n_outputs=5, weight_std=0.0).weight.any()


# --- invariants -----------------------------------------------------------------------------------


def test_nodes_and_edges_are_numbered_in_row_order() -> None:
    ends = [(0, 2, 0.5), (4, 2, -1.0), (1, 3, 0.25), (2, 4, -0.125), (3, 4, 2.0)]
    assert list(SMALL.edges()) == [Edge(number, *end) for number, end in enumerate(ends)]
    assert (SMALL.n_nodes, SMALL.n_hidden, SMALL.n_edges) == (5, 2, 5)
    assert repr(SMALL) == "Graph(2 inputs, 2 hidden, 1 outputs, 5 edges)"


def test_graphs_are_equal_if_all_their_columns_and_numbers_are() -> None:
    twin = SMALL._replace(**{name: getattr(SMALL, name).copy() for name in COLUMNS})
    assert twin == SMALL
    assert not (twin != SMALL)  # noqa: SIM202
    assert str(SMALL) != SMALL
    for name in COLUMNS:
        changed = getattr(SMALL, name).copy()
        changed[-1] += 1
        for other in (changed, changed[:-1]):
            assert not SMALL._replace(**{name: other}) == SMALL  # noqa: SIM201
    for name in ("n_inputs", "n_outputs", "next_node_id", "next_edge_id"):
        assert SMALL._replace(**{name: getattr(SMALL, name) + 1}) != SMALL


NOWHERE = "The edge {} of the graph ends in a node that does not exist; it has {} nodes."
ORDER = "The graph has a duplicate edge or edges out of order."
NOT_FINITE = "The graph has a weight that is not finite."
TO_ITSELF = "The graph has an edge from a node to itself."


def ending(column: str, position: int) -> dict[str, Any]:
    return {column: np.append(getattr(SMALL, column)[:-1], position)}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_inputs": 0}, "needs at least one input and output"),
        ({"node_ids": np.array([0, 2, 1, 3, 4])}, "must start with its input and output nodes"),
        ({"node_ids": np.array([0, 1])}, "must start with its input and output nodes"),
        ({"node_ids": np.array([0, 1, 2, 3, 3])}, "has node ids out of order"),
        ({"next_node_id": 4}, "would give a node id twice"),
        ({"source": SMALL.source[:-1]}, "has edge columns of unequal shape"),
        # Columns of one shape (n, 1) passed, and kernels read them as flat.
        (
            {name: getattr(SMALL, name)[:, None] for name in COLUMNS[1:]},
            "has edge columns of unequal shape",
        ),
        (ending("source", -1), NOWHERE.format("-1 -> 4", 5)),
        (ending("target", 5), NOWHERE.format("3 -> 5", 5)),
        ({"source": SMALL.target}, TO_ITSELF),
        ({"source": SMALL.source[::-1].copy(), "target": SMALL.target[::-1].copy()}, ORDER),
        ({"edge_ids": np.array([0, 1, 2, 3, 3])}, "has an edge id twice"),
        ({"next_edge_id": 4}, "has an edge id that is negative or still to be given"),
        (ending("edge_ids", -1), "has an edge id that is negative or still to be given"),
        (ending("weight", np.inf), NOT_FINITE),  # type: ignore[arg-type]
    ],
)
def test_check_names_the_broken_invariant(changes: dict[str, Any], sentence: str) -> None:
    check(SMALL)
    with pytest.raises(GraphError, match=re.escape(sentence)):
        check(SMALL._replace(**changes))


def test_from_edges_refuses_a_graph_that_breaks_an_invariant() -> None:
    with pytest.raises(GraphError, match=f"^{re.escape(NOWHERE.format('0 -> 5', 2))}$"):
        Graph.from_edges(1, 1, 0, [(0, 5, 1.0)])
    with pytest.raises(GraphError, match=r"^An edge joins numbered nodes\. Got 0\.5 -> 1\.$"):
        Graph.from_edges(1, 1, 0, [(0.5, 1, 1.0)])  # type: ignore[list-item]


# --- edits by hand --------------------------------------------------------------------------------


def test_an_edit_by_hand_gives_the_graph_worked_out_by_hand() -> None:
    before, draft = list(SMALL.edges()), EditDraft(SMALL)
    empty = draft.finish()
    assert not empty
    assert apply(SMALL, empty).graph == SMALL
    draft.remove_edge(1)
    node = draft.add_node()
    first, second = draft.add_edge(1, node, 0.75), draft.add_edge(node, 2, -0.5)
    third = draft.add_edge(1, 2, 0.1)
    assert (node, first, second, third) == (5, 5, 6, 7)
    applied = apply(SMALL, draft.finish())
    assert list(applied.graph.edges()) == [
        Edge(0, 0, 2, 0.5),
        Edge(7, 1, 2, 0.1),
        Edge(6, 5, 2, -0.5),
        Edge(2, 1, 3, 0.25),
        Edge(3, 2, 4, -0.125),
        Edge(4, 3, 4, 2.0),
        Edge(5, 1, 5, 0.75),
    ]
    assert applied.edge_origin.tolist() == [0, -1, -1, 2, 3, 4, -1]
    assert applied.node_origin.tolist() == [0, 1, 2, 3, 4, -1]
    assert (applied.graph.next_node_id, applied.graph.next_edge_id) == (6, 8)
    applied.graph.weight[:] = 77  # of a copy
    assert list(SMALL.edges()) == before


def test_removing_a_node_moves_later_nodes_up_and_keeps_their_ids() -> None:
    draft = EditDraft(SMALL)
    draft.remove_node(3)
    edit = draft.finish()
    applied = apply(SMALL, edit)
    assert applied.graph.node_ids.tolist() == [0, 1, 2, 4]
    assert applied.node_origin.tolist() == [0, 1, 2, 4]
    assert applied.edge_origin.tolist() == [0, 1, 3]
    assert [edge.id for edge in applied.graph.edges()] == [0, 1, 3]
    assert applied.graph.source.tolist() == [0, 3, 2]
    assert edit.count(REMOVE_EDGE) == 2
    assert edit.count(REMOVE_NODE) == 1


def test_an_edit_tells_its_changes_in_the_order_they_were_decided() -> None:
    draft = EditDraft(SMALL)
    node = draft.add_node()
    draft.add_edge(0, node, 0.5)
    draft.remove_edge(1)
    edit = draft.finish()
    assert list(edit.changes()) == [
        (ADD_NODE, CUSTOM, 5, -1, -1, 0.0),
        (ADD_EDGE, CUSTOM, 5, 0, 5, 0.5),
        (REMOVE_EDGE, CUSTOM, 1, 4, 2, -1.0),
    ]
    assert edit.count(ADD_EDGE, CUSTOM) == 1
    assert edit.count(ADD_EDGE, Cause.RELAY) == 0
    assert repr(edit) == "GraphEdit(+nodes=1, +edges=1, -edges=1, -nodes=0)"
    for edge in (1, 99):
        with pytest.raises(GraphError, match=f"^The graph has no edge with id {edge} left to remo"):
            draft.remove_edge(edge)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([(ADD_NODE, 4, -1, -1)], "New nodes must be numbered from 5 upwards."),
        ([(ADD_EDGE, 4, 0, 3)], "New edges must be numbered from 5 upwards."),
        ([(ADD_EDGE, 6, 0, 3), (ADD_EDGE, 5, 0, 4)], "New edges must be numbered from 5 upwards."),
        ([(ADD_EDGE, 5, 0, 9)], "An edge is added at node 9, which does not exist."),
        ([*WITHOUT_3, (ADD_EDGE, 5, 0, 3)], "An edge is added at node 3, which does not exist."),
        ([(ADD_EDGE, 5, 0, 3), (ADD_EDGE, 6, 0, 3)], ORDER),
        ([(ADD_EDGE, 5, 0, 2)], "The edge 0 -> 2 is added, but exists already."),
        ([(ADD_EDGE, 5, 3, 3)], TO_ITSELF),
        ([(REMOVE_EDGE, 0, 9, 2)], "The graph has no edge 9 -> 2 to remove."),
        ([(REMOVE_EDGE, 1, 0, 2)], "The graph has no edge 0 -> 2 to remove."),
        (2 * [(REMOVE_EDGE, 0, 0, 2)], "The graph has no edge 0 -> 2 to remove."),
        ([(REMOVE_NODE, 2, -1, -1)], "Node 2 is not a hidden node of the graph."),
        # The second removal did nothing, but the edit counted it.
        ([*WITHOUT_3, WITHOUT_3[-1]], "Node 3 is not a hidden node of the graph."),
        ([WITHOUT_3[0], WITHOUT_3[-1]], "A node is removed while an edge at it stays."),
        # The kernel took operation 7 for a removal, found no such edge and dropped the last one.
        ([(7, 0, -1, -1)], "An edit has an unknown operation 7."),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(rows: list[tuple[int, ...]], sentence: str) -> None:
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        apply(SMALL, table(*rows))


def test_an_edit_needs_a_finite_weight_for_each_row() -> None:
    """The kernel read past the end of the weights."""
    edit = table((ADD_EDGE, 5, 0, 3))
    with pytest.raises(GraphError, match=f"^{re.escape(NOT_FINITE)}$"):
        apply(SMALL, edit._replace(weight=np.array([np.nan])))
    sentence = "An edit needs five numbers and a weight per change. Got (1, 5) and (0,) instead."
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        apply(SMALL, edit._replace(weight=np.empty(0)))
