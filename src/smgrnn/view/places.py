"""Where each node is drawn: inputs left, outputs right, hidden ones in a disc between.

A node keeps its place for life.  The disc has as many places as there are ever hidden nodes at a
time, and a place that a removed node left is given to a later one.
"""

from heapq import heappop, heappush

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.view.timeline import Timeline

CENTRE: Floats = np.array([0.5, 0.5])
RADII: Floats = np.array([0.33, 0.46])
LEAST_SPARE = 16
"""Fewest places of a disc that has spare ones."""
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def place_nodes(timeline: Timeline, *, spare: bool = False) -> Floats:
    """Return x and y of every node, from 0 to 1 (n_nodes, 2).

    With spare places, up to a power of two, few nodes that are to come make all others move.
    """
    nodes, n_inputs, n_fixed = timeline.nodes, timeline.n_inputs, timeline.n_fixed
    found = np.tile(CENTRE, (nodes.n, 1))
    found[:n_inputs] = _column(0, n_inputs)
    found[n_inputs:n_fixed] = _column(1, timeline.n_outputs)
    n_places = timeline.hidden.most_at_once()
    if spare:
        n_places = max(LEAST_SPARE, 1 << (n_places - 1).bit_length())
    places = _column(0.5, n_places) if _is_layer(timeline) else _disc(n_places)
    is_free = np.ones(len(places), dtype=np.bool_)
    taken: list[tuple[int, int]] = []  # when each place becomes free again
    rows = {id: row for row, id in enumerate(nodes.id.tolist())}
    for node in range(n_fixed, nodes.n):
        while taken and taken[0][0] <= nodes.born[node]:
            is_free[heappop(taken)[1]] = True
        ends = [rows[id] for id in (nodes.source[node], nodes.target[node]) if id in rows]
        wish = found[ends].mean(axis=0) if ends else CENTRE
        distance = np.square((places - wish) / RADII).sum(axis=1)
        place = int(np.where(is_free, distance, np.inf).argmin())
        found[node], is_free[place] = places[place], False
        heappush(taken, (int(nodes.died[node]), place))
    return found


def _is_layer(timeline: Timeline) -> bool:
    """Return whether no hidden node was added and no two are ever joined, as in a static MLP."""
    edges = timeline.edges
    hidden = [np.isin(ends, timeline.hidden.id) for ends in (edges.source, edges.target)]
    return not (hidden[0] & hidden[1]).any() and not (timeline.hidden.born > 0).any()


def _column(x: float, n: int) -> Floats:
    """Return `n` places above each other, from top to bottom."""
    return np.stack([np.full(n, x), np.linspace(1, 0, n + 2)[1:-1]], axis=1)


def _disc(n: int) -> Floats:
    """Return `n` places at even distances from each other, in the manner of a sunflower."""
    number = np.arange(n)
    radius, angle = np.sqrt(number / max(n, 1)), number * GOLDEN_ANGLE
    disc: Floats = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return CENTRE + RADII * disc
