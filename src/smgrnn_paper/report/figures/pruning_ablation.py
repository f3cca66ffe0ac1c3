"""Figs. 5 and A.2, pruning ablation: how large networks become without pruning, and how weak."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smgrnn.text import quantity
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import Curve, plot_curve, smoothing_width
from smgrnn_paper.report.figures.weights import Runs, draw_weights
from smgrnn_paper.report.topology import SMALL_WEIGHT

VARIANTS = ("smgrnn", "growth-only")
SHAPES = ("histogram", "density", "CDF")
WEIGHT_NOTES = (
    "Weights of all runs of a condition together.",
    rf"Grey: magnitudes up to {SMALL_WEIGHT} ($\tau_w$), which pruning can remove; up to there the",
    "axis is linear, beyond it is logarithmic, and bins are as wide as they look.",
)


@style.styled
def draw_pruning_ablation(records: style.Records) -> Figure:
    """Draw the nodes on all tasks, and three views of the final weights on CartPole."""
    (figure, body), width = style.new_figure(5.2), smoothing_width(panels.n_episodes(records))
    axes = body.subplots(2, 2).flat
    _draw_growth(axes[0], records, width)
    draw_weights(axes[1:], _on_task(records, "CartPole-v1"))
    for number, shape in enumerate(("Nodes, all tasks", *SHAPES)):
        style.name_panel(axes[number], number, shape if number == 0 else f"CartPole: {shape}")
    looks = [style.TASKS[task]._replace(colour=style.GREY) for task in CONTROL_TASKS]
    styles = [panels.line_key(look) for look in looks]
    style.add_legend(body, [*panels.line_keys(VARIANTS), *styles])
    style.add_note(
        figure,
        f"(a) Mean over {panels.averaged(records, width)};",
        "shaded: one standard deviation.",
        _say_limits(records),
        "(b-d)",
        *WEIGHT_NOTES,
    )
    return figure


@style.styled
def draw_more_weights(records: style.Records) -> Figure:
    """Draw three views of the final weights on Acrobot and on LunarLander."""
    figure, body = style.new_figure(4.8)
    axes = body.subplots(2, 3)
    for row, task in enumerate(("Acrobot-v1", "LunarLander-v3")):
        draw_weights(axes[row], _on_task(records, task))
        for column, shape in enumerate(SHAPES):
            text = f"{style.TASKS[task].label}: {shape}"
            style.name_panel(axes[row, column], 3 * row + column, text)
    style.add_legend(body, panels.line_keys(VARIANTS))
    style.add_note(figure, f"{style.runs_each(records)} each.".capitalize(), *WEIGHT_NOTES)
    return figure


def _on_task(records: style.Records, task: str) -> Runs:
    return {name: records.get(f"{task}/{name}", ()) for name in VARIANTS}


def _say_limits(records: style.Records) -> str:
    """Return a sentence on how many runs a limit kept from growing; empty if there are none."""
    n_stopped = sum(bool(run.warnings) for runs in records.values() for run in runs)
    stopped = f"In {quantity(n_stopped, 'run')} growth stopped at a limit of nodes or edges."
    return stopped if n_stopped else ""


def _draw_growth(ax: Axes, records: style.Records, width: int) -> None:
    """Draw nodes by episode, the colour by variant and the line by task."""
    for task in CONTROL_TASKS:
        for variant, runs in _on_task(records, task).items():
            if runs:
                curve = Curve.of([panels.sizes(run) for run in runs], width=width)
                look = style.CONDITIONS[variant]._replace(line=style.TASKS[task].line)
                plot_curve(ax, curve, look)
    if ax.lines:
        ax.set_yscale("log")
    else:
        style.say_empty(ax)
    ax.set(xlabel="episode", ylabel="nodes")
    style.limit_ticks([ax])
