"""A study of settings: return against parameters of its trials, and the importance of each."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from smgrnn.tuning.study import Found
from smgrnn_paper.report.figures import style

TRIAL, STOPPED, FRONT, PRESET = "#56b4e9", "#c8c8c8", "#0072b2", "#d55e00"
"""Colours of trials with all seeds, of those that were stopped, of the front and the preset."""


@style.styled
def draw_tuning(found: Found, importances: Mapping[str, float]) -> Figure:
    """Draw the trials and their front on the left, and the importances, if any, on the right."""
    figure, body = style.new_figure(3.4)
    if not importances:
        ax = body.subplots()
        _draw_trials(ax, found)
        return figure
    left, right = body.subplots(1, 2, width_ratios=(3, 2))
    _draw_trials(left, found)
    style.name_panel(left, 0, "Trials")
    names = sorted(importances, key=lambda name: importances[name])
    right.barh([style.literal(name) for name in names], [importances[name] for name in names])
    right.set_xlabel("importance")
    right.tick_params(axis="y", labelsize=7)
    style.name_panel(right, 1, "Importance")
    return figure


def _draw_trials(ax: Axes, found: Found) -> None:
    """Draw the trials that return no less than the worst that counts."""
    stopped = [it for it in found.trials if it.returns and not it.is_whole and not it.error]
    kinds = (
        (stopped, STOPPED, 6, "stopped early"),
        (found.whole[1:], TRIAL, 16, "all seeds"),
        ([found.start], PRESET, 50, "the preset"),
    )
    for trials, colour, size, label in kinds:
        points = [trial.point for trial in trials]
        xs, ys = [it.parameters for it in points], [it.mean_return for it in points]
        ax.scatter(xs, ys, size, colour, label=label, zorder=3 if colour == PRESET else 2)
    front = [trial.point for trial in found.front]
    sizes, returns = [it.parameters for it in front], [it.mean_return for it in front]
    if front:
        ax.plot(sizes, returns, color=FRONT, marker="o", markersize=4, label="front")
    best = found.best.point
    ax.scatter(
        [best.parameters],
        [best.mean_return],
        s=120,
        facecolors="none",
        edgecolors=FRONT,
        label="the best settings",
        zorder=4,
    )
    shown = [trial.point.mean_return for trial in found.whole]
    low, high = min(found.worst.mean_return, found.start.point.mean_return), max(shown)
    room = 0.08 * (high - low) or 1.0
    ax.set(
        xscale="log", xlabel="parameters", ylabel="held-out return", ylim=(low - room, high + room)
    )
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.legend(fontsize=7)
