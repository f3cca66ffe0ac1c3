"""The graph as a networkx graph, and drawn in the paper's style.  Paper: Fig. 8."""

import io
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.state import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OUTLINE = {"input": "#2ca02c", "output": "#d62728", "hidden": "#7f7f7f"}
POSITIVE, NEGATIVE = "#1f5fa8", "#d9822b"
Positions = dict[int, tuple[float, float]]
BOX = ((0.12, 0.0), (0.88, 1.0))
"""The corners between which hidden nodes stand."""
APART = 0.7
"""Least distance of two nodes, times the root of how many there are: what a small panel needs."""
PUSHES = 300
"""Most rounds in which nodes that are too close push each other away."""
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def to_networkx(graph: Graph) -> "nx.DiGraph[int]":
    """Return a DiGraph over stable node ids; nodes have a `kind`, edges an `id` and a `weight`."""
    view: nx.DiGraph[int] = nx.DiGraph()
    kinds = ["input"] * graph.n_inputs + ["output"] * graph.n_outputs + ["hidden"] * graph.n_hidden
    for node, kind in zip(graph.node_ids.tolist(), kinds, strict=True):
        view.add_node(node, kind=kind)
    for edge in graph.edges():
        view.add_edge(edge.source, edge.target, id=edge.id, weight=edge.weight)
    return view


def layout(graph: Graph) -> Positions:
    """Place inputs left, outputs right and hidden nodes where their edges pull them."""
    inputs, outputs, hidden = np.split(
        graph.node_ids, [graph.n_inputs, graph.n_inputs + graph.n_outputs]
    )
    positions: Positions = {}
    for nodes, x in ((inputs, 0.0), (outputs, 1.0)):
        heights = np.linspace(1, 0, nodes.size + 2)[1:-1]
        positions.update({int(n): (x, float(y)) for n, y in zip(nodes, heights, strict=True)})
    if hidden.size == 0:
        return positions
    rng = np.random.default_rng(0)  # of the starting guess only: one graph, one picture
    guess = rng.uniform((0.25, 0.05), (0.75, 0.95), (hidden.size, 2))
    start = positions | {
        int(n): (float(x), float(y)) for n, (x, y) in zip(hidden, guess, strict=True)
    }
    placed = nx.spring_layout(
        to_networkx(graph).to_undirected(),
        pos=start,
        fixed=list(positions),
        weight=None,
        k=1.4 / np.sqrt(graph.n_nodes),
        iterations=100,
        seed=0,
    )
    free = np.array([placed[node] for node in hidden.tolist()])
    for axis, (low, high) in enumerate(zip(*BOX, strict=True)):
        least, most = min(free[:, axis].min(), low), max(free[:, axis].max(), high)
        free[:, axis] = np.interp(
            free[:, axis], (least, most), (low, high)
        )  # shrink, never stretch
    free = _push_apart(free, np.array(list(positions.values())), APART / np.sqrt(graph.n_nodes))
    return positions | {
        int(n): (float(x), float(y)) for n, (x, y) in zip(hidden, free, strict=True)
    }


def _push_apart(free: Floats, fixed: Floats, distance: float) -> Floats:
    """Return places in the box (n, 2), moved as little as it takes to be apart from all others."""
    from scipy.spatial import KDTree

    n = len(free)
    angle = np.arange(n) * GOLDEN_ANGLE  # or two on one place would have no way to part
    free = free + 1e-3 * distance * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for _ in range(PUSHES):
        places = np.concatenate([free, fixed])
        pairs = KDTree(places).query_pairs(distance, output_type="ndarray")
        pairs = pairs[(pairs < n).any(axis=1)]
        if not pairs.size:
            break
        way = places[pairs[:, 0]] - places[pairs[:, 1]]
        length = np.linalg.norm(way, axis=1, keepdims=True)
        push = way / length * (1.02 * distance - length) / 2
        moves = np.zeros_like(places)
        np.add.at(moves, pairs[:, 0], push)
        np.add.at(moves, pairs[:, 1], -push)
        free = np.clip(free + moves[:n], *BOX)
    return free


def draw(graph: Graph, ax: "Axes | None" = None, positions: Positions | None = None) -> "Axes":
    """Draw inputs outlined green, outputs red; edges coloured by sign, with a width by weight."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    view = to_networkx(graph)
    positions = positions or layout(graph)
    size = _node_size(np.array([positions[node] for node in view]))
    weights = np.array([weight for _, _, weight in view.edges(data="weight")])
    largest = np.abs(weights).max(initial=0.0) or 1.0
    nx.draw_networkx_edges(
        view,
        positions,
        ax=ax,
        width=list(0.4 + 2.6 * np.abs(weights) / largest),
        edge_color=[POSITIVE if weight >= 0 else NEGATIVE for weight in weights],
        alpha=0.75,
        arrowsize=float(np.clip(size / 25, 3, 10)),
        node_size=size,
        connectionstyle="arc3,rad=0.08",
    )
    nx.draw_networkx_nodes(
        view,
        positions,
        ax=ax,
        node_size=size,
        node_color="white",
        edgecolors=[OUTLINE[kind] for _, kind in view.nodes(data="kind")],
        linewidths=[1.0 if kind == "hidden" else 2.0 for _, kind in view.nodes(data="kind")],
    )
    ax.margins(0.08)
    ax.set_axis_off()
    return ax


def _node_size(places: Floats) -> float:
    """Return the area of a node, in square points, at which no two touch in a small panel."""
    from scipy.spatial import KDTree

    nearest = KDTree(places).query(places, k=2)[0][:, 1].min()
    return float(np.clip(min(4000 / len(places), 11_000 * nearest**2), 12, 320))


def draw_svg(graph: Graph, **savefig: Any) -> str:
    """Return the drawing as an SVG element, without leaving a figure open."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3.2), layout="constrained")
    draw(graph, figure.subplots())
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "smgrnn"}):  # or the same picture would differ each time
        figure.savefig(buffer, format="svg", metadata={"Date": None}, **savefig)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
