"""The page: one file that opens from disk, with Bokeh, the timeline and the player inside.

The frame, with its style, is `page.html`; `player.js` moves the network along the timeline, and
`live.js` follows a run under way.
"""

import json
from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from bokeh.embed import json_item
from bokeh.resources import Resources
from numpy.typing import NDArray

from smgrnn.episodes.table import Episodes
from smgrnn.graph.edit import Cause
from smgrnn.runs.family import Member
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.pictures import find_done
from smgrnn.runs.record import Record
from smgrnn.storage import write_file, writing
from smgrnn.view import style
from smgrnn.view.figures import (
    LEFT,
    RIGHT,
    curve_lines,
    curves_figure,
    find_panels,
    network_figure,
)
from smgrnn.view.places import place_nodes
from smgrnn.view.timeline import Lives, Sizes, Timeline, Tracks

SCRIPTS = ("timeline.js", "drawing.js", "story.js", "player.js", "live.js")
"""The program of the page, in the order in which its parts are read."""
WORDS = ("title", "facts", "notices", "legend")
"""Parts of the content that are markup of their own."""


def write_page(run: Any, path: str | Path, student: Member | None = None) -> None:
    """Write the growth of what a run hands over, or of another student of it, as a page.

    `run` is a run, its record, or a network of your own loop.
    """
    path, content = Path(path), page(record_of(run), student)
    with writing(path):
        write_file(path, content.encode())


def page(run: Record, student: Member | None = None) -> str:
    """Return the page as HTML."""
    return fill_frame(contents(run, student))


def fill_frame(content: dict[str, Any]) -> str:
    """Return the page with this content as HTML."""
    folder = files("smgrnn.view")
    frame = folder.joinpath("page.html").read_text(encoding="utf-8")
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS]
    return Template(frame).substitute(
        {name: content[name] for name in WORDS},
        connect="; connect-src 'self'" if content["isLive"] else "",
        light=style.css(style.LIGHT),
        dark=style.css(style.DARK),
        left=LEFT,
        right=RIGHT,
        bokeh="".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        content=json.dumps(content).replace("<", "\\u003c"),
        player="\n".join(scripts),
    )


def contents(run: Record, student: Member | None = None, *, is_live: bool = False) -> Any:
    """Return all that there is to show of a run: words as markup, figures, columns of numbers.

    Of a run under way it is the student as it is now, with room for nodes that are to come.
    """
    student = run.student(final=True) if is_live else student or run.handed_over
    record = run.until(student)
    plan, whole = record.plan, Timeline.of(record)
    timeline = whole.thinned()
    places = place_nodes(timeline, spare=is_live)
    unit = "candidate" if record.is_evolved else "episode"
    panels = find_panels(record.episodes, plan.task.reward_threshold) if record.episodes.n else []
    return {
        "title": escape(f"{plan.task.id}, {plan.student}, seed {plan.seed}"),
        "facts": escape(_facts(record)),
        "notices": "".join(
            f"<p>{escape(text)}</p>" for text in notices(run, whole, timeline, is_live=is_live)
        ),
        "legend": _legend(timeline),
        "network": json_item(network_figure(timeline, places)),
        "curves": json_item(curves_figure(panels, unit)) if panels else None,
        "lines": {
            name: {axis: _pack(values) for axis, values in line.items()}
            for name, line in curve_lines(panels).items()
        },
        "timeline": _timeline(timeline, places) | {"sizes": _pack_all(whole.sizes())},
        "episodes": _pack_all(record.episodes),
        "style": _style(timeline),
        "unit": unit,
        "done": find_done(record),
        "nEpisodes": plan.n_episodes if is_live else record.episodes.n,
        "isLive": is_live,
        "isFinished": run.is_finished,
    }


