"""The page: one file that opens from disk, with Bokeh, the timeline and the player inside.

The frame, with its style, is `page.html`; `player.js` moves the network along the timeline.
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
from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE
from smgrnn.graph.edit import Cause
from smgrnn.runs.family import Member
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.storage import write_file, writing
from smgrnn.view import style
from smgrnn.view.figures import LEFT, RIGHT, curves_figure, network_figure
from smgrnn.view.places import place_nodes
from smgrnn.view.timeline import Lives, Timeline, Tracks


def write_page(run: Any, path: str | Path, student: Member | None = None) -> None:
    """Write the growth of what a run hands over, or of another student of it, as a page.

    `run` is a run, its record, or a network of your own loop.
    """
    path, content = Path(path), page(record_of(run), student)
    with writing(path):
        write_file(path, content.encode())


def page(run: Record, student: Member | None = None) -> str:
    """Return the page as HTML."""
    record = run.until(student or run.handed_over)
    plan, whole = record.plan, Timeline.of(record)
    timeline = whole.thinned()
    places = place_nodes(timeline)
    unit = "candidate" if record.is_evolved else "episode"
    curves = curves_figure(record.episodes, unit) if record.episodes.n else None
    content = {
        "network": json_item(network_figure(timeline, places)),
        "curves": None if curves is None else json_item(curves),
        "timeline": _timeline(timeline, places),
        "episodes": _pack_all(record.episodes),
        "style": _style(timeline),
        "unit": unit,
    }
    folder = files("smgrnn.view")
    frame = folder.joinpath("page.html").read_text(encoding="utf-8")
    return Template(frame).substitute(
        title=escape(f"{plan.task.id}, {plan.student}, seed {plan.seed}"),
        facts=escape(_facts(record)),
        notices="".join(f"<p>{escape(text)}</p>" for text in notices(run, whole, timeline)),
        legend=_legend(timeline),
        left=LEFT,
        right=RIGHT,
        bokeh="".join(Resources(mode="inline", components=["bokeh"]).js_raw),
        content=json.dumps(content).replace("<", "\\u003c"),
        player=folder.joinpath("player.js").read_text(encoding="utf-8"),
    )


def notices(record: Record, whole: Timeline, drawn: Timeline) -> list[str]:
    """Return the notices that a reader of the page needs, a sentence each."""
    found = []
    if record.is_evolved:
        found.append(
            "This network was evolved: it is the champion as it was found, and the curves are of "
            "all candidates, one after the other."
        )
    elif not record.is_finished:
        found.append(
            f"The run was interrupted after {record.episodes.n:,} of {record.plan.n_episodes:,} "
            "episodes; this is what there is so far."
        )
    plan = record.plan
    if isinstance(plan, Plan) and plan.origin is not None:
        stages = ", then ".join(stage.task.id for stage in plan.stages)
        found.append(f"This student has learned a sequence of tasks: {stages}.")
    n_shown = whole.ends.size - 1
    if n_shown < record.episodes.n:
        found.append(
            f"This is the student of episode {n_shown:,}; the run went on to episode "
            f"{record.episodes.n:,}, which --final shows."
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
        return f"{record.episodes.n:,} episodes; {what} throughout."
    return f"{record.episodes.n:,} episodes with {n_changes:,} structural changes, to {what}."


def _legend(timeline: Timeline) -> str:
    entries = [("line", POSITIVE, "positive weight"), ("line", NEGATIVE, "negative")]
    for cause, colour in style.grown_by(timeline).items():
        entries.append(("dot", colour, f"new by {style.word(cause)}"))
    if (np.concatenate([timeline.nodes.died_by, timeline.edges.died_by]) >= 0).any():
        entries.append(("dot faded", style.SOFT, "removed, fading"))
    return "".join(
        f'<li class="{kind}" style="--tone: {colour}">{text}</li>' for kind, colour, text in entries
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
        "positive": POSITIVE,
        "negative": NEGATIVE,
        "outline": OUTLINE,
        "grown": {int(cause): colour for cause, colour in style.GROWN.items()},
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


def _pack_all(columns: Episodes | Lives | Tracks) -> dict[str, Any]:
    return {name: _pack(column) for name, column in columns._asdict().items()}


def _pack(column: NDArray[Any]) -> dict[str, str]:
    """Return numbers as the player unpacks them: the bytes of an Int32Array or Float32Array."""
    kind = "<i4" if column.dtype.kind == "i" else "<f4"
    return {"kind": kind, "bytes": b64encode(column.astype(kind).tobytes()).decode()}
