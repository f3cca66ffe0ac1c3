"""Figs. 1, 2 and 8: the data flow, the insertion of a relay, and final networks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch

from smgrnn.graph import apply, draw
from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE
from smgrnn.graph.state import Graph
from smgrnn.pages import figure as fig
from smgrnn.rules import PlasticityConfig, PlasticityModule, RelayAlone
from smgrnn.runs.record import Record
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures.style import TASKS, Records
from smgrnn_paper.report.paper import WORDS

STRUCTURE, WEIGHTS = "#0072b2", "#d55e00"
"""Colours of the parts that change the graph, and of those that change its weights."""
COLOURS = {"structure": STRUCTURE, "weights": WEIGHTS, "grey": fig.GREY}
EDGES = [(0, 2, 0.9), (0, 3, -0.4), (1, 3, 0.8), (1, 4, 0.5), (4, 2, -0.6), (2, 4, 0.3)]
PLACES = {0: (0, 0.75), 1: (0, 0.25), 2: (1, 0.75), 3: (1, 0.25), 4: (0.55, 0.02), 5: (0.5, 0.97)}
WINDOW = 10
MOST_LINES = 360
"""Most edges, in all graphs, to be drawn as lines; more are drawn as dots, for smaller files."""


@fig.styled
def draw_data_flow(_: Records) -> Figure:
    """Draw the loop from an observation to the next graph; it needs no runs."""
    figure, body = fig.new_figure(4.7)
    ax = body.subplots()
    ax.set(xlim=(0, 100), ylim=(0, 60))
    ax.set_axis_off()

    def box(place: tuple[float, ...], padding: float, **look: Any) -> None:
        left, bottom, width, height = place
        shape = f"round,pad=0,rounding_size={padding}"
        ax.add_patch(FancyBboxPatch((left, bottom), width, height, boxstyle=shape, **look))

    for left, width, text, colour in (
        (0, 34, "structure: local statistics only", STRUCTURE),
        (68, 32, "weights: gradient of the loss", WEIGHTS),
    ):
        box((left, 0, width, 58), 2, facecolor=colour, alpha=0.08, zorder=0, linewidth=0)
        ax.text(left + width / 2, 56.8, text, color=colour, ha="center", va="top", fontsize=8.5)
    for it in WORDS["data_flow"]["boxes"]:
        left, bottom, width, height = it["place"]
        look = {"facecolor": "white", "edgecolor": COLOURS[it["colour"]], "linewidth": 1.2}
        box(it["place"], 1.2, zorder=2, **look)
        middle = (left + width / 2, bottom + height / 2)
        ax.annotate(it["text"], middle, ha="center", va="center", fontsize=8.5)
    for it in WORDS["data_flow"]["arrows"]:
        bend = {"connectionstyle": it.get("bend", "arc3,rad=0"), "shrinkA": 0, "shrinkB": 0}
        arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 1, **bend}
        ax.annotate("", it["ends"][1], it["ends"][0], arrowprops=arrow, zorder=3)
        ax.annotate(it["text"], it["at"], ha="center", va="center", fontsize=8)
    for place, text, n_hidden, edges in (
        ((39, 14, 24, 25), "graph $G_t$", 1, EDGES),
        ((4, 31.5, 26, 19), "edited graph $G^*$", 2, [*EDGES, (0, 5, 0.2), (5, 3, 0.2)]),
    ):
        ax.text(place[0] + place[2] / 2, place[1] + place[3], text, ha="center", fontweight="bold")
        inset = ax.inset_axes(place, transform=ax.transData)
        graph = Graph.from_edges(2, 2, n_hidden, edges)
        draw(graph, inset, {node: PLACES[node] for node in graph.node_ids.tolist()})
        inset.set(xlim=(-0.15, 1.15), ylim=(-0.2, 1.2))
    fig.add_note(
        figure,
        "Blue: the plasticity module reads each edge's weight and recent updates, and edits the",
        "graph. Orange: the optimizer changes the weights, and never the graph.",
    )
    return figure


@fig.styled
def draw_relay_insertion(_: Records) -> Figure:
    """Draw one input and one output before and after the edit; it needs no runs."""
    figure, body = fig.new_figure(2.6)
    before = Graph.from_edges(1, 1, edges=[(0, 1, 0.8)])
    axes, places = body.subplots(1, 2), {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (0.5, 0.62)}
    titles = ("An edge whose direction never settles", "After inserting a relay")
    words = ("unstable", "kept")
    for number, (ax, graph) in enumerate(zip(axes, (before, with_relay(before)), strict=True)):
        draw(graph, ax, positions={node: places[node] for node in graph.node_ids.tolist()})
        for node in graph.node_ids.tolist():
            ax.annotate(["$i$", "$j$", "$h$"][node], places[node], ha="center", va="center")
        ax.set(xlim=(-0.2, 1.2), ylim=(-0.3, 1.0))
        ax.text(0.5, -0.14, words[number], color=fig.GREY, fontsize=8, ha="center", va="top")
        fig.name_panel(ax, number, titles[number])
    axes[1].text(0.5, 0.85, "relay, with small weights", color=fig.GREY, fontsize=8, ha="center")
    fig.add_note(
        figure,
        f"Decided by the rules from {WINDOW} updates of alternating sign, by Eqs. (1) to (4), and",
        "applied to the graph. Wide: large weight; blue: positive, orange: negative.",
    )
    return figure


def with_relay(graph: Graph) -> Graph:
    """Return the graph after a call of the rules that found its only edge unstable."""
    growth = RelayAlone(scale="update", initial_weight=0.1)
    config = PlasticityConfig(window=WINDOW, growth=growth, interval=1)
    module = PlasticityModule(config, graph, 1, np.random.default_rng(3))
    watched = module.start(graph)
    for sign in (1, -1) * (WINDOW // 2):
        watched.history.push(np.array([sign * 0.05]))
    decision = module.call(graph, watched, np.zeros(graph.n_edges, np.bool_))
    return apply(graph, decision.edit).graph


def representative(runs: Sequence[Record]) -> Record:
    """Return the run of median size: by nodes, edges, seed; the smaller of two in the middle."""
    ranked = sorted(runs, key=lambda run: (run.graph.n_nodes, run.graph.n_edges, run.plan.seed))
    return ranked[(len(ranked) - 1) // 2]


@fig.styled
def draw_final_topologies(records: Records) -> Figure:
    """Draw a graph for each control task."""
    figure, body = fig.new_figure(3.7)
    found = {task: records.get(f"{task}/smgrnn", ()) for task in CONTROL_TASKS}
    shown = {task: representative(runs) for task, runs in found.items() if runs}
    is_dense = sum(run.graph.n_edges for run in shown.values()) > MOST_LINES
    for number, (ax, task) in enumerate(zip(body.subplots(1, 3), CONTROL_TASKS, strict=True)):
        fig.name_panel(ax, number, TASKS[task].label)
        if run := shown.get(task):
            draw(run.graph, ax)
            text = f"seed {run.plan.seed}: {run.graph.n_nodes} nodes, {run.graph.n_edges} edges"
            ax.text(0.5, -0.02, text, fontsize=8, ha="center", va="top", transform=ax.transAxes)
            ax.set_rasterization_zorder(1.5 if is_dense else 0)  # edges are at 1, nodes at 2
        else:
            fig.say_empty(ax)
            ax.set_axis_off()
    dot: Any = {"marker": "o", "linestyle": "", "color": "white"}
    keys = [Line2D([], [], mec=colour, label=kind, **dot) for kind, colour in OUTLINE.items()]
    for sign, colour in (("positive", POSITIVE), ("negative", NEGATIVE)):
        keys.append(Line2D([], [], color=colour, label=f"{sign} weight"))
    fig.add_legend(body, keys)
    fig.add_note(
        figure,
        "Of each task the run of median size: by nodes, then by edges, the smaller of two in the",
        "middle. Edges are wider the larger their weight is in its network.",
    )
    return figure
