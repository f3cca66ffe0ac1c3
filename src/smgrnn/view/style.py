"""The colors, sizes and positions of nodes and edges on the page and in films.

They are those of `graph.drawing`, so the last moment looks like the picture of the network.  Hidden
nodes that are removed before the end stand in a disc between inputs and outputs.  A node never
moves; a later node may get the position of a removed one.
"""

from heapq import heappop, heappush

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.drawing import NEGATIVE, OUTLINE, POSITIVE, layout
from smgrnn.graph.edit import Cause
from smgrnn.view.timeline import FOREVER, Timeline

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
INK, SOFT, LINE = "#1b2430", "#5a6675", "#dfe4ea"
COLOURS = {
    "paper": ("#ffffff", "#12161c"),
    "ink": (INK, "#e8edf3"),
    "soft": (SOFT, "#9aa7b6"),
    "line": (LINE, "#2c3540"),
    "accent": ("#1f5a96", "#5b9bdc"),
    "notice": ("#fdf4dc", "#332a12"),
    "positive": (POSITIVE, "#63a4ea"),
    "negative": (NEGATIVE, "#eda45a"),
    "input": (OUTLINE["input"], "#57c46a"),
    "unused": (OUTLINE["unused input"], "#3d4854"),
    "bias": (OUTLINE["bias"], "#c49a8e"),
    "hidden": (OUTLINE["hidden"], "#9aa7b6"),
    "output": (OUTLINE["output"], "#f0716b"),
    "node": ("#a3329f", "#d977d5"),
    "edge": ("#0b9a9e", "#3fc6c9"),
}
"""Colors in a light window, as in films, and in a dark one."""
TONES = dict.fromkeys((Cause.RELAY, Cause.CANDIDATE, Cause.SPLIT, Cause.DUPLICATE), "node")
TONES |= dict.fromkeys((Cause.EXPLORATION, Cause.GRADIENT), "edge")
"""Names of the colors of new nodes and edges, by cause."""
GROWN = {cause: COLOURS[tone][0] for cause, tone in TONES.items()}
WORDS = {cause: cause.name.lower().replace("_", " ") for cause in Cause}
GLOW, FADE = 0.012, 0.006
"""Fraction of the run for which new nodes and edges glow, and for which removed ones fade."""
N_POINTS = 9  # points of the line of an edge
CENTRE: Floats = np.array([0.5, 0.5])
RADII: Floats = np.array([0.33, 0.46])
LEAST_SPARE = 16  # fewest positions of a disc that has spare ones


def grown_by(timeline: Timeline) -> list[Cause]:
    """Return the causes of growth in a run."""
    came = np.concatenate([timeline.nodes.born_by, timeline.edges.born_by])
    return [cause for cause in TONES if (came == cause).any()]


def drawn_sizes(timeline: Timeline) -> tuple[float, float, float]:
    """Return the diameter of a node, the largest width of an edge in points, and its weight."""
    n_nodes = timeline.n_fixed + timeline.hidden.most_at_once()
    n_edges = max(timeline.edges.most_at_once(), 1)
    largest = float(np.abs(timeline.tracks.weight).max(initial=0)) or 1.0
    node, edge = np.clip(80 / np.sqrt(n_nodes), 6, 20), np.clip(60 / np.sqrt(n_edges), 1.5, 5)
    return float(node), float(edge), largest


def place_nodes(timeline: Timeline, *, spare: bool = False) -> Floats:
    """Return x and y of every node, from 0 to 1 (n_nodes, 2).

    Spare positions, up to a power of two, let a run grow before others must move: in a run under
    way no hidden node is final.
    """
    nodes, places = timeline.nodes, layout(timeline.graph)
    is_final = (nodes.died == FOREVER) & ((np.arange(nodes.n) < timeline.n_fixed) | (not spare))
    found = np.tile(CENTRE, (nodes.n, 1))
    found[is_final] = [places[id] for id in nodes.id[is_final].tolist()]
    final, n_positions = found[is_final], nodes.only(~is_final).most_at_once()
    if spare:
        n_positions = max(LEAST_SPARE, 1 << (n_positions - 1).bit_length())
    number = np.arange(n_positions + (len(final) - timeline.n_fixed) * 2)  # like a sunflower
    radius, angle = np.sqrt(number / max(number.size, 1)), number * np.pi * (3 - np.sqrt(5))
    disc = CENTRE + RADII * radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if not spare:  # those farthest from final nodes
        distance = np.square((disc[:, None] - final) / RADII).sum(axis=2).min(axis=1)
        disc = disc[np.sort(np.argsort(-distance, kind="stable")[:n_positions])]
    is_free = np.ones(len(disc), dtype=np.bool_)
    taken: list[tuple[int, int]] = []  # the update that frees each position
    rows = {id: row for row, id in enumerate(nodes.id.tolist())}
    for node in np.flatnonzero(~is_final).tolist():
        while taken and taken[0][0] <= nodes.born[node]:
            is_free[heappop(taken)[1]] = True
        ends = [rows[id] for id in (nodes.source[node], nodes.target[node]) if id in rows]
        wish = found[ends].mean(axis=0) if ends else CENTRE
        distance = np.square((disc - wish) / RADII).sum(axis=1)
        nearest = int(np.where(is_free, distance, np.inf).argmin())
        found[node], is_free[nearest] = disc[nearest], False
        heappush(taken, (int(nodes.died[node]), nearest))
    return found
