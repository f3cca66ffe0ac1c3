"""Fig. A.1, hyperparameter sweeps: one setting of the plasticity module at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec

from smgrnn.config import PlasticityConfig
from smgrnn.runs.record import Record
from smgrnn_paper.experiments.paper import SWEEPS, SWEPT_TASKS
from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import mean_and_bar
from smgrnn_paper.report.topology import measure

NAMES = {
    "window": "window $T$",
    "fluctuation_threshold": r"fluctuation threshold $\theta_\mathrm{var}$",
    "interval_width": r"interval width $\lambda$",
    "explore_probability": r"exploration probability $p_\mathrm{rand}$",
}
METRICS = {
    "late_return": ("late return", panels.possible_returns),
    "n_nodes": ("final nodes", panels.possible_sizes),
}
"""The label of each metric, and the bounds that it has in a run."""


@style.styled
def draw_hyperparameter_sweeps(records: style.Records) -> Figure:
    """Draw four panels, one for each setting: late return and final nodes on both tasks."""
    figure, body = style.new_figure(6.6)
    places = GridSpec(2, 2, figure, wspace=0.04, hspace=0.04)
    for number, setting in enumerate(SWEEPS):
        panel = body.add_subfigure(places[number])
        _draw_setting(panel, setting, records)
        style.name_panel(panel, number, f"By {NAMES[setting]}")
    style.add_note(
        figure,
        f"Mean over {style.runs_each(records)}; bars: one standard deviation across runs to",
        "either side, within what is possible. Dotted: the shared default. All other settings",
        "have their defaults.",
    )
    return figure


def _draw_setting(panel: SubFigure, setting: str, records: style.Records) -> None:
    """Draw a row for each metric and a column for each task."""
    axes = panel.subplots(len(METRICS), len(SWEPT_TASKS), sharex=True)
    for column, task in enumerate(SWEPT_TASKS):
        runs = {v: records.get(f"{task}/{setting}={v}", ()) for v in SWEEPS[setting]}
        for row, metric in enumerate(METRICS):
            _draw_metric(axes[row, column], runs, metric, style.TASKS[task].colour)
            _mark_default(axes[row, column], setting)
        axes[0, column].set_title(style.TASKS[task].label, fontweight="normal", fontsize=8.5)
        axes[-1, column].set_xlabel(NAMES[setting].split()[-1])
    for row, (label, _) in enumerate(METRICS.values()):
        axes[row, 0].set_ylabel(label)


def _draw_metric(ax: Axes, runs: dict[float, Sequence[Record]], metric: str, colour: str) -> None:
    """Draw mean and deviation at each value that has runs."""
    _, find_bounds = METRICS[metric]
    found = {place: each for place, each in enumerate(runs.values()) if each}
    if found:
        bounds = find_bounds(next(iter(found.values()))[0])
        values = [[measure(run, metric) for run in each] for each in found.values()]
        means, bars = zip(*(mean_and_bar(each, bounds) for each in values), strict=True)
        look: Any = {"fmt": "o-", "color": colour, "markersize": 3.5, "capsize": 2}
        ax.errorbar(list(found), means, np.hstack(bars), **look)
        panels.keep_within(ax, bounds)
    else:
        style.say_empty(ax)
    style.limit_ticks([ax])
    ax.set_xticks(range(len(runs)), [f"{value:g}" for value in runs], fontsize=7)


def _mark_default(ax: Axes, setting: str) -> None:
    """Draw a dotted line at the default, which all sweeps have in common."""
    default = getattr(PlasticityConfig(), setting)
    if default in SWEEPS[setting]:
        place = SWEEPS[setting].index(default)
        ax.axvline(place, color=style.GREY, linestyle=":", linewidth=0.9, zorder=1)
