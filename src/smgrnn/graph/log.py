"""A growing record of edits, each with the update after which it was applied."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats, Ints, from_arrays
from smgrnn.errors import ShapeError
from smgrnn.graph.edit import Cause, GraphEdit, Operation


class Edits(NamedTuple):
    """Changes in order, as flat columns of stable ids."""

    update: Ints  #: Update after which each change was made (n,).
    call: Ints  #: Call of the plasticity module that made it (n,).
    rows: Ints  #: Changes as in GraphEdit.rows (n, 5).
    weight: Floats  #: Weights as in GraphEdit.weight (n,).

    def followed_by(self, later: Self) -> Self:
        """Return these edits and then the later ones."""
        columns: Any = map(np.concatenate, zip(self, later, strict=True))
        return type(self)(*columns)


class EditLog:
    """Rows of many edits in one table, each with its update and call."""

    def __init__(self) -> None:
        numbers = np.zeros(0, np.int64)
        self._parts = [Edits(numbers, numbers, *GraphEdit.empty())]

    @property
    def columns(self) -> Edits:
        """All rows."""
        if len(self._parts) > 1:
            parts = zip(*self._parts, strict=True)
            self._parts = [Edits(*(np.concatenate(each) for each in parts))]
        return self._parts[0]

    @property
    def last(self) -> tuple[int, int]:
        """Update and call of the last edit; zeros if there was none."""
        update, call, *_ = self._parts[-1]
        return (int(update[-1]), int(call[-1])) if update.size else (0, 0)

    def append(self, update: int, call: int, edit: GraphEdit) -> None:
        """Add the changes of an edit that a call made after an update."""
        if n := edit.weight.size:
            self._parts.append(Edits(np.full(n, update), np.full(n, call), *edit))

    def edits(self) -> Iterator[tuple[int, GraphEdit]]:
        """Go through the edits, each with its update."""
        update, call, rows, weight = self.columns
        starts = np.flatnonzero(np.diff(call, prepend=call[:1] - 1)).tolist()
        for first, last in pairwise([*starts, call.size]):
            yield int(update[first]), GraphEdit(rows[first:last], weight[first:last])


def log_from(arrays: Arrays) -> EditLog:
    """Return the log that a file holds, checked; an empty one from a file without any."""
    log = EditLog()
    if "log.update" not in arrays:
        return log
    columns = from_arrays(Edits, arrays, "log.")
    rows, n = columns.rows, len(columns.update)
    is_right = (
        [column.shape for column in columns] == [(n,), (n,), (n, 5), (n,)]
        and [column.dtype for column in columns] == [np.int64, np.int64, np.int64, np.float64]
        and np.isfinite(columns.weight).all()
        and ((rows[:, :2] >= 0) & (rows[:, :2] < (len(Operation), len(Cause)))).all()
    )
    if not is_right:
        raise ShapeError("The file's log of edits is damaged.")
    log._parts = [columns]
    return log
