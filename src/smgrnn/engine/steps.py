"""Single steps of acting and of learning, as kernels that a compiled task can call."""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine.player import Net, act, all_finite, choose, undo
from smgrnn.engine.protection import hold_back
from smgrnn.engine.state import Handle, held_by
from smgrnn.graph.propagation import forget_states, forward, settle
from smgrnn.kernels import inlined, lean
from smgrnn.learning.credit import Pass, give_credit, output_error
from smgrnn.learning.optimizers import Pace, average, optimize
from smgrnn.learning.through_time import backward_through_time, cut, remember
from smgrnn.rules.history import push
from smgrnn.rules.statistics import note


@lean
def act_step(handle: Handle, observation: Floats) -> int:
    """Run the network once; return the greedy action, or -1 if something was not finite."""
    held = held_by(handle)
    state, settings = held.state, held.settings
    graph = state.graph
    net = Net(graph.source, graph.weight, state.workspace.starts, settings.network)
    action = act(net, state.trace, observation)
    if action >= 0:
        cut(state.past)
    return action


@inlined
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
    source, weight, trace = state.graph.source, state.graph.weight, state.trace
    room = state.workspace
    network, learning = settings.network, settings.learning
    adjoint, gradient, errors, delta = room.adjoint, room.gradient, room.errors, room.delta
    first, last, n_inputs = room.first, room.last, network.n_inputs
    if not all_finite(observation, 0, n_inputs):
        return -1, np.nan
    forward(source, weight, room.starts, trace, observation, network)
    action = choose(trace, network)
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
    if learning.through_time > 0:
        backward_through_time(seen, state.past)
    else:
        give_credit(learning.credit, seen)
    if not (np.isfinite(loss) and all_finite(gradient, first, last)):
        undo(trace)
        return action, np.nan
    if settings.watches:
        statistics, candidates = state.watched.statistics, state.watched.candidates
        note(statistics, candidates, trace, errors, network.activation, n_inputs)
    if network.reads_sums:
        settle(trace, network)
    if learning.through_time > 0:
        remember(state.past, trace, weight)
    state.step[0] += 1
    pace = Pace(state.step[0], learning.learning_rate * state.rate[0])
    optimize(learning, pace, weight, gradient, state.moments, delta, first, last)
    if state.protection.shape[0] > 0:
        hold_back(weight, delta, state.protection, first, last)
    push(state.watched.history, delta, first, last)
    if learning.averaging > 0.0:
        average(state.average, weight, learning.averaging, first, last)
    return action, loss if all_finite(weight, first, last) else np.inf


@inlined
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


@lean
def learn_once(
    handle: Handle, observation: Floats, label: int, target: Floats
) -> tuple[int, float]:
    """Take a `learn_step` from Python."""
    return learn_step(handle, observation, label, target)


@lean
def reset_states(handle: Handle) -> None:
    """Call `end_episode` from Python."""
    end_episode(handle)
