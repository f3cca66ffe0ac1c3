"""Update history: the last T weight updates of every edge and their window statistics.

Paper: Sec. III-D, Eq. (1).

Updates are written in blocks of T, so the window is the end of the last block, read from sums that
were taken when the block was complete, and the start of the present one, a running total.  Nothing
is ever subtracted, so no rounding error outlives its window.  Each edge owns a column, its slot,
that no edit moves.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

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
    >>> from smgrnn.rules import UpdateHistory
    >>> history = UpdateHistory.start(n_edges=2, window=3)
    >>> history.push(np.array([0.5, 0.0]))
    >>> history.push(np.array([-0.5, 1.0]))
    >>> mean, variance = history.statistics()
    >>> mean.tolist(), variance.tolist()
    ([0.0, 0.5], [0.25, 0.25])
    >>> history.updates(0).tolist(), history.counts().tolist()
    ([0.5, -0.5], [2, 2])
    """

    blocks: Floats  #: Updates, their sums and sums of squares to the end (3, window, capacity).
    running: Floats  #: Sum and sum of squares since the present block began (2, capacity).
    born: Ints  #: Value of the update counter when the slot was taken (capacity,).
    slot: Ints  #: The slot of each edge, in the graph's edge order (n_edges,).
    clock: Ints  #: Row the next update goes to, and updates so far (2,).

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
        push_update(self, delta, 0, delta.size)

    def ages(self) -> Ints:
        """Return how many updates each edge has seen (n_edges,).

        >>> UpdateHistory.start(n_edges=2, window=3).ages().tolist()
        [0, 0]
        """
        ages: Ints = self.clock[TOTAL] - self.born[self.slot]
        return ages

    def counts(self) -> Ints:
        """Return how many updates are in each edge's window (n_edges,)."""
        return np.minimum(self.ages(), self.window)

    def statistics(self, counts: Ints | None = None) -> tuple[Floats, Floats]:
        """Return each edge's window mean and population variance -- Eq. (1); 0 if empty."""
        n = np.maximum(self.counts() if counts is None else counts, 1)
        sums = self.running + self.blocks[SUMS:, self.clock[POSITION]]
        mean, square = sums[:, self.slot] / n
        return mean, np.maximum(square - mean**2, 0.0)

    def updates(self, edge: int) -> Floats:
        """Return the remembered updates of the edge at this position, oldest first."""
        column = self.blocks[UPDATES, :, self.slot[edge]]
        ring = np.roll(column, -self.clock[POSITION])
        return ring[self.window - self.counts()[edge] :]


def alike(mine: Iterable[NDArray[Any]], others: Iterable[NDArray[Any]]) -> bool:
    """Return whether arrays have the shapes and types of others, as kernels assume they do."""
    forms = ([(each.shape, each.dtype) for each in arrays] for arrays in (mine, others))
    return next(forms) == next(forms)


def check_history(history: UpdateHistory, n_edges: int) -> None:
    """Raise ShapeError unless the arrays fit together, as kernels assume they do."""
    _, window, capacity = (*history.blocks.shape, 0, 0, 0)[:3]
    like = UpdateHistory.start(capacity, window)._replace(slot=np.arange(n_edges))
    fits = (
        alike(history, like)
        and 0 <= history.clock[POSITION] < window
        and np.unique(history.slot).size == n_edges
        and bool(((history.slot >= 0) & (history.slot < capacity)).all())
    )
    if not fits:
        raise ShapeError("The arrays of an update history do not fit together.")


@inlined
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


push_update = kernel(push)  # the same, to call from Python


def carry_history(history: UpdateHistory, edge_origin: Ints) -> UpdateHistory:
    """Return the history after an edit: survivors keep theirs, new edges start empty."""
    is_new = edge_origin < 0
    taken, capacity = history.slot[edge_origin[~is_new]], history.born.size
    if edge_origin.size > capacity:
        n_more = max(edge_origin.size, capacity + capacity // 2) - capacity  # to copy seldom
        history = history._replace(
            blocks=np.pad(history.blocks, ((0, 0), (0, 0), (0, n_more))),
            running=np.pad(history.running, ((0, 0), (0, n_more))),
            born=np.pad(history.born, (0, n_more)),
        )
    is_free = np.ones(history.born.size, dtype=np.bool_)
    is_free[taken] = False
    fresh = np.flatnonzero(is_free)[: np.count_nonzero(is_new)]
    slot = np.empty(edge_origin.size, dtype=np.int64)
    slot[~is_new], slot[is_new] = taken, fresh
    history.blocks[:, :, fresh] = 0.0  # or the former owner's updates would count as this edge's
    history.running[:, fresh] = 0.0
    history.born[fresh] = history.clock[TOTAL]
    return history._replace(slot=slot)
