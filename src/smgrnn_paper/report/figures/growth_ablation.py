"""Fig. 4, growth ablation: the growing network beside the same graph kept as it was."""

from matplotlib.figure import Figure

from smgrnn_paper.report.figures import panels, style
from smgrnn_paper.report.figures.curves import BANDS, smoothing_width

VARIANTS = ("smgrnn", "static")


@style.styled
def draw_growth_ablation(records: style.Records) -> Figure:
    """Draw returns above and nodes below, a column for each task, shaded over all runs."""
    (figure, body), width = style.new_figure(4.6), smoothing_width(panels.n_episodes(records))
    axes = panels.task_grid(body, ("return", "nodes"))
    panels.fill_row(axes[0], records, VARIANTS, panels.returns, width=width, band="range")
    panels.fill_row(axes[1], records, VARIANTS, panels.sizes, width=width, band="range")
    panels.mark_thresholds(axes[0], records)
    style.add_legend(
        body,
        [*panels.line_keys(VARIANTS), panels.threshold_key()],
    )
    style.add_note(
        figure,
        f"Lines: mean over {panels.averaged(records, width)}.",
        f"Shaded: {BANDS['range']} of the moving means.",
        "Nodes are inputs, outputs and hidden ones.",
    )
    return figure
