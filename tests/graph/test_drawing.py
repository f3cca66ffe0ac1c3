"""The graph as networkx sees it, and its picture."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from smgrnn import Graph
from smgrnn.graph import EditDraft, apply, draw, to_networkx
from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE, layout, network_html
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


def test_outlines_tell_kinds_and_edges_the_sign_and_size_of_their_weights() -> None:
    ax: Any = draw(SMALL, Figure().subplots())
    (nodes,) = ax.collections
    kinds = ["input", "input", "output", "hidden", "hidden"]
    assert [to_hex(colour) for colour in nodes.get_edgecolors()] == [OUTLINE[k] for k in kinds]
    widths = nodes.get_linewidths()
    assert min(widths[:3]) > max(widths[3:])
    weights = [edge.weight for edge in SMALL.edges()]
    for arrow, weight in zip(ax.patches, weights, strict=True):
        assert to_hex(arrow.get_edgecolor()) == (POSITIVE if weight > 0 else NEGATIVE)
    by_weight = sorted(zip(np.abs(weights), [a.get_linewidth() for a in ax.patches], strict=True))
    widths = [width for _, width in by_weight]
    assert widths == sorted(set(widths))


def test_unused_inputs_are_gray_biases_have_a_color_and_one_large_weight_hides_no_other() -> None:
    graph = Graph.from_edges(3, 1, edges=[(0, 3, 100.0), (2, 3, 1.0)])
    ax: Any = draw(graph, Figure().subplots(), n_biases=1)
    kinds = ["input", "unused input", "bias", "output"]
    found = [to_hex(colour) for colour in ax.collections[0].get_edgecolors()]
    assert found == [OUTLINE[kind] for kind in kinds]
    large, small = (arrow.get_linewidth() for arrow in ax.patches)
    assert large / 4 < small < large / 2


def test_inputs_stand_left_outputs_right_and_hidden_nodes_between_by_depth() -> None:
    """A chain from an input over three hidden nodes to an output is drawn from left to right."""
    chain = Graph.from_edges(1, 1, 3, [(0, 3, 1.0), (3, 4, 1.0), (4, 2, 1.0), (2, 1, 1.0)])
    x = {node: place[0] for node, place in layout(chain).items()}
    assert (x[0], x[1]) == (0.0, 1.0)
    assert 0 < x[3] <= x[4] <= x[2] < 1
    assert x[3] < x[2]
    assert layout(chain) == layout(chain)


@pytest.mark.parametrize(
    ("n_inputs", "n_outputs", "n_hidden"),
    [(1, 1, 1), (4, 2, 14), (6, 3, 34), (8, 4, 3), (2, 2, 80)],
)
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
    distances = np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(n, 1)]
    (nodes,) = ax.collections
    assert distances.min() > np.sqrt(nodes.get_sizes()[0]) * figure.dpi / 72


def test_given_positions_and_axes_are_used_and_no_figure_is_opened() -> None:
    import matplotlib.pyplot as plt

    before, ax = plt.get_fignums(), Figure().subplots()
    positions = {node: (float(node), 2.0 * node) for node in range(5)}
    assert draw(SMALL, ax, positions) is ax
    assert np.array_equal(ax.collections[0].get_offsets(), list(positions.values()))
    assert "<svg" in network_html("", SMALL)
    assert plt.get_fignums() == before


def test_every_graph_can_be_drawn() -> None:
    """A lone hidden node, a zero weight, 500 nodes."""
    for n_hidden, edges in ((1, []), (0, [(0, 1, 0.0)]), (498, [(0, 4, 0.1)])):
        graph = Graph.from_edges(1, 1, n_hidden, edges)
        assert len(draw(graph, Figure().subplots()).patches) == graph.n_edges


def test_one_graph_gives_one_picture_byte_for_byte() -> None:
    """SVG names its parts at random unless told how, and dates itself."""
    twin = Graph.from_edges(2, 1, 2, edges=[edge[1:] for edge in SMALL.edges()])
    picture = network_html("", SMALL)
    assert network_html("", twin) == picture
    assert "<dc:date>" not in picture
    assert network_html("", Graph.from_edges(2, 1, 2)) != picture
