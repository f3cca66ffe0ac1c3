"""Single steps of acting and of learning, as kernels that a compiled task can call."""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine.handle import Handle, held_by
from smgrnn.engine.protection import hold_back
from smgrnn.engine.state import CALLED, CALLS, STEP
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.graph.propagation import forget_states, forward, settle
from smgrnn.kernels import inlined, lean, reduction
from smgrnn.learning.backprop import backward
from smgrnn.learning.loss import output_error
from smgrnn.learning.numbers import LearningNumbers
from smgrnn.learning.optimizers import Pace, optimize
from smgrnn.learning.rule import Pass, credit_at
from smgrnn.learning.schedule import average, rate_at
from smgrnn.learning.through_time import Past, backward_through_time, cut, remember
from smgrnn.plasticity.evidence import Moment
from smgrnn.plasticity.history import TOTAL, push
from smgrnn.plasticity.schedule import is_due, is_idle, notice
from smgrnn.plasticity.size import PROGRESS, note_return


@reduction
def all_finite(values: Floats, first: int, last: int) -> bool:
    """Return whether no value of [first, last) is NaN or infinite."""
    total = 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        total += abs(values[i])
    return bool(np.isfinite(total))


@lean
def act_step(handle: Handle, observation: Floats) -> int:
    """Run the network once; return the greedy action, or -1 if something was not finite."""
    held = held_by(handle)
    state, settings = held.state, held.settings
    trace, network, graph = state.trace, settings.network, state.graph
    if not all_finite(observation, 0, network.n_inputs):
        return -1
    forward(graph.source, graph.weight, state.room.starts, trace, observation, network)
    action = _choose(trace, network)
    cut(state.past)
    if action >= 0 and network.reads_sums:
        settle(trace, network)
    return action


@inlined
def _choose(trace: Floats, network: NetworkNumbers) -> int:
    """Return the largest output; if one is not finite, -1, with the states as they were before."""
    row, first, action = trace.shape[0] - 1, network.n_inputs, 0
    for output in range(network.n_outputs):
        if not np.isfinite(trace[row, first + output]):
            _undo(trace)
            return -1
        if trace[row, first + output] > trace[row, first + action]:
            action = output
    return action


@inlined
def _undo(trace: Floats) -> None:
    """Put the node states back to what they were before the call."""
    for node in range(trace.shape[1]):
        trace[trace.shape[0] - 1, node] = trace[0, node]


@lean
def learn_step(
    handle: Handle, observation: Floats, label: int, target: Floats
) -> tuple[int, float]:
    """Run the network once and learn from it; return the greedy action and the loss.

    A loss of NaN means that the observation, an output, the loss or the gradient was not finite;
    then nothing has been learned and the node states are as they were.  An infinite loss means
    that the step was taken and a weight overflowed.
    """
    held = held_by(handle)
    state, settings = held.state, held.settings
    source, weight, trace, room = state.graph.source, state.graph.weight, state.trace, state.room
    network, learning = settings.network, settings.learning
    adjoint, gradient, errors, delta = room.adjoint, room.gradient, room.errors, room.delta
    first, last, n_inputs = room.first, room.last, network.n_inputs
    if not all_finite(observation, 0, n_inputs):
        return -1, np.nan
    forward(source, weight, room.starts, trace, observation, network)
    action = _choose(trace, network)
    if action < 0:
        return action, np.nan
    loss = output_error(learning.loss, trace, adjoint, network, label, target)
    seen = Pass(
        source,
        weight,
        room.starts,
        trace,
        adjoint,
        gradient,
        errors,
        state.credit,
        state.feedback,
        learning.trace_decay,
        network,
    )
    _give_credit(seen, state.past, learning)
    if not (np.isfinite(loss) and all_finite(gradient, first, last)):
        _undo(trace)
        return action, np.nan
    if settings.plasticity.watches:
        notice(settings.plasticity, state.noticed, Moment(trace, errors, network.activation))
    if network.reads_sums:
        settle(trace, network)
    if learning.through_time > 0:
        remember(state.past, trace, weight)
    state.clock[STEP] += 1
    rate = learning.learning_rate * rate_at(learning.schedule, state.noticed.aim[PROGRESS])
    pace = Pace(state.clock[STEP], rate)
    optimize(learning, pace, weight, gradient, state.moments, delta, first, last)
    if state.protection.shape[0] > 0:
        hold_back(weight, delta, state.protection, first, last)
    push(state.history, delta, first, last)
    if learning.averaging > 0.0:
        average(state.average, weight, learning.averaging, first, last)
    return action, loss if all_finite(weight, first, last) else np.inf


@inlined
def _give_credit(seen: Pass, past: Past, learning: LearningNumbers) -> None:
    """Write the gradient of every edge by the learning rule."""
    if learning.through_time > 0:
        backward_through_time(seen, past)
    elif learning.credit == 0:  # backpropagation is built in, being the hottest
        backward(seen)
    else:
        credit_at(learning.credit)(seen)


@lean
def wants_edit(handle: Handle, is_last: bool) -> bool:
    """Return whether, after an update, the module is due and might find something to do.

    A call that is certain to find nothing is only counted.
    """
    held = held_by(handle)
    state, settings = held.state, held.settings
    history, interval, least = state.history, settings.interval, settings.least_updates
    n_updates = history.clock[TOTAL]
    is_now = is_due(interval, least, n_updates, state.clock[CALLED], is_last)
    if not is_now or settings.restructure == 0:
        return False
    call, weight, room = state.clock[CALLS] + 1, state.graph.weight, state.room
    if not is_idle(settings.plasticity, weight, history, call, room.first, room.last):
        return True
    state.clock[CALLS], state.clock[CALLED] = call, n_updates
    return False


@lean
def graph_size(handle: Handle) -> tuple[int, int]:
    """Return the number of nodes and of edges."""
    graph = held_by(handle).state.graph
    return graph.node_ids.size, graph.source.size


@lean
def set_progress(handle: Handle, progress: float) -> None:
    """Set the share of the run that is behind."""
    held_by(handle).state.noticed.aim[PROGRESS] = progress


@lean
def say_return(handle: Handle, total: float, bar: float) -> None:
    """Note the return of an episode, and the mean that the job asks for."""
    note_return(held_by(handle).state.noticed.aim, total, bar)


@lean
def end_episode(handle: Handle) -> None:
    """Set the states of the nodes to zero, as at the start of an episode."""
    held = held_by(handle)
    state, settings = held.state, held.settings
    forget_states(state.trace, settings.network.n_inputs)
    cut(state.past)
    if settings.learning.forgets:
        for row in range(state.credit.shape[0]):
            for edge in range(state.credit.shape[1]):
                state.credit[row, edge] = 0.0
