"""Figs. 3, 4, 6, 7 and A.1: returns and sizes over training and at its end."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from smgrnn.arrays import Floats
from smgrnn.config import PlasticityConfig
from smgrnn.pages import figure as fig
from smgrnn.runs.record import Record
from smgrnn_paper.evolution.plan import generations_of
from smgrnn_paper.experiments.paper import N_HIDDEN, SWEEPS, SWEPT_TASKS
from smgrnn_paper.experiments.paper import TASKS as CONTROL_TASKS
from smgrnn_paper.report.figures import style
from smgrnn_paper.report.figures.style import CONDITIONS, TASKS, Records
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.topology import measure

DISTILLED, EVOLVED = ("smgrnn", "mlp-100", "mlp-200"), ("neat", "ndp")
CROSS: Any = {"marker": "x", "markersize": 3.5}
"""Marker of the best candidate of a generation."""
METRICS: dict[Literal["late_return", "n_nodes"], str] = {
    "late_return": "late return",
    "n_nodes": "final nodes",
}
NAMES = {
    "window": "window $T$",
    "fluctuation_threshold": r"fluctuation threshold $\theta_\mathrm{var}$",
    "interval_width": r"interval width $\lambda$",
    "explore_probability": r"exploration probability $p_\mathrm{rand}$",
}


@fig.styled
def draw_baselines(records: Records) -> Figure:
    """Draw returns above and nodes below, a column for each task, and strips for the end."""
    (figure, body), width = fig.new_figure(5.6), style.smoothing(records)
    ratios = [1, 0.2] * len(CONTROL_TASKS)
    axes = body.subplots(2, len(ratios), width_ratios=ratios, height_ratios=(1.3, 1))
    for column, task in enumerate(CONTROL_TASKS):
        runs = {name: records.get(f"{task}/{name}", ()) for name in (*DISTILLED, *EVOLVED)}
        panels, strips = axes[:, 2 * column], axes[:, 2 * column + 1]
        _draw_task(panels, strips, runs, width)
        for row, panel in enumerate(panels):
            fig.name_panel(panel, column + row * len(CONTROL_TASKS), TASKS[task].label)
        panels[1].set_xlabel("episode")
    style.mark_thresholds(axes[0, ::2], records)
    axes[0, 0].set_ylabel("return")
    axes[1, 0].set_ylabel("nodes")
    keys = [CONDITIONS[it].key(**CROSS if it in EVOLVED else {}) for it in (*DISTILLED, *EVOLVED)]
    fig.add_legend(body, [*keys, *style.keys((), has_threshold=True)])
    fig.add_note(
        figure,
        f"Lines: mean over {style.averaged(records, width)};",
        "of NEAT and NDP, a candidate plays one, and lines may leave the panel below. Crosses: the",
        "best of each generation, mean over runs; its nodes are the lines in (d-f).",
        f"Shaded: {style.STD_BAND}, within what is possible. To the right: late return and final",
        "nodes.",
    )
    return figure


def _draw_task(
    panels: Sequence[Axes], strips: Sequence[Axes], runs: Mapping[str, Sequence[Record]], width: int
) -> None:
    """Draw returns and nodes of a task over training, and in the strips at the end."""
    for panel, strip in zip(panels, strips, strict=True):
        strip.sharey(panel)
    shown: list[float] = []  # returns that the panel has to have room for
    for place, (variant, found) in enumerate(runs.items()):
        if not found:
            continue
        look, nodes = CONDITIONS[variant], style.size_curve(found, width=width)
        returns = fig.Curve.of([style.returns(run) for run in found], width=width)
        returns.within(style.possible(found[0], "late_return")).plot(panels[0], look)
        generations = generations_of(found[0])
        if generations is None:
            shown += [returns.mean.min(), returns.mean.max()]
        else:
            best, sizes = (
                fig.Curve.of([best_of_generations(run, column) for run in found])
                for column in ("returns", "n_nodes")
            )
            ends = best.x * (found[0].episodes.n / generations.n)
            panels[0].plot(ends, best.mean, color=look.colour, linestyle="", **CROSS)
            nodes = sizes._replace(x=ends)
            shown.append(np.nanmax(best.mean, initial=-np.inf))
        nodes.within(style.possible(found[0], "n_nodes")).plot(panels[1], look)
        for strip, metric in zip(strips, METRICS, strict=True):
            values = [measure(run, metric) for run in found]
            mean, bar = style.mean_and_bar(values, style.possible(found[0], metric))
            strip.errorbar(place, mean, bar, fmt="o", color=look.colour, markersize=3, elinewidth=1)
            shown += [mean] * (metric == "late_return")
    for panel, strip in zip(panels, strips, strict=True):
        if not panel.lines:
            fig.say_empty(panel)
        strip.set(xlim=(-1, len(runs)), xticks=[], facecolor="#f4f4f4")
        strip.tick_params(left=False, labelleft=False)
        strip.spines[:].set_visible(False)
    if shown:
        low, high = min(shown), max(shown)
        margin = 0.06 * (high - low) or 1.0
        panels[0].set_ylim(low - margin, high + margin)
    fig.limit_ticks(panels, 5)


def best_of_generations(record: Record, column: str) -> Floats:
    """Return a column of each generation's best; NaN if no candidate was large enough to play."""
    generations = generations_of(record)
    assert generations is not None
    values = getattr(generations, column).astype(np.float64)
    return np.where(generations.steps > 0, values, np.nan)