def notices(
    record: Record, whole: Timeline, drawn: Timeline, *, is_live: bool = False
) -> list[str]:
    """Return the notices that a reader of the page needs, a sentence each."""
    found = []
    if record.is_evolved:
        found.append(
            "This network was evolved: it is the champion as it was found, and the curves are of "
            "all candidates, one after the other."
        )
    elif not record.is_finished and not is_live:
        found.append(
            f"The run was interrupted after {record.episodes.n:,} of {record.plan.n_episodes:,} "
            "episodes; this is what there is so far."
        )
    n_shown = whole.ends.size - 1
    if n_shown < record.episodes.n:
        found.append(
            f"This is the student of episode {n_shown:,}; the run went on to episode "
            f"{record.episodes.n:,}, which --final shows."
        )
    if is_live and record.held_out.size and record.handed_over.episode < n_shown:
        found.append(
            f"The run hands over its student of episode {record.handed_over.episode:,}, which "
            "`smgrnn view` shows."
        )
    if record.snapshots.episode.size == 0 and not record.is_evolved:
        found.append(
            "This run kept no weights on the way: they are known where the structure changed and "
            "at the end, and drawn in a straight line between."
        )
    if drawn.nodes.n < whole.nodes.n or drawn.edges.n < whole.edges.n:
        found.append(
            f"The network is too large to be drawn whole: {drawn.nodes.n:,} of the "
            f"{whole.nodes.n:,} nodes and {drawn.edges.n:,} of the {whole.edges.n:,} edges that "
            "it ever had are shown, evenly chosen. The curves and figures count all of them."
        )
    return found


def _facts(record: Record) -> str:
    n_changes, graph = len(record.edits.rows), record.graph
    what = f"{graph.n_nodes:,} nodes ({graph.n_hidden:,} hidden) and {graph.n_edges:,} edges"
    if n_changes == 0:
        text = f"{record.episodes.n:,} episodes; {what} throughout."
    else:
        text = f"{record.episodes.n:,} episodes with {n_changes:,} structural changes, to {what}."
    done, threshold = find_done(record), record.plan.task.reward_threshold
    if done is None:
        return text
    return (
        f"{text} The job was done in episode {done:,}, when the last 100 returned {threshold:g} "
        "on average."
    )


def _legend(timeline: Timeline) -> str:
    entries = [("line", "positive", "positive weight"), ("line", "negative", "negative")]
    entries += [
        ("dot", style.TONES[cause], f"new by {style.word(cause)}")
        for cause in style.grown_by(timeline)
    ]
    if (np.concatenate([timeline.nodes.died_by, timeline.edges.died_by]) >= 0).any():
        entries.append(("dot faded", "soft", "removed, fading"))
    return "".join(
        f'<li class="{kind}" style="--tone: var(--{tone})">{text}</li>'
        for kind, tone, text in entries
    )


def _timeline(timeline: Timeline, places: NDArray[Any]) -> dict[str, Any]:
    return {
        "nInputs": timeline.n_inputs,
        "nFixed": timeline.n_fixed,
        "nodes": _pack_all(timeline.nodes) | {"x": _pack(places[:, 0]), "y": _pack(places[:, 1])},
        "edges": _pack_all(timeline.edges),
        "tracks": _pack_all(timeline.tracks),
        "ends": _pack(timeline.ends),
    }


def _style(timeline: Timeline) -> dict[str, Any]:
    return {
        "grown": {int(cause): tone for cause, tone in style.TONES.items()},
        "causes": {int(cause): style.word(cause) for cause in Cause},
        "glow": style.GLOW,
        "fade": style.FADE,
        "narrow": style.NARROW,
        "wide": style.widest_edge(timeline),
        "bend": style.BEND,
        "nPoints": style.N_POINTS,
        "nodeSize": style.node_size(timeline),
        "largestWeight": style.largest_weight(timeline),
        "names": [escape(name) for name in timeline.names],  # the player writes them as HTML
    }


def _pack_all(columns: Episodes | Lives | Tracks | Sizes) -> dict[str, Any]:
    return {name: _pack(column) for name, column in columns._asdict().items()}


def _pack(column: NDArray[Any]) -> dict[str, str]:
    """Return numbers as the player unpacks them: the bytes of an Int32Array or Float32Array."""
    kind = "<i4" if column.dtype.kind == "i" else "<f4"
    return {"kind": kind, "bytes": b64encode(column.astype(kind).tobytes()).decode()}
