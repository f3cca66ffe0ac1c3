"""The figures of the page, drawn by Bokeh: the network, and the curves under it.

Lines and dots have names, by which `drawing.js` finds and fills them, in the colours of the window.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.layouts import column
from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    NumeralTickFormatter,
    PanTool,
    Range1d,
    TapTool,
    WheelZoomTool,
)
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
LINE_COLUMNS = {"xs": "xs", "ys": "ys", "line_width": "width"}
LINE_COLUMNS |= {"line_color": "colour", "line_alpha": "alpha"}
"""The columns that `drawing.js` fills for lines, by what they are to Bokeh."""
DOT_COLUMNS = {"x": "x", "y": "y", "size": "size", "fill_color": "fill"}
DOT_COLUMNS |= {"line_color": "outline", "line_width": "border", "alpha": "alpha"}
"""The columns that it fills for dots."""
ARROW_COLUMNS = {"x": "x", "y": "y", "size": "size", "angle": "angle", "color": "colour"}
ARROW_COLUMNS |= {"alpha": "alpha"}
"""The columns that it fills for arrowheads."""


def network_figure(timeline: Timeline, places: Floats) -> UIElement:
    """Return the network's figure: the names of inputs and outputs, and room for the rest."""
    plot = figure(
        x_range=Range1d(start=-0.1, end=1.1),  # the page makes room for the names
        y_range=Range1d(start=-0.04, end=1.04),
        sizing_mode="stretch_both",
        tools=[],
        toolbar_location=None,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        min_border=4,
    )
    plot.axis.visible = plot.grid.visible = False
    _add_lines(plot, "halos")
    edges = _add_lines(plot, "edges")
    _add_arrows(plot)
    _add_dots(plot, "glows")
    nodes = _add_dots(plot, "nodes")
    _add_names(plot, timeline, places)
    wheel = WheelZoomTool()
    plot.toolbar.active_scroll, plot.toolbar.active_drag = wheel, None  # the page lets a mouse pan
    plot.add_tools(
        PanTool(),
        wheel,
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


def _add_arrows(plot: Any) -> None:
    source = ColumnDataSource({key: [] for key in ARROW_COLUMNS.values()})
    plot.scatter(marker="triangle", line_width=0, **ARROW_COLUMNS, source=source, name="arrows")


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
            name="names",
        )


@dataclass(frozen=True)
class TimeCurve:
    """One line of a panel; a noisy one is drawn faintly, with its moving average over it."""

    label: str
    values: Floats
    tone: str
    """Name of its colour."""
    is_noisy: bool = False
    is_goal: bool = False
    """Whether it is what the others are to reach."""


def find_panels(episodes: Episodes, threshold: float | None = None) -> list[list[TimeCurve]]:
    """Return the curves of a run by panel: return, size, and likeness where there is a teacher."""
    panels = [
        [TimeCurve("return", episodes.returns, "return", is_noisy=True)],
        [
            TimeCurve("nodes", episodes.n_nodes.astype(float), "nodes"),
            TimeCurve("edges", episodes.n_edges.astype(float), "edges"),
        ],
    ]
    if threshold is not None:
        goal = np.full(episodes.n, threshold)
        panels[0].append(TimeCurve("threshold", goal, "soft", is_goal=True))
    likeness = find_likeness(episodes)
    if likeness is not None:
        values, label = likeness
        panels.append([TimeCurve(label, values, "likeness", is_noisy=True)])
    return panels


def curve_lines(panels: list[list[TimeCurve]]) -> dict[str, dict[str, Floats]]:
    """Return x and y of each line by its name, at `MOST_POINTS` episodes at most."""
    return {
        name: {"x": x.astype(float), "y": y}
        for curves in panels
        for curve in curves
        for name, x, y in _lines_of(curve)
    }


def _lines_of(curve: TimeCurve) -> list[tuple[str, Ints, Floats]]:
    n = curve.values.size
    shown = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    whole = (curve.label, shown + 1, curve.values[shown])
    if not curve.is_noisy:
        return [whole]
    average = moving_average(curve.values)
    first = n - average.size
    shown = shown[shown >= first]
    return [whole, (f"{curve.label}, averaged", shown + 1, average[shown - first])]


def curves_figure(panels: list[list[TimeCurve]], unit: str) -> UIElement:
    """Return the panels of curves over the episodes, all of one width."""
    x_range = Range1d(start=0, end=1)  # the page sets it
    plots = [_panel(curves, x_range) for curves in panels]
    plots[-1].xaxis.visible = True
    plots[-1].xaxis.axis_label = unit
    plots[-1].height += 42
    return column(*plots, sizing_mode="stretch_width", spacing=2)


def _panel(curves: list[TimeCurve], x_range: Range1d) -> Any:
    plot = figure(
        x_range=x_range,
        height=100,
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        min_border_left=LEFT,
        min_border_right=RIGHT,
    )
    plot.add_layout(Legend(), "above")
    for curve in curves:
        _draw_curve(plot, curve)
    _style(plot)
    return plot


def _draw_curve(plot: Any, curve: TimeCurve) -> None:
    lines = {name: y for name, _, y in _lines_of(curve)}
    look: dict[str, Any] = {"line_color": LIGHT[curve.tone], "line_width": 1.8}
    look |= {"line_width": 1.2, "line_dash": "dashed"} if curve.is_goal else {}
    for place, (name, y) in enumerate(lines.items()):
        is_faint = place < len(lines) - 1
        own = look | ({"line_width": 0.7, "alpha": 0.3} if is_faint else {})
        # Bokeh warns of a panel that begins with nothing to choose its range by.
        source = ColumnDataSource({"x": [0, 1], "y": [float(y.min()), float(y.max())]})
        label = {} if is_faint else {"legend_label": curve.label}
        line = plot.line("x", "y", source=source, name=name, **own, **label)
        line.tags = [curve.tone]


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
    plot.legend.background_fill_color = None
    plot.legend.glyph_height, plot.legend.spacing = 16, 16
