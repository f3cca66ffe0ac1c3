"""One step of each kind, as kernels a compiled task can call: act, learn, restructure.

`act_step` and `learn_step` take the arrays of a state one by one, which is the fastest way in from
Python and from a compiled loop alike.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.engine.propagation import backward, forward, settle
from smgrnn.engine.state import (
    ACTIVATION,
    CALLS,
    CARRY_STATE,
    LOSS,
    N_INPUTS,
    N_OUTPUTS,
    OPTIMIZER,
    OUTPUT_ACTIVATION,
    READS_SUMS,
    STEP,
    EngineSettings,
    LearnerState,
    assemble,
)
from smgrnn.graph.edit import GraphEdit, apply_edit
from smgrnn.kernels import inlined, kernel, reduction
from smgrnn.learning.loss import CROSS_ENTROPY, cross_entropy, mean_squared_error
from smgrnn.learning.optimizers import optimize
from smgrnn.plasticity.history import UpdateHistory, carry_history, push, reset_history
from smgrnn.plasticity.schedule import decide_edit


class Restructured(NamedTuple):
    """What one call of the plasticity module led to."""

    state: LearnerState
    edit: GraphEdit
    is_capped: bool


@reduction
def all_finite(values: Floats, first: int, last: int) -> bool:
    """Return whether no value of [first, last) is NaN or infinite."""
    total = 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        total += abs(values[i])
    return bool(np.isfinite(total))


@inlined
def act_step(
    source: Ints, weight: Floats, starts: Ints, trace: Floats, plan: Ints, observation: Floats
) -> int:
    """Run the network once; return the greedy action, or -1 if something was not finite."""
    action = _run(source, weight, starts, trace, plan, observation)
    if action >= 0 and plan[READS_SUMS]:
        settle(trace, plan[N_INPUTS], plan[N_OUTPUTS], plan[OUTPUT_ACTIVATION])
    return action


@inlined
def _run(
    source: Ints, weight: Floats, starts: Ints, trace: Floats, plan: Ints, observation: Floats
) -> int:
    """Fill `trace`; return the greedy action, or -1 if something was not finite."""
    n_inputs, n_outputs = plan[N_INPUTS], plan[N_OUTPUTS]
    if not all_finite(observation, 0, n_inputs):
        return -1
    last_row, n_nodes = trace.shape[0] - 1, trace.shape[1]
    if plan[CARRY_STATE] == 0:
        for node in range(n_inputs, n_nodes):
            trace[last_row, node] = 0.0
    forward(
        source,
        weight,
        starts,
        trace,
        observation,
        n_outputs,
        plan[ACTIVATION],
        plan[OUTPUT_ACTIVATION],
        plan[READS_SUMS],
    )
    action = 0
    for output in range(n_outputs):
        if not np.isfinite(trace[last_row, n_inputs + output]):
            _undo(trace)
            return -1
        if trace[last_row, n_inputs + output] > trace[last_row, n_inputs + action]:
            action = output
    return action


@inlined
def _undo(trace: Floats) -> None:
    """Put the node states back to what they were before the call."""
    for node in range(trace.shape[1]):
        trace[trace.shape[0] - 1, node] = trace[0, node]


@inlined
def learn_step(
    source: Ints,
    weight: Floats,
    starts: Ints,
    span: Ints,
    trace: Floats,
    adjoint: Floats,
    gradient: Floats,
    moments: Floats,
    delta: Floats,
    clock: Ints,
    blocks: Floats,
    running: Floats,
    born: Ints,
    slot: Ints,
    history_clock: Ints,
    plan: Ints,
    hyper: Floats,
    observation: Floats,
    label: int,
    target: Floats,
) -> tuple[int, float]:
    """Run the network once and learn from it; return the greedy action and the loss.

    A NaN for the loss says that the observation, an output, the loss or the gradient was not
    finite; then nothing has been learned and the node states are as they were.  An infinite loss
    says that the step was taken and a weight overflowed.
    """
    action = _run(source, weight, starts, trace, plan, observation)
    if action < 0:
        return action, np.nan
    n_inputs, n_outputs = plan[N_INPUTS], plan[N_OUTPUTS]
    if plan[LOSS] == CROSS_ENTROPY:
        loss = cross_entropy(trace, adjoint, n_inputs, n_inputs + n_outputs, label)
    else:
        loss = mean_squared_error(trace, adjoint, n_inputs, n_inputs + n_outputs, target)
    backward(
        source,
        weight,
        starts,
        trace,
        adjoint,
        gradient,
        n_inputs,
        n_outputs,
        plan[ACTIVATION],
        plan[OUTPUT_ACTIVATION],
        plan[READS_SUMS],
    )
    first, last = span[0], span[1]
    if not (np.isfinite(loss) and all_finite(gradient, first, last)):
        _undo(trace)
        return action, np.nan
    if plan[READS_SUMS]:
        settle(trace, n_inputs, n_outputs, plan[OUTPUT_ACTIVATION])
    clock[STEP] += 1
    optimize(plan[OPTIMIZER], hyper, clock[STEP], weight, gradient, moments, delta, first, last)
    push(UpdateHistory(blocks, running, born, slot, history_clock), delta, first, last)
    return action, loss if all_finite(weight, first, last) else np.inf


@kernel
def carry(values: Floats, origin: Ints) -> Floats:
    """Rearrange the columns by `origin`; those that were nowhere before (-1) become 0."""
    carried = np.zeros((values.shape[0], origin.size))
    for row in range(values.shape[0]):
        for column in range(origin.size):
            if origin[column] >= 0:
                carried[row, column] = values[row, origin[column]]
    return carried


@kernel
def restructure(
    state: LearnerState, settings: EngineSettings, rng: np.random.Generator
) -> Restructured:
    """Call the plasticity module once and apply what it decides."""
    state.clock[CALLS] += 1
    edit, is_capped = decide_edit(
        state.graph, state.history, settings.rules, state.clock[CALLS], rng
    )
    if edit.weight.size == 0:
        return Restructured(state, edit, is_capped)
    graph, node_origin, edge_origin = apply_edit(state.graph, edit)
    trace = carry(state.trace, node_origin)
    if settings.keeps_optimizer:
        moments = carry(state.moments, edge_origin)
    else:
        moments = np.zeros((state.moments.shape[0], edge_origin.size))
        state.clock[STEP] = 0
    if settings.keeps_history:
        history = carry_history(state.history, edge_origin)
    else:
        history = reset_history(state.history, edge_origin.size)
    edited = assemble(settings, graph, history, state.clock, trace, moments)
    return Restructured(edited, edit, is_capped)
