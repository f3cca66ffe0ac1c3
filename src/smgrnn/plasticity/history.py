"""Update history: the last T weight updates of every edge and their window statistics.

Paper: Sec. III-D, Eq. (1).

Statistics cost the same however long the window is, and never drift.  Updates are written in
blocks of T, so the window is the end of the last block and the start of the present one.  The first
part is read from sums to the end of the block, taken when the block was complete; the second is a
running total.  Nothing is ever subtracted, so no rounding error outlives its window.

Each edge owns a column, its slot, that no edit moves: an edit costs nothing per remembered update.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.errors import ShapeError
from smgrnn.graph.state import Floats, Ints
from smgrnn.kernels import kernel

UPDATES, SUMS, SQUARES = 0, 1, 2  # planes of `blocks`
POSITION, TOTAL = 0, 1  # entries of `clock`


class UpdateHistory(NamedTuple):
    """Ring buffer of Δw per edge; kernels read the same object."""

    blocks: Floats
    """Updates, their sums and sums of squares to the block's end (3, window, capacity)."""
    running: Floats
    """Sum and sum of squares since the present block began (2, capacity)."""
    born: Ints
    """Value of the update counter when the slot was taken (capacity,)."""
    slot: Ints
    """The slot of each edge, in the graph's edge order (n_edges,)."""
    clock: Ints
    """Row the next update goes to, and updates so far (2,)."""

    @classmethod
    def start(cls, n_edges: int, window: int) -> Self:
        """Return an empty history for a graph of `n_edges` edges."""
        return cls(
            blocks=np.zeros((3, window, n_edges)),
            running=np.zeros((2, n_edges)),
            born=np.zeros(n_edges, dtype=np.int64),
            slot=np.arange(n_edges),
            clock=np.zeros(2, dtype=np.int64),
        )

    @property
    def window(self) -> int:
        """Updates remembered per edge (T)."""
        return int(self.blocks.shape[1])

    @property
    def n_updates(self) -> int:
        """Updates recorded so far."""
        return int(self.clock[TOTAL])

    def push(self, delta: Floats) -> None:
        """Record one update Δw of every edge (n_edges,)."""
        if delta.shape != self.slot.shape:
            raise ShapeError(f"Expected {self.slot.size} updates, one per edge. Got {delta.size}.")
        push(self, delta, 0, delta.size)

    def counts(self) -> Ints:
        """Return how many updates are in each edge's window (n_edges,)."""
        return window_counts(self)

    def statistics(self) -> tuple[Floats, Floats]:
        """Return each edge's window mean and population variance -- Eq. (1); 0 if empty."""
        return window_statistics(self, window_counts(self))

    def updates(self, edge: int) -> Floats:
        """Return the remembered updates of the edge at this position, oldest first."""
        column = self.blocks[UPDATES, :, self.slot[edge]]
        ring = np.roll(column, -self.clock[POSITION])
        return ring[self.window - self.counts()[edge] :]


@kernel
def push(history: UpdateHistory, delta: Floats, first: int, last: int) -> None:
    """Record one update; edges outside [first, last) are known not to have moved."""
    blocks, running, slot = history.blocks, history.running, history.slot
    row = history.clock[POSITION]
    for edge in range(first, last):
        column = slot[edge]
        blocks[UPDATES, row, column] = delta[edge]
        running[0, column] += delta[edge]
        running[1, column] += delta[edge] ** 2
    history.clock[TOTAL] += 1
    history.clock[POSITION] = row + 1
    if row + 1 == blocks.shape[1]:
        _close_block(blocks)
        running[:] = 0.0
        history.clock[POSITION] = 0


@kernel
def _close_block(blocks: Floats) -> None:
    """Sum every row of a complete block to the block's end."""
    _, window, capacity = blocks.shape
    for column in range(capacity):
        update = blocks[UPDATES, window - 1, column]
        blocks[SUMS, window - 1, column] = update
        blocks[SQUARES, window - 1, column] = update**2
    for row in range(window - 2, -1, -1):
        for column in range(capacity):
            update = blocks[UPDATES, row, column]
            blocks[SUMS, row, column] = blocks[SUMS, row + 1, column] + update
            blocks[SQUARES, row, column] = blocks[SQUARES, row + 1, column] + update**2


@kernel
def window_counts(history: UpdateHistory) -> Ints:
    """Return how many updates are in each edge's window (n_edges,)."""
    counts = np.empty(history.slot.size, dtype=np.int64)
    for edge in range(counts.size):
        age = history.clock[TOTAL] - history.born[history.slot[edge]]
        counts[edge] = min(age, history.blocks.shape[1])
    return counts


@kernel
def window_statistics(history: UpdateHistory, counts: Ints) -> tuple[Floats, Floats]:
    """Return each edge's window mean and population variance -- Eq. (1); 0 where it is empty."""
    mean, variance = np.empty(counts.size), np.empty(counts.size)
    row = history.clock[POSITION]
    for edge in range(counts.size):
        column = history.slot[edge]
        n = max(counts[edge], 1)
        mean[edge] = (history.running[0, column] + history.blocks[SUMS, row, column]) / n
        square = (history.running[1, column] + history.blocks[SQUARES, row, column]) / n
        variance[edge] = max(square - mean[edge] ** 2, 0.0)
    return mean, variance


@kernel
def carry_history(history: UpdateHistory, edge_origin: Ints) -> UpdateHistory:
    """Return the history after an edit: surviving edges keep theirs, new edges start empty."""
    _, window, capacity = history.blocks.shape
    n_edges = edge_origin.size
    is_free = np.ones(capacity, dtype=np.bool_)
    for origin in edge_origin:
        if origin >= 0:
            is_free[history.slot[origin]] = False
    blocks, running, born = history.blocks, history.running, history.born
    if n_edges > capacity:  # grow by half at least, so that steady growth copies seldom
        larger = max(n_edges, capacity + capacity // 2)
        blocks, running = np.zeros((3, window, larger)), np.zeros((2, larger))
        born = np.zeros(larger, dtype=np.int64)
        blocks[:, :, :capacity] = history.blocks
        running[:, :capacity] = history.running
        born[:capacity] = history.born
    slot = np.empty(n_edges, dtype=np.int64)
    free = 0
    for edge in range(n_edges):
        if edge_origin[edge] >= 0:
            slot[edge] = history.slot[edge_origin[edge]]
            continue
        while free < capacity and not is_free[free]:
            free += 1
        slot[edge] = free
        blocks[:, :, free] = 0.0  # the former owner's updates would count as this edge's own
        running[:, free] = 0.0
        born[free] = history.clock[TOTAL]
        free += 1
    return UpdateHistory(blocks, running, born, slot, history.clock)


@kernel
def reset_history(history: UpdateHistory, n_edges: int) -> UpdateHistory:
    """Return the history after an edit that empties every window."""
    _, window, capacity = history.blocks.shape
    blocks, running, born = history.blocks, history.running, history.born
    if n_edges > capacity:
        capacity = max(n_edges, capacity + capacity // 2)
        blocks, running = np.empty((3, window, capacity)), np.empty((2, capacity))
        born = np.empty(capacity, dtype=np.int64)
    blocks[:] = 0.0
    running[:] = 0.0
    born[:] = history.clock[TOTAL]
    return UpdateHistory(blocks, running, born, np.arange(n_edges), history.clock)
