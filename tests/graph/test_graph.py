"""The graph: its start, its invariants and its edits by hand."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from smgrnn import EditDraft, Graph, GraphEdit, NetworkConfig
from smgrnn.errors import GraphError
from smgrnn.graph import Cause, Edge, Operation, apply, check, initial_graph
from support.networks import SMALL

ADD_NODE, ADD_EDGE, REMOVE_EDGE, REMOVE_NODE = Operation
CUSTOM = Cause.CUSTOM
COLUMNS = ("node_ids", "source", "target", "weight", "edge_ids")


def start(seed: int = 0, **settings: Any) -> Graph:
    return initial_graph(NetworkConfig(**settings), np.random.default_rng(seed))


def pairs(graph: Graph) -> set[tuple[int, int]]:
    return {(edge.source, edge.target) for edge in graph.edges()}


def table(*rows: tuple[int, ...], weight: float = 0.5) -> GraphEdit:
    """Return an edit of rows (operation, id, source, target), all caused by hand."""
    array = np.array([(row[0], CUSTOM, *row[1:]) for row in rows], dtype=np.int64)
    return GraphEdit(array, np.full(len(rows), weight))


# --- initial topology -----------------------------------------------------------------------------


def test_without_hidden_nodes_only_inputs_are_connected_to_outputs() -> None:
    graph = start(n_inputs=3, n_outputs=2, density=1.0)
    assert pairs(graph) == {(u, v) for u in range(3) for v in (3, 4)}


def test_with_hidden_nodes_every_pair_is_allowed_but_self_loops_and_edges_into_inputs() -> None:
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
    assert list(SMALL.edges()) == [
        Edge(0, 0, 2, 0.5),
        Edge(1, 4, 2, -1.0),
        Edge(2, 1, 3, 0.25),
        Edge(3, 2, 4, -0.125),
        Edge(4, 3, 4, 2.0),
    ]
    assert (SMALL.n_nodes, SMALL.n_hidden, SMALL.n_edges) == (5, 2, 5)


def test_a_graph_shows_its_sizes_and_not_its_arrays() -> None:
    assert str(SMALL) == "2 inputs, 2 hidden, 1 outputs, 5 edges"
    assert repr(SMALL) == "Graph(2 inputs, 2 hidden, 1 outputs, 5 edges)"


def test_graphs_are_equal_if_all_their_columns_and_numbers_are() -> None:
    def is_other(graph: Graph) -> bool:
        return not graph == SMALL  # noqa: SIM201

    twin = SMALL._replace(**{name: getattr(SMALL, name).copy() for name in COLUMNS})
    assert twin == SMALL
    assert str(SMALL) != SMALL
    for name in COLUMNS:
        changed = getattr(SMALL, name).copy()
        changed[-1] += 1
        assert is_other(SMALL._replace(**{name: changed}))
        assert is_other(SMALL._replace(**{name: changed[:-1]}))
    for name in ("n_inputs", "n_outputs", "next_node_id", "next_edge_id"):
        assert is_other(SMALL._replace(**{name: getattr(SMALL, name) + 1}))


def test_graphs_that_are_equal_are_not_unequal() -> None:
    twin = SMALL._replace(weight=SMALL.weight.copy())
    assert not (twin != SMALL)  # noqa: SIM202
    assert twin != SMALL._replace(weight=SMALL.weight + 1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            (1, 1, 0, [(0, 5, 1.0)]),
            "The edge 0 -> 5 of the graph ends in a node that does not exist; it has 2 nodes.",
        ),
        (
            (1, 1, 0, [(-1, 1, 1.0)]),
            "The edge -1 -> 1 of the graph ends in a node that does not exist; it has 2 nodes.",
        ),
        ((1, 1, 1, [(2, 2, 1.0)]), "The graph has an edge from a node to itself."),
        (
            (1, 1, 0, [(0, 1, 1.0), (0, 1, 2.0)]),
            "The graph has a duplicate edge or edges out of order.",
        ),
        ((1, 1, 0, [(0, 1, math.nan)]), "The graph has a weight that is not finite."),
        ((1, 1, 0, [(0, 1, math.inf)]), "The graph has a weight that is not finite."),
        ((0, 1, 0, []), "The graph needs at least one input and output."),
        ((1, 0, 0, []), "The graph needs at least one input and output."),
    ],
)
def test_from_edges_refuses_a_graph_that_breaks_an_invariant(
    arguments: tuple[int, int, int, list[tuple[int, int, float]]], sentence: str
) -> None:
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        Graph.from_edges(*arguments)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_inputs": 0}, "needs at least one input and output"),
        ({"n_outputs": 0}, "needs at least one input and output"),
        (
            {"node_ids": np.array([0, 2, 1, 3, 4])},
            "must start with its input and output nodes",
        ),
        ({"node_ids": np.array([0, 1])}, "must start with its input and output nodes"),
        ({"node_ids": np.array([0, 1, 2, 4, 3])}, "has node ids out of order"),
        ({"node_ids": np.array([0, 1, 2, 3, 3])}, "has node ids out of order"),
        ({"next_node_id": 4}, "would give a node id twice"),
        ({"source": SMALL.source[:-1]}, "has edge columns of unequal shape"),
        ({"weight": SMALL.weight[:-1]}, "has edge columns of unequal shape"),
        ({"edge_ids": SMALL.edge_ids[:-1]}, "has edge columns of unequal shape"),
        ({"source": SMALL.target}, "has an edge from a node to itself"),
        (
            {"source": SMALL.source[::-1].copy(), "target": SMALL.target[::-1].copy()},
            "has a duplicate edge or edges out of order",
        ),
        ({"edge_ids": np.array([0, 1, 2, 3, 3])}, "has an edge id twice"),
        ({"next_edge_id": 4}, "has an edge id that is negative or still to be given"),
        (
            {"edge_ids": np.array([-1, 0, 1, 2, 3])},
            "has an edge id that is negative or still to be given",
        ),
        ({"weight": np.array([0, 0, np.inf, 0, 0])}, "has a weight that is not finite"),
    ],
)
def test_check_names_the_broken_invariant(changes: dict[str, Any], sentence: str) -> None:
    check(SMALL)
    with pytest.raises(GraphError, match=f"^The graph {re.escape(sentence)}\\.$"):
        check(SMALL._replace(**changes))


@pytest.mark.parametrize("column", ["source", "target"])
@pytest.mark.parametrize("position", [-1, 5])
def test_check_names_an_edge_that_ends_nowhere(column: str, position: int) -> None:
    ends = getattr(SMALL, column).copy()
    ends[-1] = position
    with pytest.raises(GraphError, match=r"ends in a node that does not exist; it has 5 nodes\.$"):
        check(SMALL._replace(**{column: ends}))


def test_check_refuses_columns_that_are_not_flat() -> None:
    """Columns of one shape (n, 1) passed, and kernels read them as flat."""
    with pytest.raises(GraphError, match=r"^The graph has edge columns of unequal shape\.$"):
        check(SMALL._replace(**{name: getattr(SMALL, name)[:, None] for name in COLUMNS[1:]}))


# --- edits by hand --------------------------------------------------------------------------------


def test_an_edit_by_hand_gives_the_graph_worked_out_by_hand() -> None:
    draft = EditDraft(SMALL)
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


def test_ids_are_never_given_twice() -> None:
    graph = SMALL
    nodes, edges = set(graph.node_ids.tolist()), set(graph.edge_ids.tolist())
    for _ in range(4):
        draft = EditDraft(graph)
        draft.remove_node(int(graph.node_ids[-1]))
        node = draft.add_node()
        edge = draft.add_edge(0, node, 1.0)
        assert node not in nodes
        assert edge not in edges
        nodes.add(node)
        edges.add(edge)
        graph = apply(graph, draft.finish()).graph
    assert graph.node_ids.tolist() == [0, 1, 2, 3, 8]


def test_an_edge_may_be_replaced_by_one_between_the_same_nodes_with_a_new_id() -> None:
    draft = EditDraft(SMALL)
    draft.remove_edge(0)
    draft.add_edge(0, 2, 9.0)
    applied = apply(SMALL, draft.finish())
    assert next(applied.graph.edges()) == Edge(5, 0, 2, 9.0)
    assert applied.edge_origin.tolist() == [-1, 1, 2, 3, 4]


def test_applying_an_edit_leaves_the_former_graph_alone() -> None:
    before = list(SMALL.edges())
    draft = EditDraft(SMALL)
    draft.remove_node(4)
    draft.add_edge(0, 3, 1.0)
    apply(SMALL, draft.finish()).graph.weight[:] = 77
    assert list(SMALL.edges()) == before
    assert SMALL.node_ids.tolist() == [0, 1, 2, 3, 4]


def test_the_empty_edit_is_false_and_changes_nothing() -> None:
    edit = EditDraft(SMALL).finish()
    assert not edit
    assert repr(edit) == "GraphEdit(+nodes=0, +edges=0, -edges=0, -nodes=0)"
    assert list(apply(SMALL, edit).graph.edges()) == list(SMALL.edges())


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


def add_to_missing(draft: EditDraft) -> None:
    draft.add_edge(0, 9, 1.0)


def add_to_removed(draft: EditDraft) -> None:
    draft.remove_node(3)
    draft.add_edge(0, 3, 1.0)


def add_twice(draft: EditDraft) -> None:
    draft.add_edge(0, 3, 1.0)
    draft.add_edge(0, 3, 1.0)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (add_to_missing, "An edge is added at node 9, which does not exist."),
        (add_to_removed, "An edge is added at node 3, which does not exist."),
        (add_twice, "The graph has a duplicate edge or edges out of order."),
        (
            lambda draft: draft.add_edge(0, 2, 1.0),
            "The graph has a duplicate edge or edges out of order.",
        ),
        (lambda draft: draft.add_edge(3, 3, 1.0), "The graph has an edge from a node to itself."),
        (
            lambda draft: draft.add_edge(0, 3, math.nan),
            "The graph has a weight that is not finite.",
        ),
        (lambda draft: draft.remove_node(0), "Node 0 is not a hidden node of the graph."),
        (lambda draft: draft.remove_node(2), "Node 2 is not a hidden node of the graph."),
        (lambda draft: draft.remove_node(9), "Node 9 is not a hidden node of the graph."),
    ],
)
def test_a_draft_that_does_not_fit_is_refused_when_applied(
    act: Callable[[EditDraft], None], sentence: str
) -> None:
    draft = EditDraft(SMALL)
    act(draft)
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        apply(SMALL, draft.finish())


def test_a_draft_refuses_to_remove_an_edge_that_is_not_there_or_no_longer() -> None:
    draft = EditDraft(SMALL)
    draft.remove_edge(1)
    for edge in (1, 99):
        sentence = f"The graph has no edge with id {edge} left to remove."
        with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
            draft.remove_edge(edge)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (table((ADD_NODE, 4, -1, -1)), "New nodes must be numbered from 5 upwards."),
        (table((ADD_NODE, 6, -1, -1)), "New nodes must be numbered from 5 upwards."),
        (table((ADD_EDGE, 4, 0, 3)), "New edges must be numbered from 5 upwards."),
        (
            table((ADD_EDGE, 6, 0, 3), (ADD_EDGE, 5, 0, 4)),
            "New edges must be numbered from 5 upwards.",
        ),
        (table((REMOVE_EDGE, 0, 9, 2)), "An edge is removed at node 9, which does not exist."),
        (table((REMOVE_EDGE, 0, 1, 2)), "The graph has no edge 1 -> 2 to remove."),
        (table((REMOVE_EDGE, 1, 0, 2)), "The graph has no edge 0 -> 2 to remove."),
        (
            table((REMOVE_EDGE, 0, 0, 2), (REMOVE_EDGE, 0, 0, 2)),
            "An edit removes one edge twice.",
        ),
        (table((REMOVE_NODE, 3, -1, -1)), "A node is removed while an edge at it stays."),
        (
            table((REMOVE_EDGE, 2, 1, 3), (REMOVE_NODE, 3, -1, -1)),
            "A node is removed while an edge at it stays.",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused(edit: GraphEdit, sentence: str) -> None:
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        apply(SMALL, edit)


def test_a_table_with_an_unknown_operation_is_refused() -> None:
    """The kernel took operation 7 for a removal, found no such edge and dropped the last one."""
    with pytest.raises(GraphError, match=r"^An edit has an unknown operation 7\.$"):
        apply(SMALL, table((7, 0, -1, -1)))


def test_a_table_without_a_weight_for_each_row_is_refused() -> None:
    """The kernel read past the end of the weights."""
    sentence = "An edit needs five numbers and a weight per change. Got (1, 5) and (0,) instead."
    with pytest.raises(GraphError, match=f"^{re.escape(sentence)}$"):
        apply(SMALL, table((ADD_EDGE, 5, 0, 3))._replace(weight=np.empty(0)))


def test_a_node_cannot_be_removed_twice() -> None:
    """The second removal did nothing, but the edit counted it."""
    rows = (REMOVE_EDGE, 2, 1, 3), (REMOVE_EDGE, 4, 3, 4), *2 * [(REMOVE_NODE, 3, -1, -1)]
    with pytest.raises(GraphError, match=r"^An edit removes one node twice\.$"):
        apply(SMALL, table(*rows))
