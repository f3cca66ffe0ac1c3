"""The page: one file that opens from disk, with Bokeh, the timeline and the player inside.

`page.html` is the template, `player.js` moves the network along the timeline, and `live.js` follows
a run under way.  `drawing.js` finds lines and dots of the figure by their names.
"""

import json
from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from bokeh import models
from bokeh.core.properties import value
from bokeh.embed import json_item
from bokeh.models.ui import UIElement
from bokeh.plotting import figure
from bokeh.resources import Resources
from numpy.typing import NDArray

from smgrnn.arrays import Floats
from smgrnn.graph.drawing import BEND, NARROW, OUTLINE
from smgrnn.plotting import save_figure
from smgrnn.runs.checkpoints import Checkpoint
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.pictures import curves_figure, find_done
from smgrnn.runs.record import Record
from smgrnn.storage import write_file
from smgrnn.view import style
from smgrnn.view.timeline import Timeline

SCRIPTS = ("timeline.js", "drawing.js", "story.js", "player.js", "live.js")
# The columns that `drawing.js` fills:
LINES = ("xs", "ys", "line_width", "line_color", "line_alpha")
DOTS = ("x", "y", "size", "fill_color", "line_color", "line_width", "alpha")
ARROWS = ("x", "y", "size", "angle", "color", "alpha")


def write_page(run: Any, path: str | Path, student: Checkpoint | None = None) -> None:
    """Write a page that shows the growth of a run's selected network, or of another student.

    `run` is a run, its record, or a network that your own loop trained.
    """
    write_file(Path(path), page(record_of(run), student).encode())


def page(run: Record, student: Checkpoint | None = None) -> str:
    """Return the page as HTML."""
    return fill_frame(contents(run, student))


def fill_frame(content: dict[str, Any]) -> str:
    """Return the page with this content as HTML."""
    paths = (files("smgrnn.view").joinpath(name) for name in ("page.html", *SCRIPTS))
    frame, *scripts = (path.read_text(encoding="utf-8") for path in paths)
    themes = {
        theme: " ".join(f"--{name}: {pair[index]};" for name, pair in style.COLOURS.items())
        for index, theme in enumerate(("light", "dark"))
    }
    return Template(frame).substitute(
        {name: content[name] for name in ("title", "facts", "notices", "legend")} | themes,
        connect="; connect-src 'self'" if content["isLive"] else "",
        bokeh="".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        content=json.dumps(content).replace("<", "\\u003c"),
        player="\n".join(scripts),
    )


def contents(run: Record, student: Checkpoint | None = None, *, is_live: bool = False) -> Any:
    """Return everything that the page shows: texts as markup, figures, columns of numbers.

    A run under way shows its current student and leaves space for new nodes.
    """
    student = run.final if is_live else student or run.selected
    record = run.until(student)
    plan, whole = record.plan, Timeline.of(record)
    timeline = whole.thinned()
    positions = style.place_nodes(timeline, spare=is_live)
    node_size, widest, largest = style.drawn_sizes(timeline)
    unit = "candidate" if record.is_evolved else "episode"
    graph, threshold = record.final.graph, plan.task.reward_threshold
    facts = (
        f"{record.episodes.n:,} episodes, {len(record.edits.rows):,} structural changes: "
        f"{graph.n_nodes:,} nodes ({graph.n_hidden:,} hidden) and {graph.n_edges:,} edges."
    )
    if (done := find_done(record)) is not None:
        facts += f" Solved in episode {done:,}: the last 100 returned {threshold:g} on average."
    kinds = [kind for kind in OUTLINE if kind in timeline.kinds]
    legend = [("ring", kind.removesuffix(" input"), kind) for kind in kinds]
    legend += [("line", "positive", "positive weight"), ("line", "negative", "negative weight")]
    grown = style.grown_by(timeline)
    legend += [("dot", style.TONES[cause], f"new by {style.WORDS[cause]}") for cause in grown]
    if (np.concatenate([timeline.nodes.died_by, timeline.edges.died_by]) >= 0).any():
        legend.append(("dot faded", "soft", "removed, fading"))
    return {
        "title": escape(f"{plan.task.id}, {plan.student}, seed {plan.seed}"),
        "facts": escape(facts),
        "notices": _notices(run, whole, timeline, is_live=is_live),
        "legend": "".join(
            f'<li class="{kind}" style="--tone: var(--{tone})">{text}</li>'
            for kind, tone, text in legend
        ),
        "network": json_item(_network_figure(timeline, positions)),
        "curves": _draw_curves(record, unit) if record.episodes.n else None,
        "timeline": {
            "nInputs": timeline.n_inputs,
            "nBiases": timeline.n_biases,
            "nFixed": timeline.n_fixed,
            "nodes": _pack(timeline.nodes._asdict() | {"x": positions[:, 0], "y": positions[:, 1]}),
            "edges": _pack(timeline.edges._asdict()),
            "tracks": _pack(timeline.tracks._asdict()),
            "sizes": _pack(whole.sizes()),
            **_pack({"ends": timeline.ends}),
        },
        "episodes": _pack(record.episodes._asdict()),
        "style": {
            "grown": {int(cause): tone for cause, tone in style.TONES.items()},
            "causes": {int(cause): word for cause, word in style.WORDS.items()},
            "glow": style.GLOW,
            "fade": style.FADE,
            "narrow": NARROW,
            "wide": widest,
            "bend": BEND,
            "nPoints": style.N_POINTS,
            "nodeSize": node_size,
            "largestWeight": largest,
            "names": [escape(name) for name in timeline.names],  # the player writes them as HTML
        },
        "unit": unit,
        "nEpisodes": plan.n_episodes if is_live else record.episodes.n,
        "isLive": is_live,
        "isFinished": run.is_finished,
    }


