"""The look of networks in every picture, the drawing of a graph, and a graph of networkx.

Paper: Fig. 8.  The page and films take colors, widths and places from here.
"""

from collections.abc import Container, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from smgrnn.errors import needs
from smgrnn.graph.settings import NetworkConfig
from smgrnn.graph.state import Graph
from smgrnn.names import Names
from smgrnn.text import MINUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from networkx import DiGraph

OUTLINE = {
    "input": "#2ca02c",
    "unused input": "#cdd3da",
    "bias": "#8c564b",
    "hidden": "#7f7f7f",
    "output": "#d62728",
}
"""Color of the outline of a node by its kind; no edge leaves an unused input."""
POSITIVE, NEGATIVE = "#1f5fa8", "#d9822b"
NARROW = 0.5  # width of an edge without weight, in points
Positions = dict[int, tuple[float, float]]
LEFT, RIGHT = 0.14, 0.86  # where hidden nodes stand between inputs at 0 and outputs at 1
LONGEST_LAYER = 60  # hidden nodes beyond which a layer takes several columns
ROUNDS = 100  # rounds in which each hidden node moves to the middle of its neighbors
BEND = 0.1  # how far an edge bends to its left, as a fraction of its length
LARGEST_DRAWN = 300
"""Edges beyond which a notebook shows no drawing: it would be slow, and show nothing."""


def kinds(graph: Graph, n_biases: int = 0) -> list[str]:
    """Return the kind of each node, in the graph's order; the last inputs may be biases."""
    inputs = ["input"] * (graph.n_inputs - n_biases) + ["bias"] * n_biases
    return inputs + ["output"] * graph.n_outputs + ["hidden"] * graph.n_hidden


def drawn_kinds(graph: Graph, n_biases: int = 0) -> list[str]:
    """Return the kind of each node as it is drawn: inputs may be unused.

    >>> drawn_kinds(Graph.from_edges(3, 1, edges=[(0, 3, 0.5), (2, 3, 0.5)]), n_biases=1)
    ['input', 'unused input', 'bias', 'output']
    """
    found = kinds(graph, n_biases)
    for node in set(range(graph.n_inputs)) - set(graph.source.tolist()):
        found[node] = "unused input"
    return found


def line_widths(weights: Any, widest: float, largest: float | None = None) -> Any:
    """Return the widths of edges in points, by the logarithm of 1 + |weight|.

    >>> line_widths([0.0, 1.0, -3.0], widest=4.5).tolist()
    [0.5, 2.5, 4.5]
    """
    sizes = np.abs(weights)
    largest = largest or np.max(sizes, initial=0.0) or 1.0
    return NARROW + (widest - NARROW) * np.log1p(sizes) / np.log1p(largest)


def to_networkx(graph: Graph) -> "DiGraph[int]":
    """Return a DiGraph over stable node ids; nodes have a `kind`, edges an `id` and a `weight`."""
    with needs("to_networkx"):
        from networkx import DiGraph
    view: DiGraph[int] = DiGraph()
    for node, kind in zip(graph.node_ids.tolist(), kinds(graph), strict=True):
        view.add_node(node, kind=kind)
    for edge in graph.edges():
        view.add_edge(edge.source, edge.target, id=edge.id, weight=edge.weight)
    return view


def layout(graph: Graph) -> Positions:
    """Place inputs left, outputs right and hidden nodes in columns between, near their neighbors.

    Hidden nodes that no edges join are a layer, in one column.  Others move to the middle of their
    neighbors; then their order fills the columns, so that no two share a place.
    """
    n_fixed, n_hidden = graph.n_inputs + graph.n_outputs, graph.n_hidden
    places = np.full((graph.n_nodes, 2), 0.5)
    for rows, x in ((slice(graph.n_inputs), 0.0), (slice(graph.n_inputs, n_fixed), 1.0)):
        n = len(places[rows])
        places[rows] = np.stack([np.full(n, x), np.linspace(1, 0, n + 2)[1:-1]], axis=1)
    ends = np.concatenate([graph.source, graph.target])
    others = np.concatenate([graph.target, graph.source])
    degree = np.maximum(np.bincount(ends, minlength=graph.n_nodes), 1)[n_fixed:, None]
    for _ in range(ROUNDS if n_hidden else 0):
        sums = np.zeros_like(places)
        np.add.at(sums, ends, places[others])
        places[n_fixed:] = (places[n_fixed:] + sums[n_fixed:] / degree) / 2  # or pairs would swap
    is_layer = not ((graph.source >= n_fixed) & (graph.target >= n_fixed)).any()
    n_columns = max(1, round(np.sqrt(n_hidden / 1.3)))
    if is_layer and n_hidden <= LONGEST_LAYER:
        n_columns = 1
    from_left = n_fixed + np.argsort(places[n_fixed:, 0], kind="stable")
    for number, column in enumerate(np.array_split(from_left, n_columns)):
        from_top = column[np.argsort(-places[column, 1], kind="stable")]
        # Neighbouring columns are shifted, or edges would run through nodes of the same height.
        shift = 0.5 if n_columns == 1 else 0.25 if number % 2 else 0.75
        y = (np.arange(column.size)[::-1] + shift) / max(column.size, 1)
        x = LEFT + (RIGHT - LEFT) * (number + 0.5) / n_columns
        places[from_top] = np.stack([np.full(column.size, x), y], axis=1)
    found = zip(graph.node_ids.tolist(), places.tolist(), strict=True)
    return {node: (x, y) for node, (x, y) in found}


