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

from smgrnn.graph.edit import Cause
from smgrnn.runs.family import Member
from smgrnn.runs.own_loop import record_of
from smgrnn.runs.pictures import find_done
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.storage import write_file, writing
from smgrnn.view import style
from smgrnn.view.figures import LEFT, RIGHT, curves_figure, find_panels, network_figure
from smgrnn.view.timeline import Timeline

SCRIPTS = ("timeline.js", "drawing.js", "story.js", "player.js", "live.js")
"""The program of the page, in the order in which its parts are read."""
WORDS = ("title", "facts", "notices", "legend")
"""Parts of the content that are markup of their own."""


def write_page(run: Any, path: str | Path, student: Member | None = None) -> None:
    """Write a page on which a run's selected network, or another student of it, grows.

    `run` is a run, its record, or a network that your own loop trained.
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
    frame, *scripts = (
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", *SCRIPTS)
    )
    colours = {"light": style.LIGHT, "dark": style.DARK}
    return Template(frame).substitute(
        {name: content[name] for name in WORDS},
        **{
            theme: " ".join(f"--{name}: {colour};" for name, colour in each.items())
            for theme, each in colours.items()
        },
        connect="; connect-src 'self'" if content["isLive"] else "",
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
    places = style.place_nodes(timeline, spare=is_live)
    unit = "candidate" if record.is_evolved else "episode"
    panels = find_panels(record.episodes, plan.task.reward_threshold) if record.episodes.n else []
    sentences = notices(run, whole, timeline, is_live=is_live)
    return {
        "title": escape(f"{plan.task.id}, {plan.student}, seed {plan.seed}"),
        "facts": escape(_facts(record)),
        "notices": "".join(f"<p>{escape(text)}</p>" for text in sentences),
        "legend": _legend(timeline),
        "network": json_item(network_figure(timeline, places)),
        "curves": json_item(curves_figure(panels, unit)) if panels else None,
        "lines": {
            curve.name: _pack({"x": curve.x.astype(float), "y": curve.y})
            for curves in panels
            for curve in curves
        },
        "timeline": {
            "nInputs": timeline.n_inputs,
            "nFixed": timeline.n_fixed,
            "nodes": _pack(timeline.nodes._asdict() | {"x": places[:, 0], "y": places[:, 1]}),
            "edges": _pack(timeline.edges._asdict()),
            "tracks": _pack(timeline.tracks._asdict()),
            "sizes": _pack(whole.sizes()._asdict()),
            **_pack({"ends": timeline.ends}),
        },
        "episodes": _pack(record.episodes._asdict()),
        "style": {
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
        },
        "unit": unit,
        "done": find_done(record),
        "nEpisodes": plan.n_episodes if is_live else record.episodes.n,
        "isLive": is_live,
        "isFinished": run.is_finished,
    }


def notices(run: Record, whole: Timeline, drawn: Timeline, *, is_live: bool = False) -> list[str]:
    """Return the notices that a reader of the page needs, a sentence or two each."""
    plan, n, n_shown, selected = run.plan, run.episodes.n, whole.ends.size - 1, 0
    stages = plan.stages if isinstance(plan, Plan) and plan.origin is not None else ()
    if is_live and run.held_out.size:
        selected = run.handed_over.episode
    is_cut = not (run.is_evolved or run.is_finished or is_live)
    is_thinned = drawn.nodes.n < whole.nodes.n or drawn.edges.n < whole.edges.n
    found = {
        "This network was evolved. The curves show all candidates in order.": run.is_evolved,
        f"The run was interrupted after {n:,} of {plan.n_episodes:,} episodes.": is_cut,
        f"Learned in sequence: {', then '.join(each.task.id for each in stages)}.": bool(stages),
        f"This is the network of episode {n_shown:,} of {n:,}. --final shows the last one.": (
            n_shown < n
        ),
        f"Selected network: episode {selected:,}; see `smgrnn view`.": 0 < selected < n_shown,
        "This run kept no weights on the way. They are interpolated between structural changes.": (
            run.snapshots.episode.size == 0 and not run.is_evolved
        ),
        f"The network is too large to be drawn whole: {drawn.nodes.n:,} of the {whole.nodes.n:,} "
        f"nodes and {drawn.edges.n:,} of the {whole.edges.n:,} edges are shown. The curves and "
        "figures count all of them.": is_thinned,
    }
    return [sentence for sentence, holds in found.items() if holds]


def _facts(record: Record) -> str:
    n_changes, graph, done = len(record.edits.rows), record.graph, find_done(record)
    what = f"{graph.n_nodes:,} nodes ({graph.n_hidden:,} hidden) and {graph.n_edges:,} edges"
    text = f"{record.episodes.n:,} episodes, {n_changes:,} structural changes: {what}."
    if done is None:
        return text
    threshold = record.plan.task.reward_threshold
    return f"{text} Solved in episode {done:,}: the last 100 returned {threshold:g} on average."


def _legend(timeline: Timeline) -> str:
    entries = [("line", "positive", "positive weight"), ("line", "negative", "negative weight")]
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


def _pack(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return numbers as the player unpacks them: the bytes of Int32Arrays or Float32Arrays."""
    kinds = {name: "<i4" if each.dtype.kind == "i" else "<f4" for name, each in columns.items()}
    return {
        name: {"kind": kind, "bytes": b64encode(columns[name].astype(kind).tobytes()).decode()}
        for name, kind in kinds.items()
    }