def _notices(run: Record, whole: Timeline, drawn: Timeline, *, is_live: bool) -> str:
    plan, n, n_shown = run.plan, run.episodes.n, whole.ends.size - 1
    selected = run.selected.episode if is_live and run.held_out.size else 0
    found = []
    if run.is_evolved:
        found.append("This network was evolved. The curves show all candidates in order.")
    elif not (run.is_finished or is_live):
        found.append(f"The run was interrupted after {n:,} of {plan.n_episodes:,} episodes.")
    if n_shown < n:
        shown = f"This is the network of episode {n_shown:,} of {n:,}."
        found.append(f"{shown} --final shows the last one.")
    if 0 < selected < n_shown:
        found.append(f"Selected network: episode {selected:,}; see `smgrnn view`.")
    if run.snapshots.episode.size == 0 and not run.is_evolved:
        between = "They are interpolated between structural changes."
        found.append(f"This run kept no weights on the way. {between}")
    if drawn.nodes.n < whole.nodes.n or drawn.edges.n < whole.edges.n:
        found.append(
            f"The network is too large to be drawn whole: {drawn.nodes.n:,} of the "
            f"{whole.nodes.n:,} nodes and {drawn.edges.n:,} of the {whole.edges.n:,} edges are "
            "shown. The curves and figures count all of them."
        )
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in found)


def _pack(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return numbers for the player: the bytes of Int32Arrays or Float32Arrays."""
    packed = {}
    for name, each in columns.items():
        kind = "<i4" if each.dtype.kind == "i" else "<f4"
        packed[name] = {"kind": kind, "bytes": b64encode(each.astype(kind).tobytes()).decode()}
    return packed


def _network_figure(timeline: Timeline, positions: Floats) -> UIElement:
    """Return the figure with the names of inputs and outputs; the player fills in the rest."""
    plot: Any = figure(
        x_range=models.Range1d(start=-0.1, end=1.1),  # the page widens it by the names
        y_range=models.Range1d(start=-0.04, end=1.04),
        sizing_mode="stretch_both",
        tools=[],
        min_border=4,
        toolbar_location=None,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
    )
    plot.axis.visible = plot.grid.visible = False

    def add(name: str, glyph: Any, columns: tuple[str, ...], **look: Any) -> Any:
        source = models.ColumnDataSource({column: [] for column in columns})
        return glyph(**{each: each for each in columns}, **look, source=source, name=name)

    add("halos", plot.multi_line, LINES, line_cap="round")
    edges = add("edges", plot.multi_line, LINES, line_cap="round", hover_line_color=style.INK)
    add("arrows", plot.scatter, ARROWS, marker="triangle", line_width=0)
    add("glows", plot.scatter, DOTS)
    nodes = add("nodes", plot.scatter, DOTS, hover_line_color=style.INK)
    n_inputs, n_fixed = timeline.n_inputs, timeline.n_fixed
    for side, rows in (("right", slice(n_inputs)), ("left", slice(n_inputs, n_fixed))):
        plot.text(
            x=positions[rows, 0],
            y=positions[rows, 1],
            text=timeline.names[rows],
            x_offset=-16 if side == "right" else 16,
            text_align=side,
            text_baseline="middle",
            text_font=value(style.FONT),
            text_font_size="13px",
            name="names",
        )
    wheel = models.WheelZoomTool()
    plot.toolbar.active_scroll, plot.toolbar.active_drag = wheel, None  # the page lets a mouse pan
    pointed: Any = {"renderers": [nodes, edges], "visible": False}
    # A tap of a finger shows the same as the pointer of a mouse.
    tap = models.TapTool(behavior="inspect", **pointed)
    plot.add_tools(models.PanTool(), wheel, models.HoverTool(tooltips=None, **pointed), tap)
    return plot  # type: ignore[no-any-return]


def _draw_curves(record: Record, unit: str) -> dict[str, Any]:
    """Return the curves of a run as an image, and the fractions of its width where they span."""
    picture = curves_figure(record)
    picture.suptitle("")
    picture.set_size_inches(9, 1.5 * len(picture.axes))
    panel = picture.axes[-1]
    panel.set(xlim=(0, record.episodes.n), xlabel=unit)
    image = f"data:image/svg+xml;base64,{b64encode(save_figure(picture, 'svg')).decode()}"
    ends = panel.transAxes.transform([(0, 0), (1, 0)])[:, 0] / picture.bbox.width
    return {"image": image, "left": ends[0], "right": 1 - ends[1]}
