"""Acting and learning, step by step, as kernels that a compiled task can call."""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.engine.player import act, all_finite, choose, undo
from smgrnn.engine.protection import hold_back
from smgrnn.engine.state import LEARNED, PENDING, LearnerState, state_of
from smgrnn.graph.propagation import Net, forget_states, forward, settle
from smgrnn.kernels import Handle, inlined, lean
from smgrnn.learning.credit import (
    KEPT,
    Pass,
    backward_through_time,
    give_credit,
    output_error,
    remember,
)
from smgrnn.learning.optimizers import average, optimize
from smgrnn.rules.history import TOTAL, push
from smgrnn.rules.statistics import note


@lean
def act_step(handle: Handle, observation: Floats) -> int:
    """Run the network once; return the greedy action, or -1 if something was not finite."""
    state = state_of(handle)
    graph = state.graph
    net = Net(graph.source, graph.weight, state.workspace.starts, state.settings.network)
    action = act(net, state.trace, observation)
    if action >= 0:
        state.past.clock[KEPT] = 0
    return action


@inlined
def _update(state: LearnerState) -> bool:
    """Move the weights by the gradient; return whether they are still finite."""
    learning, workspace = state.settings.learning, state.workspace
    weight, delta = state.graph.weight, workspace.delta
    first, last = workspace.first, workspace.last
    state.step[0] += 1
    step, rate = state.step[0], learning.learning_rate * state.rate[0]
    optimize(learning, step, rate, weight, workspace.gradient, state.moments, delta, first, last)
    if state.protection.shape[0] > 0:
        hold_back(weight, delta, state.protection, first, last)
    push(state.watched.history, delta, first, last)
    if learning.averaging > 0.0:
        average(state.average, weight, learning.averaging, first, last)
    return all_finite(weight, first, last)


@inlined
def _update_pending(state: LearnerState) -> bool:
    """Move the weights by the mean or the sum of the gradients since the last update."""
    workspace = state.workspace
    n = state.examples[PENDING] if state.settings.learning.takes_mean else 1
    for edge in range(workspace.first, workspace.last):
        workspace.gradient[edge] = state.pending[0, edge] / n
        state.pending[0, edge] = 0.0
    state.examples[PENDING] = 0
    return _update(state)


@inlined
def learn_step(handle: Handle, shown: Floats, label: int, target: Floats) -> tuple[int, float]:
    """Run the network on an observation and learn from it; return the greedy action and the loss.

    A loss of NaN means that the observation, an output, the loss or the gradient was not finite;
    then nothing has been learned and the node states are as they were.  An infinite loss means
    that the step was taken and a weight overflowed.
    """
    state = state_of(handle)
    graph, trace, workspace, examples = state.graph, state.trace, state.workspace, state.examples
    network, learning = state.settings.network, state.settings.learning
    adjoint, gradient, errors = workspace.adjoint, workspace.gradient, workspace.errors
    first, last, n_inputs = workspace.first, workspace.last, network.n_inputs
    if not all_finite(shown, 0, n_inputs):
        return -1, np.nan
    net = Net(graph.source, graph.weight, workspace.starts, network)
    forward(net, trace, shown)
    action = choose(trace, network)
    if action < 0:
        return action, np.nan
    loss = output_error(learning.loss, trace, adjoint, network, label, target)
    memory, feedback, decay = state.credit, state.feedback, learning.trace_decay
    seen = Pass(net, trace, adjoint, gradient, errors, memory, feedback, decay)
    if learning.through_time > 0:
        backward_through_time(seen, state.past)
    else:
        give_credit(learning.credit, seen)
    if not (np.isfinite(loss) and all_finite(gradient, first, last)):
        undo(trace)
        return action, np.nan
    if state.settings.watches:
        note(state.watched, trace, errors, network.activation, n_inputs)
    if network.reads_sums:
        settle(trace, network)
    if learning.through_time > 0:
        remember(state.past, trace, graph.weight)
    examples[LEARNED] += 1
    if learning.update == 1:
        return action, loss if _update(state) else np.inf
    for edge in range(first, last):
        state.pending[0, edge] += gradient[edge]
    examples[PENDING] += 1
    is_due = examples[PENDING] == learning.update
    return action, np.inf if is_due and not _update_pending(state) else loss


@inlined
def end_episode(handle: Handle) -> bool:
    """Apply gradients that are left, reset node states; return whether the weights are finite."""
    state = state_of(handle)
    is_finite = state.examples[PENDING] == 0 or _update_pending(state)
    forget_states(state.trace, state.settings.network.n_inputs)
    state.past.clock[KEPT] = 0
    if state.settings.learning.forgets:
        state.credit[:] = 0.0
    return is_finite


learn_once, end_episode_once = lean(learn_step), lean(end_episode)  # the same, to call from Python


class Rows(NamedTuple):
    """The rows of a stream, and columns for the action and the loss of each."""

    observations: Floats  # (n, n_input_nodes)
    labels: Ints  # action numbers (n,)
    targets: Floats  # target outputs (n, n_outputs), or (n, 0) where labels are numbers
    is_last: Bools  # rows that end an episode (n,)
    actions: Ints  # written: the greedy action before learning (n,)
    losses: Floats  # written: the loss (n,)


@lean
def learn_rows(handle: Handle, rows: Rows, first: int, stop: int) -> tuple[int, float]:
    """Learn rows from `first` until the module may be due; return the next row and the loss.

    That is after update `stop`, or after the end of an episode if `stop` is negative.  A loss that
    is not finite ends it too.
    """
    clock = state_of(handle).watched.history.clock
    row, n_rows, loss, is_due = first, len(rows.observations), 0.0, False
    while row < n_rows and not is_due:
        label, is_last = rows.labels[row], rows.is_last[row]
        action, loss = learn_step(handle, rows.observations[row], label, rows.targets[row])
        rows.actions[row], rows.losses[row] = action, loss
        row += 1
        if not np.isfinite(loss):
            return row, loss
        if is_last and not end_episode(handle):
            return row, np.inf
        is_due = clock[TOTAL] == stop or (stop < 0 and is_last)
    return row, loss
