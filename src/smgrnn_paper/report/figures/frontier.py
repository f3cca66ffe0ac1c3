"""Return against parameters, a panel for each task; not one of the paper's figures."""

from collections.abc import Sequence
from itertools import chain, cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from smgrnn.text import number, quantity
from smgrnn_paper.report.figures import style
from smgrnn_paper.report.frontier import Group, PrintedPoint, group_runs, printed_points
from smgrnn_paper.report.paper import Paper, load_paper
from smgrnn_paper.report.statistics import UNKNOWN, Estimate, Interval

COLUMNS = 3
"""Panels beside each other."""
STAR: Any = {
    "color": style.GREY,
    "linestyle": "",
    "marker": "*",
    "markerfacecolor": "white",
    "markersize": 9,
}
"""The look of what the paper prints."""
TICKS = ((1, 2, 3, 5), (1, 1.5, 2, 3, 4, 5, 6, 8))
"""Places of numbers on a narrow axis and on a wide one, in each power of ten."""
APART = 0.7
"""Points between kinds of one size."""
MOST_LETTERS = 96
"""Letters that fit in a row of the legend."""
HEIGHTS = (0.08, 0.15, 0.22)
"""Heights of the numbers at arrows that are side by side, as shares of a panel's."""
FENCE = 1.5
"""Interquartile ranges below the first quartile at which a mean counts as far below the others."""
LEAST = 0.04
"""Least height of a panel, as a share of the best return."""


def draw_frontier(records: style.Records) -> Figure:
    """Draw the runs of an experiment."""
    return draw_groups(group_runs(chain.from_iterable(records.values())), load_paper())