def draw(
    graph: Graph, ax: "Axes | None" = None, positions: Positions | None = None, n_biases: int = 0
) -> "Axes":
    """Draw nodes outlined by kind, and edges colored by sign, wider for larger weights.

    Inputs that no edge leaves are gray.  The last inputs may be biases.
    """
    from smgrnn.plotting import FancyArrowPatch

    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    positions = positions or layout(graph)
    places = np.array([positions[node] for node in graph.node_ids.tolist()])
    size, n = 12.0, len(places)  # the area of a node, in square points: the least one for many
    if n <= 333:  # no two touch in a small panel
        distances = np.linalg.norm(places[:, None] - places, axis=2)
        nearest = distances[~np.eye(n, dtype=np.bool_)].min()
        size = float(np.clip(min(4000 / n, 11_000 * nearest**2), 12, 320))
    widest = float(np.clip(12 / np.sqrt(max(graph.n_edges, 1)), 1.2, 4))
    for edge, width in zip(graph.edges(), line_widths(graph.weight, widest), strict=True):
        arrow = FancyArrowPatch(
            positions[edge.source],
            positions[edge.target],
            arrowstyle="-|>",
            connectionstyle=f"arc3,rad={-BEND}",
            mutation_scale=float(np.clip(size / 25, 3, 10)) + 1.5 * width,
            shrinkA=np.sqrt(size) / 2,
            shrinkB=np.sqrt(size) / 2,
            linewidth=width,
            color=POSITIVE if edge.weight >= 0 else NEGATIVE,
            alpha=0.75,
            zorder=1,
        )
        ax.add_patch(arrow)
    found = drawn_kinds(graph, n_biases)
    colors = [OUTLINE[kind] for kind in found]
    widths = [1.0 if kind == "hidden" else 2.0 for kind in found]
    x, y = places.T
    ax.scatter(x, y, s=size, c="white", edgecolors=colors, linewidths=widths, zorder=2)
    ax.margins(0.08)
    ax.set_axis_off()
    return ax


def legend_keys(drawn: Container[str]) -> "list[Line2D]":
    """Return the keys of a legend of the kinds of nodes that are drawn, and of the signs."""
    from smgrnn.plotting import Line2D

    dot: Any = {"linestyle": "", "marker": "o", "markerfacecolor": "white", "markeredgewidth": 1.5}
    outlines = {kind: color for kind, color in OUTLINE.items() if kind in drawn}
    keys = [Line2D([], [], label=kind, mec=color, **dot) for kind, color in outlines.items()]
    for sign, color in (("positive weight", POSITIVE), ("negative weight", NEGATIVE)):
        keys.append(Line2D([], [], label=sign, color=color, linewidth=2))
    return keys


def write_weights(ax: "Axes", graph: Graph, positions: Positions) -> None:
    """Write its weight on each edge of a drawing, nearer to its target, where edges cross less."""
    look: Any = {"ha": "center", "va": "center", "rotation_mode": "anchor", "fontsize": 10}
    look["bbox"] = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    ax.autoscale_view()  # or pixels would be those of an empty panel
    share, pixels = 0.66, ax.transData
    for edge in graph.edges():
        start, end = pixels.transform([positions[edge.source], positions[edge.target]])
        way = end - start
        place = start + share * way + 2 * share * (1 - share) * BEND * way[::-1] * (-1, 1)
        look["rotation"] = np.degrees(np.arctan(way[1] / way[0])) if way[0] else 90.0
        look["color"] = POSITIVE if edge.weight >= 0 else NEGATIVE
        x, y = pixels.inverted().transform(place)
        ax.text(x, y, f"{edge.weight:+.3g}".replace("-", MINUS), **look)


class NamedNetwork:
    """A network whose inputs and outputs can have names, and which a notebook shows."""

    config: NetworkConfig
    names: Names | None = None
    """Names of inputs and outputs, which pictures and exports show; see `name`."""

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        raise NotImplementedError

    def name(self, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        """Name the inputs and the outputs, for pictures, exports and saved files.

        >>> from smgrnn import Learner
        >>> learner = Learner(2, 2)
        >>> learner.name(inputs=["height", "speed"], outputs=["wait", "brake"])
        >>> learner.names.outputs
        ('wait', 'brake')
        """
        sizes = {"n_inputs": self.config.n_inputs, "n_outputs": self.config.n_outputs}
        self.names = Names.given(inputs, outputs, **sizes)

    def _repr_html_(self) -> str:
        return network_html(repr(self), self.graph, self.config.bias)


def network_html(title: str, graph: Graph, n_biases: int = 0) -> str:
    """Return the view of a network in a notebook: one line of facts with the drawing under it."""
    from smgrnn.plotting import Figure, save_figure

    picture = ""
    if graph.n_edges <= LARGEST_DRAWN:
        figure = Figure(figsize=(4.5, 3.2), layout="constrained")
        draw(graph, figure.subplots(), n_biases=n_biases)
        picture = save_figure(figure, "svg").decode()
        picture = picture[picture.index("<svg") :]
    return f"<div><code>{escape(title)}</code><br>{picture}</div>"
