"""The graph as networkx sees it, and its picture."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

from smgrnn import EditDraft, Graph
from smgrnn.graph import apply, draw, to_networkx
from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE, draw_svg, layout
from support.networks import SMALL


def test_the_networkx_view_has_kinds_ids_and_weights_by_stable_id() -> None:
    draft = EditDraft(SMALL)
    draft.remove_node(3)
    graph = apply(SMALL, draft.finish()).graph
    view = to_networkx(graph)
    kinds = {0: "input", 1: "input", 2: "output", 4: "hidden"}
    assert dict(view.nodes(data="kind")) == kinds
    assert {(u, v): data for u, v, data in view.edges(data=True)} == {
        (0, 2): {"id": 0, "weight": 0.5},
        (4, 2): {"id": 1, "weight": -1.0},
        (2, 4): {"id": 3, "weight": -0.125},
    }


def drawn(graph: Graph) -> Any:
    return draw(graph, Figure().subplots())


def test_outlines_are_green_for_inputs_red_for_outputs_and_grey_for_hidden_nodes() -> None:
    ax = drawn(SMALL)
    (nodes,) = ax.collections
    colours = [to_hex(colour) for colour in nodes.get_edgecolors()]
    kinds = ["input", "input", "output", "hidden", "hidden"]
    assert colours == [OUTLINE[kind] for kind in kinds]
    assert len(set(OUTLINE.values())) == 3
    red, green, _ = (int(OUTLINE["input"][k : k + 2], 16) for k in (1, 3, 5))
    assert green > red
    red, green, _ = (int(OUTLINE["output"][k : k + 2], 16) for k in (1, 3, 5))
    assert red > green
    widths = nodes.get_linewidths()
    assert min(widths[:3]) > max(widths[3:])


def test_edges_are_coloured_by_sign_and_grow_wider_with_their_weight() -> None:
    ax = drawn(SMALL)
    weights = [weight for _, _, weight in to_networkx(SMALL).edges(data="weight")]
    arrows = ax.patches
    assert len(arrows) == SMALL.n_edges
    for arrow, weight in zip(arrows, weights, strict=True):
        assert to_hex(arrow.get_edgecolor()) == (POSITIVE if weight > 0 else NEGATIVE)
    by_weight = sorted(zip(np.abs(weights), [a.get_linewidth() for a in arrows], strict=True))
    widths = [width for _, width in by_weight]
    assert widths == sorted(set(widths))


def test_inputs_stand_left_outputs_right_and_hidden_nodes_between() -> None:
    positions = layout(SMALL)
    assert positions.keys() == {0, 1, 2, 3, 4}
    assert {positions[node][0] for node in (0, 1)} == {0.0}
    assert positions[2][0] == 1.0
    assert all(0 < positions[node][0] < 1 for node in (3, 4))
    assert layout(SMALL) == positions


@pytest.mark.parametrize(("n_inputs", "n_outputs", "n_hidden"), [(4, 2, 14), (6, 3, 34), (8, 4, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_no_node_covers_another(n_inputs: int, n_outputs: int, n_hidden: int, seed: int) -> None:
    """In Fig. 8 a hidden node stood on an output, and the inputs of a small graph overlapped."""
    rng, n = np.random.default_rng(seed), n_inputs + n_outputs + n_hidden
    pairs = {tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(3 * n)}
    edges = [(u, v, 1.0) for u, v in pairs if v >= n_inputs]
    graph = Graph.from_edges(n_inputs, n_outputs, n_hidden, edges)
    figure = Figure(figsize=(2.2, 2.2))
    ax: Any = draw(graph, figure.add_axes((0.0, 0.0, 1.0, 1.0)))
    places = ax.transData.transform(np.array(list(layout(graph).values())))
    (nodes,) = ax.collections
    assert pdist(places).min() > np.sqrt(nodes.get_sizes()[0]) * figure.dpi / 72


def test_given_positions_are_used() -> None:
    positions = {node: (float(node), 2.0 * node) for node in range(5)}
    (nodes,) = draw(SMALL, Figure().subplots(), positions).collections
    assert np.array_equal(nodes.get_offsets(), list(positions.values()))


def test_a_drawing_goes_onto_the_given_axes_and_opens_no_figure() -> None:
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    ax = Figure().subplots()
    assert draw(SMALL, ax) is ax
    assert draw_svg(SMALL).startswith("<svg")
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges(1, 1),
        Graph.from_edges(1, 1, 1),
        Graph.from_edges(1, 1, edges=[(0, 1, 0.0)]),
    ],
    ids=["no edges", "a lone hidden node", "only a zero weight"],
)
def test_a_bare_graph_can_be_drawn(graph: Graph) -> None:
    assert len(drawn(graph).patches) == graph.n_edges


def test_a_large_graph_can_be_drawn() -> None:
    """networkx lays out 500 nodes and more with scipy, which was not a declared dependency."""
    positions = layout(Graph.from_edges(2, 2, 496, edges=[(0, 4, 0.1)]))
    assert len(positions) == 500


def test_one_graph_gives_one_picture_byte_for_byte() -> None:
    """SVG names its parts at random unless told how, and dates itself."""
    twin = Graph.from_edges(2, 1, 2, edges=[edge[1:] for edge in SMALL.edges()])
    picture = draw_svg(SMALL)
    assert draw_svg(twin) == picture
    assert "<dc:date>" not in picture
    assert draw_svg(Graph.from_edges(2, 1, 2)) != picture
