"""Fig. 8: final networks."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from smgrnn.graph import draw
from smgrnn.graph.drawing import drawn_kinds, legend_keys
from smgrnn.pages import figure as fig
from smgrnn.runs.record import Record
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures.style import TASKS, Records

MOST_LINES = 360
"""Most edges, in all graphs, to be drawn as lines; more are drawn as dots, for smaller files."""


def representative(runs: Sequence[Record]) -> Record:
    """Return the run of median size: by nodes, edges, seed; the smaller of two in the middle."""
    ranked = sorted(
        runs, key=lambda run: (run.final.graph.n_nodes, run.final.graph.n_edges, run.plan.seed)
    )
    return ranked[(len(ranked) - 1) // 2]


@fig.styled
def draw_final_topologies(records: Records) -> Figure:
    """Draw a graph for each control task."""
    figure, body = fig.new_figure(3.7)
    found = {task: records.get(f"{task}/smgrnn", ()) for task in CONTROL_TASKS}
    shown = {task: representative(runs) for task, runs in found.items() if runs}
    is_dense = sum(run.final.graph.n_edges for run in shown.values()) > MOST_LINES
    for number, (ax, task) in enumerate(zip(body.subplots(1, 3), CONTROL_TASKS, strict=True)):
        fig.name_panel(ax, number, TASKS[task].label)
        if run := shown.get(task):
            graph = run.final.graph
            draw(graph, ax)
            text = f"seed {run.plan.seed}: {graph.n_nodes} nodes, {graph.n_edges} edges"
            ax.text(0.5, -0.02, text, fontsize=8, ha="center", va="top", transform=ax.transAxes)
            ax.set_rasterization_zorder(1.5 if is_dense else 0)  # edges are at 1, nodes at 2
        else:
            fig.say_empty(ax)
            ax.set_axis_off()
    drawn = {kind for run in shown.values() for kind in drawn_kinds(run.final.graph)}
    fig.add_legend(body, legend_keys(drawn))
    fig.add_note(
        figure,
        "Of each task the run of median size: by nodes, then by edges, the smaller of two in the",
        "middle. Widths follow the logarithm of the weights; gray inputs are unused.",
    )
    return figure
