"""The figures of return against parameters: the frontier, and settings of several origins."""

from collections.abc import Sequence
from itertools import chain, cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from smgrnn.pages import figure as fig
from smgrnn.text import number
from smgrnn_paper.report.figures.style import Records, task_name
from smgrnn_paper.report.frontier import MLP, Group, PrintedPoint, group_runs, printed_points
from smgrnn_paper.report.paper import Paper, load_paper
from smgrnn_paper.report.results import span
from smgrnn_paper.report.statistics import UNKNOWN, Estimate, Interval

LOOKS: dict[str, tuple[str, str]] = {
    "frugal": ("#0072b2", "o"),
    "kept 95 %": ("#7a1f5c", "s"),
    "paper": ("#56b4e9", "v"),
    MLP: ("#e69f00", "^"),
    "MLP, no bias": ("#f0e442", "^"),
    "MLP, pruned": ("#8a5a00", "D"),
    "linear": ("#000000", "s"),
    "linear, no bias": ("#777777", "s"),
    "linear, pruned": ("#d55e00", "<"),
    "recurrent": ("#a89800", ">"),
    "retrained": ("#31688e", "P"),
    "NEAT": ("#009e73", "p"),
    "NDP": ("#cc79a7", "X"),
}
"""Color and marker of each kind of student."""
OTHER_LOOKS = (("#a89500", ">"), ("#666666", "h"))
STAR: Any = {"color": fig.GREY, "linestyle": "", "marker": "*", "mfc": "white", "markersize": 9}
"""The look of what the paper prints."""


def draw_frontier(records: Records) -> Figure:
    """Draw the runs of an experiment."""
    return draw_groups(group_runs(chain.from_iterable(records.values())), load_paper())


def draw_self_tuning(records: Records) -> Figure:
    """Draw a point for each choice of settings: by hand, tuned on one task, following progress."""
    groups = [Group.of(name.rpartition("/")[2], runs) for name, runs in records.items() if runs]
    return draw_groups(groups, load_paper())


@fig.styled
def draw_groups(groups: Sequence[Group], paper: Paper) -> Figure:
    """Draw a panel for each task: mean and interval of each group, asked-for sizes connected."""
    tasks = list(dict.fromkeys(each.task for each in groups))
    printed, spare = printed_points(paper, tasks), cycle(OTHER_LOOKS)
    groups = [each for each in groups if each.n_parameters > 0]  # the axis is logarithmic
    looks: dict[str, Any] = {}
    for kind in dict.fromkeys(each.kind for each in groups):
        colour, marker = LOOKS[kind] if kind in LOOKS else next(spare)
        looks[kind] = {"color": colour, "marker": marker, "markersize": 4}
    n_columns = 2 if len(tasks) == 4 else min(len(tasks), 3)
    n_rows = -(-len(tasks) // n_columns)
    figure, body = fig.new_figure(0.8 + 2.7 * n_rows)
    axes, is_clipped = body.subplots(n_rows, n_columns, squeeze=False).ravel(), False
    for place, (ax, task) in enumerate(zip(axes, tasks, strict=False)):
        fig.scale_sizes(ax, (1, 1.5, 2, 3, 4, 5, 6, 8) if n_columns == 1 else (1, 2, 3, 5))
        own = [each for each in groups if each.task == task]
        is_clipped |= _draw_task(ax, own, [each for each in printed if each.task == task], looks)
        if len(tasks) == 1:
            ax.set_title(task_name(task))
        else:
            fig.name_panel(ax, place, task_name(task))
    for ax in axes[len(tasks) :]:
        ax.set_axis_off()
    for ax in axes[::n_columns]:
        ax.set_ylabel("held-out return")
    keys = [Line2D([], [], label=kind, **look) for kind, look in looks.items()]
    keys += [Line2D([], [], label="the paper, as printed", **STAR)] if printed else []
    fig.add_legend(body, keys, 1 + sum(len(str(key.get_label())) + 5 for key in keys) // 96)
    fig.add_note(
        figure,
        f"Mean over {span((len(it.seeds) for it in groups), 'run')} of each group at the median of",
        "their parameters; bars: 95 % interval of the mean. Lines join sizes that were asked for.",
        "Arrows: means below the panel, with their values." if is_clipped else "",
        "Star: late return and parameters in Table II of the paper." if printed else "",
    )
    return figure


def _draw_task(
    ax: Axes, groups: Sequence[Group], printed: Sequence[PrintedPoint], looks: dict[str, Any]
) -> bool:
    """Draw all there is on a task; return whether some of it is below the panel."""

    def draw(points: Sequence[Group | PrintedPoint], look: Any) -> None:
        if points:
            bars = np.transpose([_bar(it.mean) for it in points])
            xs, ys = [it.n_parameters for it in points], [it.mean.value for it in points]
            ax.errorbar(xs, ys, bars, elinewidth=0.9, capsize=2, **look)

    for place, (kind, look) in enumerate(looks.items()):
        shift = (place - (len(looks) - 1) / 2) * 0.7 / 72  # kinds of one size stand side by side
        moved = ax.transData + ScaledTranslation(shift, 0, ax.figure.dpi_scale_trans)
        for line in ("-", ""):
            own = [it for it in groups if it.kind == kind and (it.asked is None) != bool(line)]
            draw(own, look | {"linestyle": line, "transform": moved})
    draw(printed, STAR)
    points = [(it.n_parameters, it.mean, looks[it.kind]["color"]) for it in groups]
    points += [(it.n_parameters, it.mean, STAR["color"]) for it in printed]
    sizes = [size for size, *_ in points]
    margin = max((max(sizes) / min(sizes)) ** 0.06, 1.05)
    low, high = _limits([mean for _, mean, _ in points])
    ax.set(xlim=(min(sizes) / margin, max(sizes) * margin), ylim=(low, high))
    fig.limit_ticks([ax], 6)
    below = sorted(each for each in points if each[1].value < low)
    for place, (size, mean, colour) in enumerate(below):
        words: Any = {"color": colour, "fontsize": 7.5, "ha": "center", "in_layout": False}
        height = 0.02 + 0.07 * (place % 3)
        ax.text(
            size, height, f"↓ {number(mean.value, 0)}", **words, transform=ax.get_xaxis_transform()
        )
    return bool(below)


def _bar(mean: Estimate) -> tuple[float, float]:
    """Return how far an interval reaches below and above its mean; nowhere if it is unknown."""
    low, high = mean.interval
    return (0.0, 0.0) if mean.interval == UNKNOWN else (mean.value - low, high - mean.value)


def _limits(means: Sequence[Estimate]) -> Interval:
    """Return the bottom and the top of a panel that a few poor groups do not squeeze.

    Means that are outliers below are left out, and long bars reach out of the panel.  A panel has
    at least 4 % of the best return.
    """
    values = np.array([each.value for each in means])
    below, above = np.transpose([_bar(each) for each in means])
    first, third = np.percentile(values, [25, 75])
    nearly = values.max() - 0.04 * abs(values.max())
    is_shown = values >= min(first - 1.5 * (third - first), nearly)
    worst, best = min(values[is_shown].min(), nearly), values.max()
    room = (best - worst) / 2
    low = max(min((values - below)[is_shown].min(), worst), worst - room)
    high = min((values + above).max(), best + room)
    margin = 0.06 * (high - low) or 1.0
    return Interval(float(low - margin), float(high + margin))
