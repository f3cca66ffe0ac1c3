"""The figures of the page, drawn by Bokeh: the network, and the curves under it.

Lines and dots have names, by which `drawing.js` finds and fills them, in the colours of the window.
"""

from typing import Any, NamedTuple

import numpy as np
from bokeh import models
from bokeh.core.properties import value
from bokeh.layouts import column
from bokeh.models.annotations import Legend
from bokeh.models.ui import UIElement
from bokeh.plotting import figure

from smgrnn.arrays import Floats, Ints
from smgrnn.episodes.table import Episodes
from smgrnn.runs.pictures import find_likeness, moving_average
from smgrnn.view.style import FONT, INK, LIGHT, LINE, SOFT
from smgrnn.view.timeline import Timeline

MOST_POINTS = 2000
"""Most episodes whose values a curve shows."""
LEFT, RIGHT = 52, 12
"""Room beside the curves for the numbers, in pixels; the page's cursor moves between."""
BARE: Any = {
    "toolbar_location": None,
    "outline_line_color": None,
    "background_fill_color": None,
    "border_fill_color": None,
}
LINES = ("xs", "ys", "line_width", "line_color", "line_alpha")
DOTS = ("x", "y", "size", "fill_color", "line_color", "line_width", "alpha")
ARROWS = ("x", "y", "size", "angle", "color", "alpha")
"""The columns that `drawing.js` fills."""


def network_figure(timeline: Timeline, places: Floats) -> UIElement:
    """Return the network's figure: the names of inputs and outputs, and room for the rest."""
    plot: Any = figure(
        x_range=models.Range1d(start=-0.1, end=1.1),  # the page makes room for the names
        y_range=models.Range1d(start=-0.04, end=1.04),
        sizing_mode="stretch_both",
        tools=[],
        min_border=4,
        **BARE,
    )
    plot.axis.visible = plot.grid.visible = False

    def add(name: str, glyph: Any, columns: tuple[str, ...], **look: Any) -> Any:
        source = models.ColumnDataSource({column: [] for column in columns})
        return glyph(**{each: each for each in columns}, **look, source=source, name=name)

    add("halos", plot.multi_line, LINES, line_cap="round")
    edges = add("edges", plot.multi_line, LINES, line_cap="round", hover_line_color=INK)
    add("arrows", plot.scatter, ARROWS, marker="triangle", line_width=0)
    add("glows", plot.scatter, DOTS)
    nodes = add("nodes", plot.scatter, DOTS, hover_line_color=INK)
    n_inputs, n_fixed = timeline.n_inputs, timeline.n_fixed
    for side, rows in (("right", slice(n_inputs)), ("left", slice(n_inputs, n_fixed))):
        plot.text(
            x=places[rows, 0],
            y=places[rows, 1],
            text=timeline.names[rows],
            x_offset=-16 if side == "right" else 16,
            text_align=side,
            text_baseline="middle",
            text_color=SOFT,
            text_font=value(FONT),
            text_font_size="13px",
            name="names",
        )
    wheel = models.WheelZoomTool()
    plot.toolbar.active_scroll, plot.toolbar.active_drag = wheel, None  # the page lets a mouse pan
    pointed: Any = {"renderers": [nodes, edges], "visible": False}
    # A tap is to a finger what hovering is to a mouse.
    tap = models.TapTool(behavior="inspect", **pointed)
    plot.add_tools(models.PanTool(), wheel, models.HoverTool(tooltips=None, **pointed), tap)
    found: UIElement = plot
    return found


class Curve(NamedTuple):
    """One line of a panel over the episodes."""

    name: str
    tone: str
    """Name of its colour."""
    x: Ints
    y: Floats
    look: dict[str, Any]
    """Width, opacity, dashes and entry of the legend, as Bokeh names them."""


def find_panels(episodes: Episodes, threshold: float | None = None) -> list[list[Curve]]:
    """Return the curves of a run by panel: return, size, and likeness where there is a teacher.

    A noisy curve is drawn faintly, with its moving average over it.
    """
    n = episodes.n
    shown = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))

    def curve(name: str, tone: str, values: Floats, **look: Any) -> Curve:
        first = n - values.size  # an average begins later
        rows = shown[shown >= first]
        return Curve(name, tone, rows + 1, values[rows - first], {"line_width": 1.8} | look)

    def noisy(name: str, tone: str, values: Floats) -> list[Curve]:
        average = moving_average(values)
        return [
            curve(name, tone, values, line_width=0.7, alpha=0.3),
            curve(f"{name}, averaged", tone, average, legend_label=name),
        ]

    sizes = {"nodes": episodes.n_nodes, "edges": episodes.n_edges}
    panels = [
        noisy("return", "return", episodes.returns),
        [curve(name, name, each.astype(float), legend_label=name) for name, each in sizes.items()],
    ]
    if threshold is not None:
        dashed = {"line_width": 1.2, "line_dash": "dashed", "legend_label": "threshold"}
        panels[0].append(curve("threshold", "soft", np.full(n, threshold), **dashed))
    if (likeness := find_likeness(episodes)) is not None:
        values, label = likeness
        panels.append(noisy(label, "likeness", values))
    return panels


def curves_figure(panels: list[list[Curve]], unit: str) -> UIElement:
    """Return the panels of curves over the episodes, all of one width."""
    x_range = models.Range1d(start=0, end=1)  # the page sets it
    plots = [_panel(curves, x_range) for curves in panels]
    plots[-1].xaxis.visible = True
    plots[-1].xaxis.axis_label = unit
    plots[-1].height += 42
    return column(*plots, sizing_mode="stretch_width", spacing=2)


def _panel(curves: list[Curve], x_range: models.Range1d) -> Any:
    plot: Any = figure(
        x_range=x_range,
        height=100,
        sizing_mode="stretch_width",
        tools="",
        min_border_left=LEFT,
        min_border_right=RIGHT,
        **BARE,
    )
    plot.add_layout(Legend(), "above")
    for name, tone, _, y, look in curves:
        # Bokeh warns of a panel that begins with nothing to choose its range by.
        source = models.ColumnDataSource({"x": [0, 1], "y": [float(y.min()), float(y.max())]})
        line = plot.line("x", "y", source=source, name=name, line_color=LIGHT[tone], **look)
        line.tags = [tone]
    plot.xaxis.visible = plot.xgrid.visible = False
    plot.ygrid.grid_line_color = LINE
    plot.yaxis.ticker.desired_num_ticks = 3
    plot.yaxis.formatter = models.NumeralTickFormatter(format="0[.][000]a")  # 20k, never too wide
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = LINE
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_font = plot.axis.axis_label_text_font = FONT
    plot.axis.major_label_text_color = plot.axis.axis_label_text_color = SOFT
    plot.axis.major_label_text_font_size = "12px"
    plot.axis.axis_label_text_font_size = "13px"
    plot.axis.axis_label_text_font_style = "normal"
    plot.legend.orientation, plot.legend.border_line_color = "horizontal", None
    plot.legend.location = "top_left"
    plot.legend.label_text_font, plot.legend.label_text_font_size = FONT, "13px"
    plot.legend.label_text_color, plot.legend.label_height = INK, 16
    plot.legend.padding = plot.legend.margin = 0
    plot.legend.background_fill_color = None
    plot.legend.glyph_height, plot.legend.spacing = 16, 16
    return plot
