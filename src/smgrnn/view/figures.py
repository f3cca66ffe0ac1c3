"""The figures of the page, drawn by Bokeh: the network, and the curves under it.

Lines and dots have names, by which `player.js` finds and fills them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, HoverTool, NumeralTickFormatter, Range1d, TapTool
from bokeh.models.annotations import Legend
from bokeh.models.ui import UIElement
from bokeh.plotting import figure

from smgrnn.arrays import Floats
from smgrnn.episodes.table import Episodes
from smgrnn.runs.pictures import EDGES, LIKENESS, NODES, RETURN, find_likeness, moving_average
from smgrnn.view.style import FONT, INK, LINE, SOFT
from smgrnn.view.timeline import Timeline

MOST_POINTS = 2000
"""Most episodes whose values a curve shows."""
LEFT, RIGHT = 52, 12
"""Room beside the curves for the numbers, in pixels; the page's cursor moves between."""
LINE_COLUMNS = {"xs": "xs", "ys": "ys", "line_width": "width"}
LINE_COLUMNS |= {"line_color": "colour", "line_alpha": "alpha"}
"""The columns that `player.js` fills for lines, by what they are to Bokeh."""
DOT_COLUMNS = {"x": "x", "y": "y", "size": "size", "fill_color": "fill"}
DOT_COLUMNS |= {"line_color": "outline", "line_width": "border", "alpha": "alpha"}
"""The columns that it fills for dots."""


def network_figure(timeline: Timeline, places: Floats) -> UIElement:
    """Return the network's figure: the names of inputs and outputs, and room for the rest."""
    plot = figure(
        x_range=Range1d(start=-0.1, end=1.1),  # the page makes room for the names
        y_range=Range1d(start=-0.04, end=1.04),
        sizing_mode="stretch_both",
        tools="pan,wheel_zoom,reset",
        active_drag=None,
        active_scroll=None,
        toolbar_location="right",
        outline_line_color=None,
        min_border=4,
    )
    plot.axis.visible = plot.grid.visible = False
    plot.toolbar.logo, plot.toolbar.autohide = None, True
    _add_lines(plot, "halos")
    edges = _add_lines(plot, "edges")
    _add_dots(plot, "glows")
    nodes = _add_dots(plot, "nodes")
    _add_names(plot, timeline, places)
    plot.add_tools(
        HoverTool(tooltips=None, renderers=[nodes, edges], visible=False),
        # what hovering is to a finger
        TapTool(behavior="inspect", renderers=[nodes, edges], visible=False),
    )
    return plot


def _add_lines(plot: Any, name: str) -> Any:
    source = ColumnDataSource({key: [] for key in LINE_COLUMNS.values()})
    look = {"line_cap": "round", "hover_line_color": INK}
    return plot.multi_line(**LINE_COLUMNS, **look, source=source, name=name)


def _add_dots(plot: Any, name: str) -> Any:
    source = ColumnDataSource({key: [] for key in DOT_COLUMNS.values()})
    return plot.scatter(**DOT_COLUMNS, hover_line_color=INK, source=source, name=name)


def _add_names(plot: Any, timeline: Timeline, places: Floats) -> None:
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
        )


@dataclass(frozen=True)
class Curve:
    """One line of a panel; a noisy one is drawn faintly, with its moving average over it."""

    label: str
    values: Floats
    colour: str
    is_noisy: bool = True


def find_panels(episodes: Episodes) -> list[list[Curve]]:
    """Return the curves of a run by panel: return, size, and likeness where there is a teacher."""
    panels = [
        [Curve("return", episodes.returns, RETURN)],
        [
            Curve("nodes", episodes.n_nodes.astype(float), NODES, is_noisy=False),
            Curve("edges", episodes.n_edges.astype(float), EDGES, is_noisy=False),
        ],
    ]
    likeness = find_likeness(episodes)
    if likeness is not None:
        values, label = likeness
        panels.append([Curve(label, values, LIKENESS)])
    return panels


def curves_figure(episodes: Episodes, unit: str) -> UIElement:
    """Return the panels of curves over the episodes, all of one width."""
    x_range = Range1d(start=0, end=episodes.n)
    panels = find_panels(episodes)
    plots = [_panel(curves, x_range) for curves in panels]
    plots[-1].xaxis.visible = True
    plots[-1].xaxis.axis_label = unit
    plots[-1].height += 42
    return column(*plots, sizing_mode="stretch_width", spacing=2)


def _panel(curves: list[Curve], x_range: Range1d) -> Any:
    plot = figure(
        x_range=x_range,
        height=100,
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
        outline_line_color=None,
        min_border_left=LEFT,
        min_border_right=RIGHT,
    )
    plot.add_layout(Legend(), "above")
    for curve in curves:
        _draw_curve(plot, curve)
    _style(plot)
    return plot


def _draw_curve(plot: Any, curve: Curve) -> None:
    n = curve.values.size
    shown = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    line = {"color": curve.colour, "legend_label": curve.label}
    if not curve.is_noisy:
        plot.line(shown + 1, curve.values[shown], line_width=1.8, **line)
        return
    plot.line(shown + 1, curve.values[shown], line_width=0.7, alpha=0.3, color=curve.colour)
    average = moving_average(curve.values)
    first = n - average.size
    shown = shown[shown >= first]
    plot.line(shown + 1, average[shown - first], line_width=1.8, **line)


def _style(plot: Any) -> None:
    plot.xaxis.visible = plot.xgrid.visible = False
    plot.ygrid.grid_line_color = LINE
    plot.yaxis.ticker.desired_num_ticks = 3
    plot.yaxis.formatter = NumeralTickFormatter(format="0[.][000]a")  # 20k, never too wide
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
    plot.legend.glyph_height, plot.legend.spacing = 16, 16
