"""Fig. 1, data flow: how the network, the plasticity module and the optimizer work together."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from smgrnn.graph import draw
from smgrnn.graph.drawing import Positions
from smgrnn.graph.state import Graph
from smgrnn_paper.report.figures.style import GREY, Records, add_note, new_figure, styled

STRUCTURE, WEIGHTS = "#0072b2", "#d55e00"
"""Colours of the parts that change the graph, and of those that change its weights."""
SIZE = (100.0, 60.0)
"""Width and height of the drawing, in its own units."""

EDGES = [(0, 2, 0.9), (0, 3, -0.4), (1, 3, 0.8), (1, 4, 0.5), (4, 2, -0.6), (2, 4, 0.3)]
NEW_EDGES = [(0, 5, 0.2), (5, 3, 0.2)]
POSITIONS: Positions = {
    0: (0.0, 0.75),
    1: (0.0, 0.25),
    2: (1.0, 0.75),
    3: (1.0, 0.25),
    4: (0.55, 0.02),
    5: (0.5, 0.97),
}

Point = tuple[float, float]


@styled
def draw_data_flow(_: Records) -> Figure:
    """Draw the loop from an observation to the next graph; it needs no runs."""
    figure, body = new_figure(4.7)
    ax = body.subplots()
    ax.set(xlim=(0, SIZE[0]), ylim=(0, SIZE[1]))
    ax.set_axis_off()
    _zone(ax, 0, 34, "structure: local statistics only", STRUCTURE)
    _zone(ax, 68, 32, "weights: gradient of the loss", WEIGHTS)
    _boxes(ax)
    _arrows(ax)
    _graph(ax, (39, 14, 24, 25), "graph $G_t$", Graph.from_edges(2, 2, 1, EDGES))
    edited = Graph.from_edges(2, 2, 2, EDGES + NEW_EDGES)
    _graph(ax, (4, 31.5, 26, 19), "edited graph $G^*$", edited)
    add_note(
        figure,
        "Blue: the plasticity module reads each edge's weight and recent updates, and edits the",
        "graph. Orange: the optimizer changes the weights, and never the graph.",
    )
    return figure


def _boxes(ax: Axes) -> None:
    _box(ax, (39, 50, 24, 8), "environment", GREY)
    _box(ax, (38, 14, 26, 29), "", GREY)
    _box(ax, (72, 44, 24, 8), "expert $\\pi_E$, frozen", WEIGHTS)
    _box(ax, (72, 25, 24, 10), "loss $L_t$", WEIGHTS)
    _box(ax, (72, 3, 24, 11), "optimizer (Adam)", WEIGHTS)
    _box(ax, (3, 31.5, 28, 22), "", STRUCTURE)
    rules = "plasticity module\ngrow: relays, random edges\nprune: weak edges, orphans"
    _box(ax, (3, 15, 28, 12), rules, STRUCTURE)
    _box(ax, (3, 2, 28, 8.5), "update history: the last $T$\n$\\Delta w$ of each edge", STRUCTURE)


def _arrows(ax: Axes) -> None:
    _arrow(ax, (49, 50), (49, 43.2), "$s_t$", (46.5, 46.7))
    _arrow(ax, (53, 43), (53, 49.8), "$\\hat{a}_t$", (55.5, 46.7))
    _arrow(ax, (63, 54), (84, 52.2), "$s_t$", (66, 55.3), bend="angle,angleA=0,angleB=90,rad=4")
    _arrow(ax, (64, 30), (71.8, 30), "$\\hat{a}_t$", (66.2, 32))
    _arrow(ax, (84, 44), (84, 35.2), "label $a_t^E$", (90, 39.7))
    _arrow(ax, (84, 25), (84, 14.2), "gradient through\n$K$ iterations", (92, 19.7))
    _arrow(ax, (72, 11), (64.2, 19), "new\nweights", (71, 19), bend="arc3,rad=-0.1")
    _arrow(ax, (72, 6), (31.2, 6), "updates $\\Delta w$", (51, 8))
    _arrow(ax, (17, 10.5), (17, 14.8), "$\\mu, \\sigma$", (20.5, 12.7))
    _arrow(ax, (38, 21), (31.2, 21), "$w$", (36, 22.7))
    _arrow(ax, (17, 27), (17, 31.3), "edit", (20.5, 29.1))
    _arrow(ax, (31, 38), (37.8, 38), "next\nstep", (36, 41.7))


def _zone(ax: Axes, left: float, width: float, text: str, colour: str) -> None:
    """Shade a part of the drawing and name it."""
    style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=2", "linewidth": 0}
    ax.add_patch(
        FancyBboxPatch((left, 0), width, 58, facecolor=colour, alpha=0.08, zorder=0, **style)
    )
    ax.text(left + width / 2, 56.8, text, color=colour, ha="center", va="top", fontsize=8.5)


def _box(ax: Axes, place: tuple[float, float, float, float], text: str, colour: str) -> None:
    left, bottom, width, height = place
    style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=1.2", "linewidth": 1.2}
    ax.add_patch(
        FancyBboxPatch(
            (left, bottom), width, height, facecolor="white", edgecolor=colour, zorder=2, **style
        )
    )
    ax.text(left + width / 2, bottom + height / 2, text, ha="center", va="center", fontsize=8.5)


def _arrow(
    ax: Axes, start: Point, end: Point, text: str, at: Point, bend: str = "arc3,rad=0"
) -> None:
    arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 1, "connectionstyle": bend}
    ax.annotate("", end, start, arrowprops=arrow | {"shrinkA": 0, "shrinkB": 0}, zorder=3)
    ax.text(*at, text, ha="center", va="center", fontsize=8)


def _graph(ax: Axes, place: tuple[float, float, float, float], text: str, graph: Graph) -> None:
    """Draw a graph with its name above it."""
    left, bottom, width, height = place
    ax.text(left + width / 2, bottom + height, text, ha="center", fontweight="bold")
    inset = ax.inset_axes(place, transform=ax.transData)
    draw(graph, inset, {node: POSITIONS[node] for node in graph.node_ids.tolist()})
    inset.set(xlim=(-0.15, 1.15), ylim=(-0.2, 1.2))
