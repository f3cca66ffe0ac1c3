"""Fig. 7, task difficulty: how large networks grow on harder tasks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smgrnn.runs.record import Record
from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import BANDS, Curve, plot_curve, smoothing_width
from smgrnn_paper.report.paper import load_paper
from smgrnn_paper.report.topology import measure


@style.styled
def draw_task_difficulty(records: style.Records) -> Figure:
    """Draw nodes over training and at the end, all four tasks in each panel."""
    (figure, body), n = style.new_figure(3.4), panels.n_episodes(records)
    width = smoothing_width(n)
    over_training, at_the_end = body.subplots(1, 2, width_ratios=[1.25, 1])
    for place, (task, look) in enumerate(style.TASKS.items()):
        runs = records.get(f"{task}/smgrnn", ())
        if runs:
            curve = Curve.of([panels.sizes(run) for run in runs], width=width, length=n)
            plot_curve(over_training, curve, look, linestyle="-")
            _draw_end(at_the_end, place, runs, look.colour)
        _draw_printed(at_the_end, place + 0.4, task)
    over_training.set(xlabel="episode (XOR: round of 4 patterns)", ylabel="nodes", ylim=(0, None))
    style.limit_ticks([over_training])
    at_the_end.set_xticks(range(len(style.TASKS)), [look.label for look in style.TASKS.values()])
    at_the_end.set(ylabel="nodes", xlim=(-0.5, len(style.TASKS) - 0.4), ylim=(0, None))
    at_the_end.grid(visible=False, axis="x")
    style.name_panel(over_training, 0, "Over training")
    style.name_panel(at_the_end, 1, "At the end")
    style.add_legend(
        body, [panels.line_key(look._replace(line="-")) for look in style.TASKS.values()]
    )
    style.add_note(
        figure,
        f"(a) Mean over {panels.averaged(records, width)};",
        f"shaded: {BANDS['std']}. XOR stops once it is learned; its last size goes on to the end.",
        "(b) After the last episode: bars, mean and standard deviation; dots, runs; diamonds, the",
        "paper's Table A.VI. Horizontal lines: mean over the final quarter of the episodes.",
    )
    return figure


def _draw_end(ax: Axes, place: int, runs: Sequence[Record], colour: str) -> None:
    """Draw the final nodes, as mean and run by run, and the mean over the final quarter."""
    final, late = ([measure(run, name) for run in runs] for name in ("n_nodes", "late_nodes"))
    ax.bar(place, float(np.mean(final)), width=0.6, color=colour, alpha=0.4)
    ax.errorbar(place, np.mean(final), np.std(final), color=colour, elinewidth=1.2)
    ax.plot(place + np.linspace(-0.18, 0.18, len(runs)), final, "o", color=colour, markersize=2.5)
    ax.hlines(np.mean(late), place - 0.3, place + 0.3, color=colour, linewidth=1.8)


def _draw_printed(ax: Axes, place: float, task: str) -> None:
    """Draw the number of nodes that the paper prints, with its deviation."""
    printed = load_paper().tables["A.VI"].cell(f"{task}/smgrnn", "n_nodes")
    assert printed.mean is not None
    diamond: Any = {"fmt": "D", "markersize": 4, "mfc": "white", "elinewidth": 1}
    ax.errorbar(place, printed.mean, printed.std, color=style.GREY, **diamond)
