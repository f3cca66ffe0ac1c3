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

from smgrnn.arrays import Floats, Ints
from smgrnn.errors import ShapeError
from smgrnn.kernels import inlined, kernel

UPDATES, SUMS, SQUARES = 0, 1, 2  # planes of `blocks`
POSITION, TOTAL = 0, 1  # entries of `clock`


class UpdateHistory(NamedTuple):
    """Ring buffer of Δw per edge; kernels read the same object.

    Examples
    --------
    >>> import numpy as np
    >>> from smgrnn import UpdateHistory
    >>> history = UpdateHistory.start(n_edges=2, window=3)
    >>> history.push(np.array([0.5, 0.0]))
    >>> history.push(np.array([-0.5, 1.0]))
    >>> mean, variance = history.statistics()
    >>> mean.tolist(), variance.tolist()
    ([0.0, 0.5], [0.25, 0.25])
    >>> history.updates(0).tolist(), history.counts().tolist()
    ([0.5, -0.5], [2, 2])
    """

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
        return window_statistics(self)[0]

    def statistics(self) -> tuple[Floats, Floats]:
        """Return each edge's window mean and population variance -- Eq. (1); 0 if empty."""
        return window_statistics(self)[1:]

    def updates(self, edge: int) -> Floats:
        """Return the remembered updates of the edge at this position, oldest first."""
        column = self.blocks[UPDATES, :, self.slot[edge]]
        ring = np.roll(column, -self.clock[POSITION])
        return ring[self.window - self.counts()[edge] :]


def check_history(history: UpdateHistory, n_edges: int) -> None:
    """Raise ShapeError unless the arrays fit together, as kernels assume they do."""
    _, window, capacity = (*history.blocks.shape, 0, 0, 0)[:3]
    fits = (
        history.blocks.shape == (3, window, capacity)
        and history.running.shape == (2, capacity)
        and history.born.shape == (capacity,)
        and history.slot.shape == (n_edges,)
        and history.clock.shape == (2,)
        and 0 <= history.clock[POSITION] < window
        and np.unique(history.slot).size == n_edges
        and bool(((history.slot >= 0) & (history.slot < capacity)).all())
        and all(array.dtype == np.float64 for array in (history.blocks, history.running))
        and all(a.dtype == np.int64 for a in (history.born, history.slot, history.clock))
    )
    if not fits:
        raise ShapeError("The arrays of an update history do not fit together.")


@inlined
def push(history: UpdateHistory, delta: Floats, first: int, last: int) -> None:
    """Record one update; edges outside [first, last) are known never to have moved."""
    row = history.clock[POSITION]
    updates, running = history.blocks[UPDATES, row], history.running
    for edge in range(np.uint64(first), np.uint64(last)):
        column = np.uint64(history.slot[edge])
        updates[column] = delta[edge]
        running[0, column] += delta[edge]
        running[1, column] += delta[edge] ** 2
    history.clock[TOTAL] += 1
    history.clock[POSITION] = row + 1
    if row + 1 == history.blocks.shape[1]:
        _close_block(history, first, last)


@kernel
def _close_block(history: UpdateHistory, first: int, last: int) -> None:
    """Sum every row of a complete block to the block's end and start the next one."""
    blocks, running, window = history.blocks, history.running, history.blocks.shape[1]
    running[:] = 0.0
    for row in range(window - 1, -1, -1):
        for edge in range(np.uint64(first), np.uint64(last)):
            column = np.uint64(history.slot[edge])
            update = blocks[UPDATES, row, column]
            running[0, column] += update
            running[1, column] += update**2
            blocks[SUMS, row, column] = running[0, column]
            blocks[SQUARES, row, column] = running[1, column]
    running[:] = 0.0
    history.clock[POSITION] = 0


@inlined
def edge_statistics(history: UpdateHistory, edge: int) -> tuple[int, float, float]:
    """Return one edge's window count, mean and population variance -- Eq. (1)."""
    row = history.clock[POSITION]
    column = np.uint64(history.slot[np.uint64(edge)])
    count = min(history.clock[TOTAL] - history.born[column], history.blocks.shape[1])
    n = max(count, 1)
    mean = (history.running[0, column] + history.blocks[SUMS, row, column]) / n
    square = (history.running[1, column] + history.blocks[SQUARES, row, column]) / n
    return count, mean, max(square - mean**2, 0.0)


@kernel
def window_statistics(history: UpdateHistory) -> tuple[Ints, Floats, Floats]:
    """Return each edge's window count, mean and population variance; 0 where it is empty."""
    n_edges = history.slot.size
    counts = np.empty(n_edges, dtype=np.int64)
    mean, variance = np.empty(n_edges), np.empty(n_edges)
    for edge in range(n_edges):
        counts[edge], mean[edge], variance[edge] = edge_statistics(history, edge)
    return counts, mean, variance


@kernel
def _room(history: UpdateHistory, n_edges: int) -> tuple[Floats, Floats, Ints]:
    """Return the history's arrays with enough slots: the same ones, or larger copies of them."""
    planes, window, capacity = history.blocks.shape
    if n_edges <= capacity:
        return history.blocks, history.running, history.born
    larger = max(n_edges, capacity + capacity // 2)  # so that steady growth copies seldom
    blocks, running = np.zeros((planes, window, larger)), np.zeros((2, larger))
    born = np.zeros(larger, dtype=np.int64)
    for slot in range(capacity):
        running[0, slot], running[1, slot] = history.running[0, slot], history.running[1, slot]
        born[slot] = history.born[slot]
    for plane in range(planes):
        for row in range(window):
            for slot in range(capacity):
                blocks[plane, row, slot] = history.blocks[plane, row, slot]
    return blocks, running, born


@kernel
def carry_history(history: UpdateHistory, edge_origin: Ints) -> UpdateHistory:
    """Turn the history into the one after an edit: survivors keep theirs, new edges start empty."""
    _, window, capacity = history.blocks.shape
    n_edges = edge_origin.size
    is_free = np.ones(capacity, dtype=np.bool_)
    for origin in edge_origin:
        if origin >= 0:
            is_free[history.slot[origin]] = False
    blocks, running, born = _room(history, n_edges)
    slot = np.empty(n_edges, dtype=np.int64)
    free = 0
    for edge in range(n_edges):
        if edge_origin[edge] >= 0:
            slot[edge] = history.slot[edge_origin[edge]]
            continue
        while free < capacity and not is_free[free]:
            free += 1
        slot[edge] = free
        for row in range(window):  # or the former owner's updates would count as this edge's own
            blocks[UPDATES, row, free] = blocks[SUMS, row, free] = blocks[SQUARES, row, free] = 0.0
        running[0, free] = running[1, free] = 0.0
        born[free] = history.clock[TOTAL]
        free += 1
    return UpdateHistory(blocks, running, born, slot, history.clock)


@kernel
def reset_history(history: UpdateHistory, n_edges: int) -> UpdateHistory:
    """Turn the history into the one after an edit that empties every window."""
    blocks, running, born = _room(history, n_edges)
    blocks[:] = 0.0
    running[:] = 0.0
    born[:] = history.clock[TOTAL]
    return UpdateHistory(blocks, running, born, np.arange(n_edges), history.clock)
