"""A whole stream of observations and labels, learned without returning to Python."""

from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.engine.handle import Handle, held_by
from smgrnn.engine.restructuring import restructure
from smgrnn.engine.steps import act_step, end_episode, learn_step, wants_edit
from smgrnn.graph.log import EditLog
from smgrnn.kernels import kernel, lean


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

    def between(self, first: int, last: int) -> "Rows":
        """Return the rows first … last - 1."""
        columns: Any = (column[first:last] for column in self)
        return Rows(*columns)


class Advanced(NamedTuple):
    """The result of a loop of learning steps."""

    log: EditLog
    loss: float
    """Loss of the last step; NaN or infinite if something was not finite and the loop stopped."""
    is_capped: bool
    """Whether a limit bound growth."""


@lean
def _learn_rows(handle: Handle, rows: Rows, first: int) -> tuple[int, float, bool]:
    """Learn rows from `first` until an edit is due; return the next row, the loss, and if one is.

    A stretch without structural change is a kernel of its own: there nothing counts references.
    """
    row, n_rows, loss, is_due = first, len(rows.observations), 0.0, False
    while row < n_rows and not is_due:
        label, is_last = rows.labels[row], rows.is_last[row]
        action, loss = learn_step(handle, rows.observations[row], label, rows.targets[row])
        rows.actions[row], rows.losses[row] = action, loss
        if not np.isfinite(loss):
            return n_rows, loss, False
        is_due = wants_edit(handle, is_last)
        if is_last:
            end_episode(handle)
        row += 1
    return row, loss, is_due


@kernel
def learn_stream(handle: Handle, log: EditLog, rng: np.random.Generator, rows: Rows) -> Advanced:
    """Learn row after row, restructuring when due; rows with `is_last` end an episode."""
    loss, is_capped = 0.0, False
    row = 0 * len(rows.observations)  # an int that is no constant: one kernel for all rows
    while row < len(rows.observations):
        row, loss, is_due = _learn_rows(handle, rows, row)
        if is_due:
            log, was_capped = restructure(handle, log, rng)
            is_capped = is_capped or was_capped
    return Advanced(log, loss, is_capped)


@lean
def act_rows(handle: Handle, observations: Floats, actions: Ints, outputs: Floats) -> None:
    """Run the network on every row; write the greedy actions, -1 for failure, and the outputs."""
    held = held_by(handle)
    trace, first = held.state.trace, held.settings.network.n_inputs
    for row in range(len(observations)):
        actions[row] = act_step(handle, observations[row])
        for output in range(outputs.shape[1]):
            outputs[row, output] = trace[trace.shape[0] - 1, first + output]