@style.styled
def draw_groups(groups: Sequence[Group], paper: Paper) -> Figure:
    """Draw a panel for each task: mean and interval of each group, asked-for sizes connected."""
    tasks = list(dict.fromkeys(each.task for each in groups))
    looks, printed = _looks(groups), printed_points(paper, tasks)
    n_columns = 2 if len(tasks) == 4 else min(len(tasks), COLUMNS)
    n_rows = -(-len(tasks) // n_columns)
    figure, body = style.new_figure(0.8 + 2.7 * n_rows)
    axes = body.subplots(n_rows, n_columns, squeeze=False).ravel()
    is_clipped = False
    for place, (ax, task) in enumerate(zip(axes, tasks, strict=False)):
        name = style.task_name(task)
        if len(tasks) == 1:
            ax.set_title(name)
        else:
            style.name_panel(ax, place, name)
        own = [each for each in groups if each.task == task]
        is_clipped |= _draw_task(ax, own, [each for each in printed if each.task == task], looks)
        ax.xaxis.set_major_locator(LogLocator(subs=TICKS[n_columns == 1]))
    for ax in axes[len(tasks) :]:
        ax.set_axis_off()
    for ax in axes[::n_columns]:
        ax.set_ylabel("held-out return")
    _add_keys(body, looks, has_star=bool(printed))
    style.add_note(
        figure,
        f"Mean over {_runs_each(groups)} of each group at the median of their parameters, set",
        "apart by a hair; bars: 95 % interval of the mean.",
        "Lines join sizes that were asked for.",
        "Arrows: means below the panel, with their values." if is_clipped else "",
        "Star: late return and parameters in Table II of the paper." if printed else "",
    )
    return figure


def _add_keys(body: SubFigure, looks: dict[str, Any], *, has_star: bool) -> None:
    """Add a legend of the kinds, on as many rows as it takes."""
    keys = [Line2D([], [], label=kind, **look) for kind, look in looks.items()]
    keys += [Line2D([], [], label="the paper, as printed", **STAR)] if has_star else []
    n_letters = sum(len(str(key.get_label())) + 5 for key in keys)
    style.add_legend(body, keys, 1 + n_letters // MOST_LETTERS)


def _runs_each(groups: Sequence[Group]) -> str:
    counts = [len(each.seeds) for each in groups]
    few, many = min(counts), max(counts)
    return quantity(many, "run") if few == many else f"{few} to {quantity(many, 'run')}"


def _looks(groups: Sequence[Group]) -> dict[str, Any]:
    """Return colour and marker of each kind of student."""
    spare = cycle(style.OTHER_KINDS)
    looks = {}
    for kind in dict.fromkeys(each.kind for each in groups):
        colour, marker = style.KINDS[kind] if kind in style.KINDS else next(spare)
        looks[kind] = {"color": colour, "marker": marker, "markersize": 4}
    return looks


def _draw_task(
    ax: Axes, groups: Sequence[Group], printed: Sequence[PrintedPoint], looks: dict[str, Any]
) -> bool:
    """Draw all there is on a task; return whether some of it is below the panel."""
    for place, (kind, look) in enumerate(looks.items()):
        shift = (place - (len(looks) - 1) / 2) * APART / 72
        moved = ScaledTranslation(shift, 0, ax.figure.dpi_scale_trans)
        for line in ("-", ""):
            found = [it for it in groups if it.kind == kind and (it.asked is None) != bool(line)]
            drawn = {"linestyle": line, "transform": ax.transData + moved}
            _draw_points(ax, found, look | drawn)
    _draw_points(ax, printed, STAR)
    points = [(it.n_parameters, it.mean, looks[it.kind]["color"]) for it in groups]
    points += [(it.n_parameters, it.mean, STAR["color"]) for it in printed]
    sizes = [size for size, *_ in points]
    margin = max((max(sizes) / min(sizes)) ** 0.06, 1.05)
    low, high = _limits([mean for _, mean, _ in points])
    ax.set(xscale="log", xlim=(min(sizes) / margin, max(sizes) * margin), ylim=(low, high))
    ax.set_xlabel("parameters")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    style.limit_ticks([ax], 6)
    below = sorted(each for each in points if each[1].value < low)
    for place, (size, mean, colour) in enumerate(below):
        _point_down(ax, size, mean.value, colour, HEIGHTS[place % len(HEIGHTS)])
    return bool(below)


def _draw_points(ax: Axes, points: Sequence[Group] | Sequence[PrintedPoint], look: Any) -> None:
    if points:
        sizes, means = [each.n_parameters for each in points], [each.mean for each in points]
        bars = np.transpose([_bar(each) for each in means])
        ax.errorbar(sizes, [each.value for each in means], bars, elinewidth=0.9, capsize=2, **look)


def _bar(mean: Estimate) -> tuple[float, float]:
    """Return how far an interval reaches below and above its mean; nowhere if it is unknown."""
    low, high = mean.interval
    return (0.0, 0.0) if mean.interval == UNKNOWN else (mean.value - low, high - mean.value)


def _limits(means: Sequence[Estimate]) -> Interval:
    """Return the bottom and the top of a panel that a few poor groups do not squeeze.

    Means far below the others are left out, and bars reach out of the panel where they are long.
    """
    values = np.array([each.value for each in means])
    below, above = np.transpose([_bar(each) for each in means])
    first, third = np.percentile(values, [25, 75])
    nearly = values.max() - LEAST * abs(values.max())
    is_shown = values >= min(first - FENCE * (third - first), nearly)
    worst, best = min(values[is_shown].min(), nearly), values.max()
    room = (best - worst) / 2
    low = max(min((values - below)[is_shown].min(), worst), worst - room)
    high = min((values + above).max(), best + room)
    margin = 0.06 * (high - low) or 1.0
    return Interval(float(low - margin), float(high + margin))


def _point_down(ax: Axes, size: float, mean: float, colour: str, height: float) -> None:
    """Draw an arrow at the bottom of a panel, with the mean that is below it."""
    ax.annotate(
        number(mean, 0),
        xy=(size, 0.0),
        xytext=(size, height),
        xycoords=("data", "axes fraction"),
        textcoords=("data", "axes fraction"),
        arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0},
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        color=colour,
        fontsize=7.5,
        ha="center",
    )
