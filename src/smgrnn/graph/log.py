"""A growing record of edits, each with the update after which it was applied."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from smgrnn.graph.edit import GraphEdit
from smgrnn.graph.state import Floats, Ints
from smgrnn.kernels import kernel


class EditLog(NamedTuple):
    """Rows of many edits in one table; kernels append to the same object."""

    update: Ints
    """Update after which each change was made (capacity,)."""
    rows: Ints
    """Changes as in GraphEdit.rows (capacity, 5)."""
    weight: Floats
    """Weights as in GraphEdit.weight (capacity,)."""
    length: Ints
    """Rows in use (1,)."""

    @classmethod
    def start(cls) -> Self:
        """Return an empty log."""
        return cls(
            update=np.empty(64, dtype=np.int64),
            rows=np.empty((64, 5), dtype=np.int64),
            weight=np.empty(64),
            length=np.zeros(1, dtype=np.int64),
        )

    @property
    def n_changes(self) -> int:
        """Changes recorded."""
        return int(self.length[0])

    def edits(self) -> Iterator[tuple[int, GraphEdit]]:
        """Go through the edits, each with its update."""
        update = self.update[: self.n_changes]
        for number in np.unique(update):
            mask = update == number
            rows, weight = self.rows[: self.n_changes][mask], self.weight[: self.n_changes][mask]
            yield int(number), GraphEdit(rows, weight)


@kernel
def append_edit(log: EditLog, number: int, edit: GraphEdit) -> EditLog:
    """Return the log with one more edit; it is the same log as long as there is room."""
    n, n_new = log.length[0], edit.weight.size
    if n + n_new > log.weight.size:
        capacity = max(n + n_new, 2 * log.weight.size)
        larger = EditLog(
            np.empty(capacity, dtype=np.int64),
            np.empty((capacity, 5), dtype=np.int64),
            np.empty(capacity),
            log.length,
        )
        larger.update[:n] = log.update[:n]
        larger.rows[:n] = log.rows[:n]
        larger.weight[:n] = log.weight[:n]
        log = larger
    log.update[n : n + n_new] = number
    log.rows[n : n + n_new] = edit.rows
    log.weight[n : n + n_new] = edit.weight
    log.length[0] = n + n_new
    return log
