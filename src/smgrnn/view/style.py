"""The colours, sizes and words that page and film share."""

import numpy as np

from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE
from smgrnn.graph.edit import Cause
from smgrnn.runs.pictures import EDGES, LIKENESS, NODES, RETURN
from smgrnn.view.timeline import Timeline

INK, SOFT, LINE = "#1b2430", "#5a6675", "#dfe4ea"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
LIGHT = {
    "paper": "#ffffff",
    "ink": INK,
    "soft": SOFT,
    "line": LINE,
    "accent": "#1f5a96",
    "notice": "#fdf4dc",
    "positive": POSITIVE,
    "negative": NEGATIVE,
    **OUTLINE,
    "node": "#a3329f",
    "edge": "#0b9a9e",
    "return": RETURN,
    "nodes": NODES,
    "edges": EDGES,
    "likeness": LIKENESS,
}
"""Colours by what they are for; films have these, and the page in a light window."""
DARK = {
    "paper": "#12161c",
    "ink": "#e8edf3",
    "soft": "#9aa7b6",
    "line": "#2c3540",
    "accent": "#5b9bdc",
    "notice": "#332a12",
    "positive": "#63a4ea",
    "negative": "#eda45a",
    "input": "#57c46a",
    "output": "#f0716b",
    "hidden": "#9aa7b6",
    "node": "#d977d5",
    "edge": "#3fc6c9",
    "return": "#63a4ea",
    "nodes": "#a7b2bf",
    "edges": "#eda45a",
    "likeness": "#57c46a",
}
"""The same colours in a dark window."""
TONES = {
    Cause.RELAY: "node",
    Cause.EXPLORATION: "edge",
    Cause.CANDIDATE: "node",
    Cause.GRADIENT: "edge",
    Cause.SPLIT: "node",
    Cause.DUPLICATE: "node",
}
"""Names of the colours of nodes and edges that have just been added, by cause."""
GROWN = {cause: LIGHT[tone] for cause, tone in TONES.items()}
GLOW, FADE = 0.012, 0.006
"""Share of the run for which new nodes and edges glow, and for which removed ones fade."""
NARROW = 0.6
"""Width of an edge without weight, in points."""
BEND, N_POINTS = 0.12, 9
"""How far an edge swings to the left of the straight way, and the points it is drawn through."""


def css(colours: dict[str, str]) -> str:
    """Return colours as the properties of a style sheet."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def word(cause: Cause) -> str:
    """Return a cause as people say it."""
    return cause.name.lower().replace("_", " ")


def grown_by(timeline: Timeline) -> dict[Cause, str]:
    """Return the causes by which anything grew, with their colours."""
    came = np.concatenate([timeline.nodes.born_by, timeline.edges.born_by])
    return {cause: colour for cause, colour in GROWN.items() if (came == cause).any()}


def node_size(timeline: Timeline) -> float:
    """Return the diameter of a node in points: the more there are at a time, the smaller."""
    n_nodes = timeline.n_fixed + timeline.hidden.most_at_once()
    return float(np.clip(80 / np.sqrt(n_nodes), 6, 20))


def widest_edge(timeline: Timeline) -> float:
    """Return the width of the widest edge in points: the more there are at a time, the thinner."""
    return float(np.clip(60 / np.sqrt(max(timeline.edges.most_at_once(), 1)), 1.5, 5))


def largest_weight(timeline: Timeline) -> float:
    """Return the weight of the widest edge; widths grow with the logarithm of 1 + |weight|."""
    return float(np.abs(timeline.tracks.weight).max(initial=0)) or 1.0
