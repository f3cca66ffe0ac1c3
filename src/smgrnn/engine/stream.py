"""Many observations and labels, learned without returning to Python."""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.engine.state import Handle, held_by
from smgrnn.engine.steps import end_episode, learn_step
from smgrnn.kernels import lean
from smgrnn.rules.history import TOTAL


class Rows(NamedTuple):
    """The rows of a stream, and columns for the action and the loss of each."""

    observations: Floats
    """(n, n_inputs)."""
    labels: Ints
    """Action numbers (n,)."""
    targets: Floats
    """Target outputs (n, n_outputs), or (n, 0) where labels are numbers."""
    is_last: Bools
    """Rows that end an episode (n,)."""
    actions: Ints
    """Written: the greedy action before learning (n,)."""
    losses: Floats
    """Written: the loss (n,)."""


@lean
def learn_rows(handle: Handle, rows: Rows, first: int, stop: int) -> tuple[int, float]:
    """Learn rows from `first` until the module may be due; return the next row and the loss.

    That is after update `stop`, or after the end of an episode if `stop` is negative.  A loss that
    is not finite ends it too.
    """
    clock = held_by(handle).state.watched.history.clock
    row, n_rows, loss, is_due = first, len(rows.observations), 0.0, False
    while row < n_rows and not is_due:
        label, is_last = rows.labels[row], rows.is_last[row]
        action, loss = learn_step(handle, rows.observations[row], label, rows.targets[row])
        rows.actions[row], rows.losses[row] = action, loss
        row += 1
        if not np.isfinite(loss):
            return row, loss
        is_due = clock[TOTAL] == stop or (stop < 0 and is_last)
        if is_last:
            end_episode(handle)
    return row, loss
