"""Fig. 2, relay insertion: a relay beside an unstable edge, decided and applied by the rules."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from smgrnn.plasticity import UpdateHistory, decide_by

from smgrnn.config import PlasticityConfig
from smgrnn.graph import apply, draw
from smgrnn.graph.state import Graph
from smgrnn_paper.report.figures import style

POSITIONS = {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (0.5, 0.62)}
NAMES = {0: "$i$", 1: "$j$", 2: "$h$"}
WINDOW = 10


@style.styled
def draw_relay_insertion(_: style.Records) -> Figure:
    """Draw one input and one output before and after the edit; it needs no runs."""
    figure, body = style.new_figure(2.6)
    before = Graph.from_edges(1, 1, edges=[(0, 1, 0.8)])
    left, right = body.subplots(1, 2)
    _draw_graph(left, before)
    _draw_graph(right, with_relay(before))
    left.text(0.5, -0.14, "unstable", color=style.GREY, fontsize=8, ha="center", va="top")
    right.text(0.5, -0.14, "kept", color=style.GREY, fontsize=8, ha="center", va="top")
    right.text(0.5, 0.85, "relay, with small weights", color=style.GREY, fontsize=8, ha="center")
    style.name_panel(left, 0, "An edge whose direction never settles")
    style.name_panel(right, 1, "After inserting a relay")
    style.add_note(
        figure,
        f"Decided by the rules from {WINDOW} updates of alternating sign, by Eqs. (1) to (4), and",
        "applied to the graph. Wide: large weight; blue: positive, orange: negative.",
    )
    return figure


def with_relay(graph: Graph) -> Graph:
    """Return the graph after a call of the rules that found its only edge unstable."""
    config = PlasticityConfig(
        window=WINDOW, scale="update", growth="relay-alone", initial_weight=0.1, interval=1
    )
    history = UpdateHistory.start(graph.n_edges, WINDOW)
    for sign in (1, -1) * (WINDOW // 2):
        history.push(np.array([sign * 0.05]))
    edit, _ = decide_by(config, graph, history, 1, np.random.default_rng(3))
    return apply(graph, edit).graph


def _draw_graph(ax: Axes, graph: Graph) -> None:
    nodes = graph.node_ids.tolist()
    draw(graph, ax, positions={node: POSITIONS[node] for node in nodes})
    for node in nodes:
        ax.annotate(NAMES[node], POSITIONS[node], ha="center", va="center", fontsize=9)
    ax.set(xlim=(-0.2, 1.2), ylim=(-0.3, 1.0))
