"""The colours, sizes and words that page and film share."""

import numpy as np

from smgrnn.graph.edit import Cause
from smgrnn.view.timeline import Timeline

INK, SOFT, LINE = "#1b2430", "#5a6675", "#dfe4ea"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
GROWN = {
    Cause.RELAY: "#a3329f",
    Cause.EXPLORATION: "#0b9a9e",
    Cause.CANDIDATE: "#a3329f",
    Cause.GRADIENT: "#0b9a9e",
    Cause.SPLIT: "#a3329f",
    Cause.DUPLICATE: "#a3329f",
}
"""Colours of nodes and edges that have just been added, by cause."""
GLOW, FADE = 0.012, 0.006
"""Share of the run for which new nodes and edges glow, and for which removed ones fade."""
NARROW = 0.6
"""Width of an edge without weight, in points."""
BEND, N_POINTS = 0.12, 9
"""How far an edge swings to the left of the straight way, and the points it is drawn through."""


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
