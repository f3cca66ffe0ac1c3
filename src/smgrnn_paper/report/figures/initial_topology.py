"""Fig. 6, initial topology: what becomes of networks that start larger."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from smgrnn.config import PlasticityConfig
from smgrnn.runs.record import Record
from smgrnn_paper.experiments.paper import N_HIDDEN
from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import BANDS, smoothing_width

VARIANTS = tuple(f"n_hidden={n}" for n in N_HIDDEN)
GROWTH_SHARE = 10
"""Growth is averaged over the episodes divided by this: it comes and goes with pruning."""
PERIOD = PlasticityConfig().prune_period
"""Calls, one an episode, from one pruning to the next."""


def growth(record: Record) -> ArrayLike:
    """Return the nodes that each episode added, less those that it removed."""
    return np.diff(record.episodes.n_nodes, prepend=record.started[0])


def _whole_periods(width: int) -> int:
    """Return a width of whole periods, so that each mean has as much growth in it as pruning.

    >>> _whole_periods(200), _whole_periods(5)
    (210, 5)
    """
    return width + -width % PERIOD if width >= PERIOD else width


@style.styled
def draw_initial_topology(records: style.Records) -> Figure:
    """Draw nodes above and their growth per episode below, a column for each task."""
    (figure, body), n = style.new_figure(4.6), panels.n_episodes(records)
    width, growth_width = smoothing_width(n), _whole_periods(smoothing_width(n, GROWTH_SHARE))
    axes = panels.task_grid(body, ("nodes", "growth\n(nodes per episode)"))
    panels.fill_row(axes[0], records, VARIANTS, panels.sizes, width=width, band="std")
    panels.fill_row(axes[1], records, VARIANTS, growth, width=growth_width, band=None)
    for ax in axes[1]:
        ax.axhline(0, color=style.GREY, linewidth=0.7, zorder=1)
    style.add_legend(body, panels.line_keys(VARIANTS))
    style.add_note(
        figure,
        f"Mean over {panels.averaged(records, width)}",
        f"(a-c) and {growth_width} (d-f). Shaded: {BANDS['std']}.",
    )
    return figure