def _sizes(run: Record) -> Any:
    return run.episodes.n_nodes


@fig.styled
def draw_growth_ablation(records: Records) -> Figure:
    """Draw returns above and nodes below, a column for each task, shaded over all runs."""
    (figure, body), width = fig.new_figure(4.6), style.smoothing(records)
    axes, variants = style.task_grid(body, ("return", "nodes")), ("smgrnn", "static")
    style.fill_row(axes[0], records, variants, style.returns, width=width, band="range")
    style.fill_row(axes[1], records, variants, _sizes, width=width, band="range")
    style.mark_thresholds(axes[0], records)
    fig.add_legend(body, style.keys(variants, has_threshold=True))
    fig.add_note(
        figure,
        f"Lines: mean over {style.averaged(records, width)}.",
        "Shaded: from the lowest to the highest run of the moving means.",
        "Nodes are inputs, outputs and hidden ones.",
    )
    return figure


@fig.styled
def draw_initial_topology(records: Records) -> Figure:
    """Draw nodes above and their growth per episode below, a column for each task."""
    (figure, body), width = fig.new_figure(4.6), style.smoothing(records)
    growth_width, period = style.smoothing(records, 10), PlasticityConfig.paper().prune_period
    if growth_width >= period:  # whole periods have as much growth in them as pruning
        growth_width += -growth_width % period
    axes = style.task_grid(body, ("nodes", "growth\n(nodes per episode)"))
    variants = tuple(f"n_hidden={n}" for n in N_HIDDEN)

    def growth(run: Record) -> Any:
        return np.diff(run.episodes.n_nodes, prepend=run.started[0])

    style.fill_row(axes[0], records, variants, _sizes, width=width)
    style.fill_row(axes[1], records, variants, growth, width=growth_width, band="")
    for ax in axes[1]:
        ax.axhline(0, color=fig.GREY, linewidth=0.7, zorder=1)
    fig.add_legend(body, style.keys(variants))
    fig.add_note(
        figure,
        f"Mean over {style.averaged(records, width)}",
        f"(a-c) and {growth_width} (d-f). Shaded: {style.STD_BAND}.",
    )
    return figure


@fig.styled
def draw_task_difficulty(records: Records) -> Figure:
    """Draw nodes over training and at the end, all four tasks in each panel."""
    (figure, body), n = fig.new_figure(3.4), style.n_episodes(records)
    width, table = style.smoothing(records), load_paper().tables["A.VI"]
    over_training, at_the_end = body.subplots(1, 2, width_ratios=[1.25, 1])
    for place, (task, look) in enumerate(TASKS.items()):
        if runs := records.get(f"{task}/smgrnn", ()):
            curve = style.size_curve(runs, width=width, length=n)
            curve.plot(over_training, look, linestyle="-")
            _draw_end(at_the_end, place, runs, look)
        printed = table.cell(f"{task}/smgrnn", "n_nodes")
        diamond: Any = {"fmt": "D", "markersize": 4, "mfc": "white", "elinewidth": 1}
        at_the_end.errorbar(
            place + 0.4, float(printed.mean or 0), printed.std, color=fig.GREY, **diamond
        )
    over_training.set(xlabel="episode (XOR: round of 4 patterns)", ylabel="nodes", ylim=(0, None))
    fig.limit_ticks([over_training])
    at_the_end.set_xticks(range(len(TASKS)), [look.label for look in TASKS.values()])
    at_the_end.set(ylabel="nodes", xlim=(-0.5, len(TASKS) - 0.4), ylim=(0, None))
    at_the_end.grid(visible=False, axis="x")
    fig.name_panel(over_training, 0, "Over training")
    fig.name_panel(at_the_end, 1, "At the end")
    fig.add_legend(body, [look._replace(line="-").key() for look in TASKS.values()])
    fig.add_note(
        figure,
        f"(a) Mean over {style.averaged(records, width)};",
        f"shaded: {style.STD_BAND}. XOR stops once it is learned; its last size is kept.",
        "(b) After the last episode: bars, mean and standard deviation; dots, runs; diamonds, the",
        "paper's Table A.VI. Horizontal lines: mean over the final quarter of the episodes.",
    )
    return figure


