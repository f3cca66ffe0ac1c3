"""A growing record of edits, each with the update after which it was applied."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats, Ints, from_arrays, to_arrays
from smgrnn.errors import ShapeError
from smgrnn.graph.edit import Cause, GraphEdit, Operation


class EditLog:
    """Rows of many edits in one table, each with its update and call."""

    def __init__(self) -> None:
        self._parts: list[Columns] = []

    @classmethod
    def start(cls) -> Self:
        """Return an empty log."""
        return cls()

    @property
    def columns(self) -> "Columns":
        """All rows; appended parts are joined when they are asked for."""
        if len(self._parts) != 1:
            parts = self._parts or [Columns.none()]
            self._parts = [Columns(*(np.concatenate(each) for each in zip(*parts, strict=True)))]
        return self._parts[0]

    @property
    def n_changes(self) -> int:
        """Number of changes recorded."""
        return sum(part.weight.size for part in self._parts)

    @property
    def last(self) -> tuple[int, int]:
        """Update and call of the last edit; zeros if there was none."""
        if not self.n_changes:
            return 0, 0
        part = self._parts[-1]
        return int(part.update[-1]), int(part.call[-1])

    def append(self, update: int, call: int, edit: GraphEdit) -> None:
        """Add the changes of an edit that a call made after an update."""
        n = edit.weight.size
        if n:
            self._parts.append(Columns(np.full(n, update), np.full(n, call), *edit))

    def edits(self) -> Iterator[tuple[int, GraphEdit]]:
        """Go through the edits, each with its update."""
        update, call, rows, weight = self.columns
        bounds = [0, *(np.flatnonzero(np.diff(call)) + 1).tolist(), call.size]
        for first, last in pairwise(bounds):
            if last > first:
                yield int(update[first]), GraphEdit(rows[first:last], weight[first:last])


class Columns(NamedTuple):
    """The columns of a log."""

    update: Ints
    """Update after which each change was made (n,)."""
    call: Ints
    """Call of the plasticity module that made it (n,)."""
    rows: Ints
    """Changes as in GraphEdit.rows (n, 5)."""
    weight: Floats
    """Weights as in GraphEdit.weight (n,)."""

    @classmethod
    def none(cls) -> Self:
        """Return columns without rows."""
        numbers = np.zeros(0, np.int64)
        return cls(numbers, numbers, np.zeros((0, 5), np.int64), np.zeros(0))


def log_arrays(log: EditLog) -> Arrays:
    """Return the columns of a log by name."""
    return to_arrays(log.columns, "log.")


def log_from(arrays: Arrays) -> EditLog:
    """Return the log that a file holds, checked; an empty one from a file without any."""
    log = EditLog()
    if "log.update" not in arrays:
        return log
    update, call, rows, weight = columns = from_arrays(Columns, arrays, "log.")
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
        raise ShapeError("The file's log of edits is damaged.")
    log._parts = [columns]
    return log
