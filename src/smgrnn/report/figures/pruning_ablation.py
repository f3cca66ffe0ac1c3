"""Figs. 5 and A.2, pruning ablation: how large networks become without pruning, and how weak."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from smgrnn.experiments.paper.protocol import TASKS as CONTROL_TASKS
from smgrnn.report.figures.curves import Curve, plot_curve, smoothing_width
from smgrnn.report.figures.panels import line_key, n_episodes, sizes
from smgrnn.report.figures.style import (
    CONDITIONS,
    GREY,
    TASKS,
    Records,
    add_legend,
    add_note,
    limit_ticks,
    name_panel,
    new_figure,
    runs_each,
    say_empty,
    styled,
)
from smgrnn.report.figures.weights import Runs, draw_weights
from smgrnn.report.topology import SMALL_WEIGHT
from smgrnn.report.wording import quantity

VARIANTS = ("smgrnn", "growth-only")
SHAPES = ("histogram", "density", "cumulative")
WEIGHT_NOTES = (
    "Weights of all runs of a condition together.",
    rf"Grey: magnitudes up to {SMALL_WEIGHT} ($\tau_w$), which pruning can remove; up to there the",
    "axis is linear, beyond it is logarithmic, and bins are as wide as they look.",
)


@styled
def draw_pruning_ablation(records: Records) -> Figure:
    """Draw the nodes on all tasks, and three views of the final weights on CartPole."""
    (figure, body), width = new_figure(5.2), smoothing_width(n_episodes(records))
    axes = body.subplots(2, 2).flat
    _draw_growth(axes[0], records, width)
    draw_weights(axes[1:], _on_task(records, "CartPole-v1"))
    for number, shape in enumerate(("Nodes, all tasks", *SHAPES)):
        name_panel(axes[number], number, shape if number == 0 else f"CartPole: {shape}")
    styles = [
        Line2D([], [], color=GREY, linestyle=TASKS[task].line, label=TASKS[task].label)
        for task in CONTROL_TASKS
    ]
    add_legend(body, [*(line_key(CONDITIONS[name]) for name in VARIANTS), *styles])
    add_note(
        figure,
        f"(a) Mean over {runs_each(records.values())} of a moving mean over {width} episodes;",
        "shaded: one standard deviation.",
        _say_limits(records),
        "(b-d)",
        *WEIGHT_NOTES,
    )
    return figure


@styled
def draw_more_weights(records: Records) -> Figure:
    """Draw three views of the final weights on Acrobot and on LunarLander."""
    figure, body = new_figure(4.8)
    axes = body.subplots(2, 3)
    for row, task in enumerate(("Acrobot-v1", "LunarLander-v3")):
        draw_weights(axes[row], _on_task(records, task))
        for column, shape in enumerate(SHAPES):
            name_panel(axes[row, column], 3 * row + column, f"{TASKS[task].label}: {shape}")
    add_legend(body, [line_key(CONDITIONS[name]) for name in VARIANTS])
    add_note(figure, f"{runs_each(records.values())} each.".capitalize(), *WEIGHT_NOTES)
    return figure


def _on_task(records: Records, task: str) -> Runs:
    return {name: records.get(f"{task}/{name}", ()) for name in VARIANTS}


def _say_limits(records: Records) -> str:
    """Return a sentence on how many runs a limit kept from growing; empty if there are none."""
    n_stopped = sum(bool(run.warnings) for runs in records.values() for run in runs)
    stopped = f"In {quantity(n_stopped, 'run')} growth stopped at a limit of nodes or edges."
    return stopped if n_stopped else ""


def _draw_growth(ax: Axes, records: Records, width: int) -> None:
    """Draw nodes by episode, the colour by variant and the line by task."""
    for task in CONTROL_TASKS:
        for variant, runs in _on_task(records, task).items():
            if runs:
                curve = Curve.of([sizes(run) for run in runs], width=width)
                plot_curve(ax, curve, CONDITIONS[variant]._replace(line=TASKS[task].line))
    if ax.lines:
        ax.set_yscale("log")
    else:
        say_empty(ax)
    ax.set(xlabel="episode", ylabel="nodes")
    limit_ticks([ax])