def _draw_end(ax: Axes, place: int, runs: Sequence[Record], look: fig.Look) -> None:
    """Draw the final nodes, as mean and run by run, and the mean over the final quarter."""
    final, late = ([measure(run, name) for run in runs] for name in ("n_nodes", "late_nodes"))
    ax.bar(place, float(np.mean(final)), width=0.6, color=look.colour, alpha=0.4)
    ax.errorbar(place, np.mean(final), np.std(final), color=look.colour, elinewidth=1.2)
    places = place + np.linspace(-0.18, 0.18, len(runs))
    ax.plot(places, final, "o", color=look.colour, markersize=2.5)
    ax.hlines(np.mean(late), place - 0.3, place + 0.3, color=look.colour, linewidth=1.8)


@fig.styled
def draw_hyperparameter_sweeps(records: Records) -> Figure:
    """Draw four panels, one for each setting: late return and final nodes on both tasks."""
    figure, body = fig.new_figure(6.6)
    places, rules = GridSpec(2, 2, figure, wspace=0.04, hspace=0.04), PlasticityConfig.paper()
    for number, (setting, levels) in enumerate(SWEEPS.items()):
        panel = body.add_subfigure(places[number])
        fig.name_panel(panel, number, f"By {NAMES[setting]}")
        axes = panel.subplots(len(METRICS), len(SWEPT_TASKS), sharex=True)
        for column, task in enumerate(SWEPT_TASKS):
            runs = [records.get(f"{task}/{setting}={level}", ()) for level in levels]
            for ax, metric in zip(axes[:, column], METRICS, strict=True):
                _draw_levels(ax, runs, metric, TASKS[task].colour)
                ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels], fontsize=7)
                owner: Any = rules if hasattr(rules, setting) else rules.growth
                if (default := getattr(owner, setting)) in levels:
                    place = levels.index(default)
                    ax.axvline(place, color=fig.GREY, linestyle=":", linewidth=0.9, zorder=1)
            axes[0, column].set_title(TASKS[task].label, fontweight="normal", fontsize=8.5)
            axes[-1, column].set_xlabel(NAMES[setting].split()[-1])
        for ax, label in zip(axes[:, 0], METRICS.values(), strict=True):
            ax.set_ylabel(label)
    fig.add_note(
        figure,
        f"Mean over {style.runs_each(records)}; bars: one standard deviation across runs to",
        "either side, within what is possible. Dotted: the shared default. All other settings",
        "have their defaults.",
    )
    return figure


def _draw_levels(ax: Axes, runs: Sequence[Sequence[Record]], metric: Any, colour: str) -> None:
    """Draw mean and deviation at each value that has runs; the axis ends at what is possible."""
    found = {place: each for place, each in enumerate(runs) if each}
    if found:
        bounds = style.possible(next(iter(found.values()))[0], metric)
        values = [[measure(run, metric) for run in each] for each in found.values()]
        means, bars = zip(*(style.mean_and_bar(each, bounds) for each in values), strict=True)
        look: Any = {"fmt": "o-", "color": colour, "markersize": 3.5, "capsize": 2}
        ax.errorbar(list(found), means, np.hstack(bars), **look)
        (low, high), (least, most) = ax.get_ylim(), bounds
        margin = 0.05 * (min(high, most) - max(low, least))
        ax.set_ylim(max(low, least - margin), min(high, most + margin))
    else:
        fig.say_empty(ax)
    fig.limit_ticks([ax])
