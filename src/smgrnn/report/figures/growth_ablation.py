"""Fig. 4, growth ablation: the growing network beside the same graph kept as it was."""

from matplotlib.figure import Figure

from smgrnn.report.figures.curves import BANDS, smoothing_width
from smgrnn.report.figures.panels import (
    fill_row,
    line_key,
    mark_thresholds,
    n_episodes,
    returns,
    sizes,
    task_grid,
    threshold_key,
)
from smgrnn.report.figures.style import (
    CONDITIONS,
    Records,
    add_legend,
    add_note,
    new_figure,
    runs_each,
    styled,
)

VARIANTS = ("smgrnn", "static")


@styled
def draw_growth_ablation(records: Records) -> Figure:
    """Draw returns above and nodes below, a column for each task, shaded over all runs."""
    (figure, body), width = new_figure(4.6), smoothing_width(n_episodes(records))
    axes = task_grid(body, ("return", "nodes"))
    fill_row(axes[0], records, VARIANTS, returns, width=width, band="range")
    fill_row(axes[1], records, VARIANTS, sizes, width=width, band="range")
    mark_thresholds(axes[0], records)
    add_legend(body, [*(line_key(CONDITIONS[name]) for name in VARIANTS), threshold_key()])
    add_note(
        figure,
        f"Lines: mean over {runs_each(records.values())} of a moving mean over {width} episodes.",
        f"Shaded: {BANDS['range']} of the moving means.",
        "Nodes are inputs, outputs and hidden ones.",
    )
    return figure
