"""The timeline of a run: when each node and edge existed, why, and the weight of each edge.

It comes from the structural edits, the snapshots of the weights and the final graph.  Time counts
weight updates.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.graph.drawing import drawn_kinds
from smgrnn.graph.edit import Operation
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph
from smgrnn.runs.record import Record

FOREVER = np.iinfo(np.int32).max  # update of removal of the final nodes and edges
NO_CAUSE = -1  # cause of the initial nodes and edges, and of a removal that never happened
MOST_NODES, MOST_EDGES = 300, 1500  # most hidden nodes and edges that are drawn at a time


class Lives(NamedTuple):
    """All nodes, or all edges, of a run by ascending id."""

    id: Ints
    source: Ints
    target: Ints
    """Ids of the nodes that an edge, or the edge that a node relays, connects; or -1."""
    born: Ints
    born_by: Ints
    """Update after which each was added, and the cause; 0 and NO_CAUSE from the start."""
    died: Ints
    died_by: Ints
    """Update after which each was removed, or FOREVER, and the cause."""

    @classmethod
    def replay(
        cls, edits: Edits, add: Operation, remove: Operation, last: Iterable[tuple[int, int, int]]
    ) -> Self:
        """Return the lives in the edits and in the final graph, `last`."""
        lives: dict[int, list[int]] = {}
        from_the_start = 0, NO_CAUSE, FOREVER, NO_CAUSE
        rows = zip(edits.update.tolist(), edits.rows.tolist(), strict=True)
        for update, (operation, cause, id, source, target) in rows:
            if operation == add:
                lives[id] = [id, source, target, update, cause, FOREVER, NO_CAUSE]
            elif operation == remove:
                life = lives.setdefault(id, [id, source, target, *from_the_start])
                life[-2:] = update, cause
        for each in last:
            lives.setdefault(each[0], [*each, *from_the_start])
        table = np.array([lives[id] for id in sorted(lives)], dtype=np.int64)
        columns: Any = table.reshape(-1, len(cls._fields)).T
        return cls(*columns)

    @property
    def n(self) -> int:
        """Number of lives."""
        return self.id.size

    def alive(self, update: int) -> Bools:
        """Return whether each exists after an update (n,)."""
        return (self.born <= update) & (update < self.died)

    def most_at_once(self) -> int:
        """Return the largest number at a time."""
        times = np.concatenate([self.born, self.died])
        steps = np.repeat([1, -1], self.n)
        order = np.lexsort((steps, times))  # at the same time, removals come first
        return int(np.cumsum(steps[order]).max(initial=0))

    def only(self, chosen: Bools) -> Self:
        """Return a subset."""
        columns: Any = (column[chosen] for column in self)
        return type(self)(*columns)


class Tracks(NamedTuple):
    """The known weights of each edge over time, one edge after the other."""

    first: Ints
    """Index of the first entry of each edge; the last is the number of entries (n_edges + 1,)."""
    update: Ints
    """Update after which the weight is known (n_entries,)."""
    weight: Floats

    def at(self, edge: int, update: int) -> float:
        """Return the weight of an edge (by row) after an update, interpolated between entries."""
        entries = slice(self.first[edge], self.first[edge + 1])
        return float(np.interp(update, self.update[entries], self.weight[entries]))


class Frame(NamedTuple):
    """The network after an update: rows of nodes and edges, and the weights of these edges."""

    nodes: Ints
    edges: Ints
    weight: Floats


@dataclass(frozen=True)
class Timeline:
    """The history of a run's network, from the initial to the final graph."""

    graph: Graph  # the final graph
    n_biases: int  # inputs, the last ones, that are constant
    nodes: Lives
    edges: Lives
    tracks: Tracks
    ends: Ints  # update at the end of each episode, after a 0 for the start (n_episodes + 1,)
    names: tuple[str, ...]  # of the inputs and outputs, numbered as in observations and actions

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the timeline of a run, finished or not."""
        graph, edits, snapshots = record.final.graph, record.edits, record.snapshots
        ends = np.concatenate([[0], np.cumsum(record.episodes.steps)])
        both = Operation.ADD_EDGE, Operation.REMOVE_EDGE
        edges = Lives.replay(edits, *both, (edge[:3] for edge in graph.edges()))
        nodes = ((id, -1, -1) for id in graph.node_ids.tolist())
        has_weight = np.isin(edits.rows[:, 0], both)
        ids = np.concatenate([edits.rows[has_weight, 2], snapshots.edge_ids, graph.edge_ids])
        moments = np.repeat(ends[snapshots.episode], snapshots.n_edges)
        last = np.full(graph.n_edges, ends[-1])
        update = np.concatenate([edits.update[has_weight], moments, last])
        weight = np.concatenate([edits.weight[has_weight], snapshots.weight, graph.weight])
        order = np.lexsort((update, ids))  # keeps the order of equals: the final graph is last
        first = np.searchsorted(ids[order], np.append(edges.id, np.iinfo(np.int64).max))
        return cls(
            graph,
            graph.n_inputs - record.plan.task.n_inputs,
            Lives.replay(edits, Operation.ADD_NODE, Operation.REMOVE_NODE, nodes),
            edges,
            Tracks(first, update[order], weight[order]),
            ends,
            record.selected.policy.names.of_nodes(graph.n_inputs),
        )

    @property
    def n_inputs(self) -> int:
        """Inputs, which are the first rows of the nodes."""
        return self.graph.n_inputs

    @property
    def n_fixed(self) -> int:
        """Inputs and outputs, which are the first rows of the nodes."""
        return self.n_inputs + self.graph.n_outputs

    @property
    def kinds(self) -> set[str]:
        """The kinds of nodes that are drawn at some time."""
        shrinks, grows = (self.edges.died < FOREVER).any(), self.hidden.n > 0
        late = {"unused input"} if shrinks else set()
        return {*drawn_kinds(self.graph, self.n_biases)} | late | ({"hidden"} if grows else set())

    @property
    def hidden(self) -> Lives:
        """The hidden nodes."""
        return self.nodes.only(np.arange(self.nodes.n) >= self.n_fixed)

    def update_at(self, time: float) -> int:
        """Return the last update before a time, counted in episodes."""
        return int(np.interp(time, np.arange(self.ends.size), self.ends))

    def times(self, updates: Ints) -> Floats:
        """Return the times of updates, counted in episodes."""
        return np.interp(updates, self.ends, np.arange(self.ends.size))

    def frame(self, update: int) -> Frame:
        """Return the network after an update."""
        edges = np.flatnonzero(self.edges.alive(update))
        weight = np.array([self.tracks.at(edge, update) for edge in edges.tolist()])
        return Frame(np.flatnonzero(self.nodes.alive(update)), edges, weight)

    def sizes(self) -> dict[str, Ints]:
        """Return the updates that changed the network, and its nodes and edges after each."""
        moments = (self.nodes.born, self.nodes.died, self.edges.born, self.edges.died)
        update = np.unique(np.concatenate([[0], *moments]))
        update = update[update < FOREVER]
        counts = [np.searchsorted(np.sort(each), update, side="right") for each in moments]
        return {"update": update, "nodes": counts[0] - counts[1], "edges": counts[2] - counts[3]}

    def thinned(self) -> Self:
        """Return a part small enough to draw: every k-th hidden node, every m-th edge left."""
        step = -(-self.hidden.most_at_once() // MOST_NODES) or 1
        rows = np.arange(self.nodes.n) - self.n_fixed
        nodes = self.nodes.only((rows < 0) | (rows % step == 0))
        between = np.isin(self.edges.source, nodes.id) & np.isin(self.edges.target, nodes.id)
        step = -(-self.edges.only(between).most_at_once() // MOST_EDGES) or 1
        chosen = between & (np.cumsum(between) % step == 1 % step)
        counts = np.diff(self.tracks.first)
        entries, first = np.repeat(chosen, counts), np.append(0, np.cumsum(counts[chosen]))
        tracks = Tracks(first, self.tracks.update[entries], self.tracks.weight[entries])
        return replace(self, nodes=nodes, edges=self.edges.only(chosen), tracks=tracks)
