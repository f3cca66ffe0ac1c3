"""Fig. 8, final topologies: one network of each task as it is in the end."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from smgrnn.graph import draw
from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE
from smgrnn.runs.record import Record
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures import style

MOST_LINES = 360
"""Most edges, in all graphs, to be drawn as lines; more are drawn as dots, for smaller files."""


def representative(runs: Sequence[Record]) -> Record:
    """Return the run of median size: by nodes, edges, seed; the smaller of two in the middle."""
    ranked = sorted(runs, key=lambda run: (run.graph.n_nodes, run.graph.n_edges, run.plan.seed))
    return ranked[(len(ranked) - 1) // 2]


@style.styled
def draw_final_topologies(records: style.Records) -> Figure:
    """Draw a graph for each control task."""
    figure, body = style.new_figure(3.7)
    found = {task: records.get(f"{task}/smgrnn", ()) for task in CONTROL_TASKS}
    shown = {task: representative(runs) for task, runs in found.items() if runs}
    is_dense = sum(run.graph.n_edges for run in shown.values()) > MOST_LINES
    for number, (ax, task) in enumerate(zip(body.subplots(1, 3), CONTROL_TASKS, strict=True)):
        style.name_panel(ax, number, style.TASKS[task].label)
        if task in shown:
            _draw_graph(ax, shown[task])
            ax.set_rasterization_zorder(1.5 if is_dense else 0)  # edges are at 1, nodes at 2
        else:
            style.say_empty(ax)
            ax.set_axis_off()
    kinds = [
        Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor=colour, label=kind)
        for kind, colour in OUTLINE.items()
    ]
    signs = [
        Line2D([], [], color=colour, label=f"{sign} weight")
        for sign, colour in (("positive", POSITIVE), ("negative", NEGATIVE))
    ]
    style.add_legend(body, [*kinds, *signs])
    style.add_note(
        figure,
        "Of each task the run of median size: by nodes, then by edges, the smaller of two in the",
        "middle. Edges are wider the larger their weight is in its network.",
    )
    return figure


def _draw_graph(ax: Axes, record: Record) -> None:
    graph = record.graph
    draw(graph, ax)
    seed = record.plan.seed
    text = f"seed {seed}: {graph.n_nodes} nodes, {graph.n_edges} edges"
    ax.text(0.5, -0.02, text, fontsize=8, ha="center", va="top", transform=ax.transAxes)
