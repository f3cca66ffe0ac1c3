"""A growing record of edits, each with the update after which it was applied."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats, Ints
from smgrnn.errors import ShapeError
from smgrnn.graph.edit import Cause, GraphEdit, Operation
from smgrnn.kernels import inlined, kernel


class EditLog(NamedTuple):
    """Rows of many edits in one table; kernels append to the same object."""

    update: Ints
    """Update after which each change was made (capacity,)."""
    call: Ints
    """Call of the plasticity module that made it (capacity,)."""
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
            call=np.empty(64, dtype=np.int64),
            rows=np.empty((64, 5), dtype=np.int64),
            weight=np.empty(64),
            length=np.zeros(1, dtype=np.int64),
        )

    @property
    def n_changes(self) -> int:
        """Number of changes recorded."""
        return int(self.length[0])

    @property
    def last(self) -> tuple[int, int]:
        """Update and call of the last edit; zeros if there was none."""
        place = self.n_changes - 1
        return (int(self.update[place]), int(self.call[place])) if place >= 0 else (0, 0)

    def edits(self) -> Iterator[tuple[int, GraphEdit]]:
        """Go through the edits, each with its update."""
        call = self.call[: self.n_changes]
        bounds = [0, *(np.flatnonzero(np.diff(call)) + 1).tolist(), self.n_changes]
        for first, last in pairwise(bounds):
            if last > first:
                edit = GraphEdit(self.rows[first:last], self.weight[first:last])
                yield int(self.update[first]), edit


@kernel
def append_edit(log: EditLog, update: int, call: int, edit: GraphEdit) -> EditLog:
    """Return the log with one more edit; it is the same log as long as there is room."""
    n, n_new = log.length[0], edit.weight.size
    if n + n_new > log.weight.size:
        capacity = max(n + n_new, 2 * log.weight.size)
        larger = EditLog(
            np.empty(capacity, dtype=np.int64),
            np.empty(capacity, dtype=np.int64),
            np.empty((capacity, 5), dtype=np.int64),
            np.empty(capacity),
            log.length,
        )
        for row in range(n):
            _copy_row(larger, row, log.update[row], log.call[row], log.rows, log.weight, row)
        log = larger
    for row in range(n_new):
        _copy_row(log, n + row, update, call, edit.rows, edit.weight, row)
    log.length[0] = n + n_new
    return log


@inlined
def _copy_row(
    log: EditLog, place: int, update: int, call: int, rows: Ints, weight: Floats, row: int
) -> None:
    log.update[place], log.call[place], log.weight[place] = update, call, weight[row]
    for column in range(5):
        log.rows[place, column] = rows[row, column]


def log_arrays(log: EditLog) -> Arrays:
    """Return the rows of a log that are in use, by name."""
    columns: Any = zip(log._fields[:4], log[:4], strict=True)
    return {f"log.{name}": np.array(column[: log.n_changes]) for name, column in columns}


def log_from(arrays: Arrays) -> EditLog:
    """Return the log that a file holds, checked; an empty one from a file before there was any."""
    if "log.update" not in arrays:
        return EditLog.start()
    update, call, rows, weight = (arrays[f"log.{name}"] for name in EditLog._fields[:4])
    n = len(update)
    is_right = (
        update.shape == call.shape == weight.shape == (n,)
        and rows.shape == (n, 5)
        and {column.dtype for column in (update, call, rows)} <= {np.dtype(np.int64)}
        and weight.dtype == np.float64
        and np.isfinite(weight).all()
        and all(
            ((codes >= 0) & (codes < len(kind))).all()
            for kind, codes in ((Operation, rows[:, 0]), (Cause, rows[:, 1]))
        )
    )
    if not is_right:
        raise ShapeError("The log of edits is none.")
    return EditLog(update, call, rows, weight, np.array([n]))
