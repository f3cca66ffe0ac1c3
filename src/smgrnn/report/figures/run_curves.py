"""Curves of given runs: return and size over training, one line for each run."""

from matplotlib.figure import Figure

from smgrnn.report.figures import panels, style
from smgrnn.report.figures.curves import SMOOTHED_SHARE, Curve, plot_curve, smoothing_width

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#8a5a00", "#7a1f5c")
LINES = ("-", "--", ":")
SHOWN = 8
"""Most names that the legend has room for."""


@style.styled
def draw_run_curves(records: style.Records) -> Figure:
    """Draw the return above and the nodes below, a line for each run."""
    figure, body = style.new_figure(4.6)
    above, below = body.subplots(2, 1, sharex=True)
    keys = []
    for place, (name, runs) in enumerate(records.items()):
        line = LINES[place // len(COLOURS) % len(LINES)]
        colour, label = COLOURS[place % len(COLOURS)], style.literal(name)
        look = style.Look(label, colour, line)  # type: ignore[arg-type]
        for run in runs:
            width = smoothing_width(run.episodes.n)
            plot_curve(above, Curve.of([panels.returns(run)], width=width), look)
            plot_curve(below, Curve.of([panels.sizes(run)], width=width), look)
        keys.append(panels.line_key(look))
    above.set(ylabel="return")
    below.set(ylabel="nodes", xlabel="episode", ylim=(0, None))
    style.limit_ticks([above, below])
    style.name_panel(above, 0, "Return")
    style.name_panel(below, 1, "Size")
    if len(keys) <= SHOWN:
        style.add_legend(body, keys)
    style.add_note(
        figure,
        f"Moving means over one part in {SMOOTHED_SHARE} of a run's episodes;",
        "of an evolution, a candidate plays one.",
    )
    return figure
