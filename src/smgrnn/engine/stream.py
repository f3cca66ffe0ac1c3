"""A whole stream of observations and labels, learned without returning to Python."""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.engine.state import CALLS, N_INPUTS, EngineSettings, LearnerState
from smgrnn.engine.steps import learn_step, restructure
from smgrnn.graph.log import EditLog, append_edit
from smgrnn.kernels import kernel
from smgrnn.plasticity.history import TOTAL
from smgrnn.plasticity.schedule import is_idle


class Streamed(NamedTuple):
    """What came of a stream."""

    state: LearnerState
    log: EditLog
    loss: float
    """The last loss; NaN or infinite where a row was not finite and the stream stopped."""
    is_capped: bool


@kernel
def learn_stream(
    state: LearnerState,
    settings: EngineSettings,
    observations: Floats,
    labels: Ints,
    targets: Floats,
    is_last: Bools,
    actions: Ints,
    losses: Floats,
    log: EditLog,
    rng: np.random.Generator,
) -> Streamed:
    """Learn row after row, restructuring when due; rows with `is_last` end an episode."""
    n_inputs, interval = settings.plan[N_INPUTS], settings.interval
    plan, hyper, rules = settings.plan, settings.hyper, settings.rules
    is_capped, loss = False, 0.0
    row, n_rows = 0, len(observations)
    while row < n_rows:
        # A stretch without structural change.  Its arrays are named once, outside the loop, because
        # taking one out of a state costs as much as several edges.
        source, weight = state.graph.source, state.graph.weight
        starts, span, trace, adjoint = state.starts, state.span, state.trace, state.adjoint
        gradient, moments, delta, clock = state.gradient, state.moments, state.delta, state.clock
        history = state.history
        blocks, running, born, slot, updates = history
        is_due = False
        while row < n_rows and not is_due:
            action, loss = learn_step(
                source,
                weight,
                starts,
                span,
                trace,
                adjoint,
                gradient,
                moments,
                delta,
                clock,
                blocks,
                running,
                born,
                slot,
                updates,
                plan,
                hyper,
                observations[row],
                labels[row],
                targets[row],
            )
            actions[row], losses[row] = action, loss
            if not np.isfinite(loss):
                return Streamed(state, log, loss, is_capped)
            is_due = updates[TOTAL] % interval == 0 if interval > 0 else is_last[row]
            if is_due and is_idle(weight, history, rules, clock[CALLS] + 1, span[0], span[1]):
                clock[CALLS] += 1
                is_due = False
            if is_last[row]:
                for node in range(n_inputs, trace.shape[1]):
                    trace[trace.shape[0] - 1, node] = 0.0
            row += 1
        if is_due:
            state, edit, was_capped = restructure(state, settings, rng)
            log = append_edit(log, updates[TOTAL], clock[CALLS], edit)
            is_capped = is_capped or was_capped
    return Streamed(state, log, loss, is_capped)
