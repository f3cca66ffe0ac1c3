"""Distillation of whole episodes without returning to Python.  Paper: Sec. III-E.

The student acts, the expert labels, one update per step, the plasticity module by its schedule,
node states reset at each episode's end.  The expert never acts.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats, Ints, Singles
from smgrnn.engine.state import CALLS, N_INPUTS, EngineSettings, LearnerState
from smgrnn.engine.steps import act_step, learn_step, restructure
from smgrnn.episodes.table import Episodes
from smgrnn.experts.mlp import Expert, expert_action
from smgrnn.graph.log import EditLog, append_edit
from smgrnn.kernels import kernel
from smgrnn.plasticity.history import TOTAL
from smgrnn.plasticity.schedule import is_idle
from smgrnn.tasks import compiled


class Distilled(NamedTuple):
    """What came of a number of episodes."""

    state: LearnerState
    log: EditLog
    n_done: int
    """Episodes completed; fewer than asked for if something was not finite."""
    loss: float
    """NaN or infinite if something was not finite."""
    is_capped: bool


@kernel
def distill_episodes(
    state: LearnerState,
    settings: EngineSettings,
    task: int,
    starts_of_episodes: Floats,
    max_steps: int,
    expert: Expert,
    episodes: Episodes,
    log: EditLog,
    rng: np.random.Generator,
) -> Distilled:
    """Distil as many episodes as there are starting states, and record each."""
    plan, hyper, rules, interval = settings.plan, settings.hyper, settings.rules, settings.interval
    n_inputs = plan[N_INPUTS]
    sizes, parameters, codes = expert
    scratch = np.empty((2, int(sizes.max())), dtype=np.float32)
    # An input beyond the task's observation is always 1.
    observation, no_target = np.ones(n_inputs), np.zeros(0)
    is_capped = False
    for episode in range(len(starts_of_episodes)):
        world = starts_of_episodes[episode].copy()
        compiled.observe(task, world, observation)
        n_steps = n_agreed = 0
        total = lost = 0.0
        is_over = False
        while not is_over:
            # A stretch without structural change, its arrays named once, as in engine.stream.
            source, weight = state.graph.source, state.graph.weight
            starts, span, trace, adjoint = state.starts, state.span, state.trace, state.adjoint
            gradient, moments, delta = state.gradient, state.moments, state.delta
            clock, history = state.clock, state.history
            blocks, running, born, slot, updates = history
            is_due = False
            while not (is_over or is_due):
                label = expert_action(sizes, parameters, codes, scratch, observation)
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
                    observation,
                    label,
                    no_target,
                )
                if not np.isfinite(loss):
                    return Distilled(state, log, episode, loss, is_capped)
                reward, is_terminal = compiled.step(task, world, action)
                compiled.observe(task, world, observation)
                n_steps += 1
                n_agreed += action == label
                total += reward
                lost += loss
                is_over = is_terminal or n_steps == max_steps
                is_due = updates[TOTAL] % interval == 0 if interval > 0 else is_over
                if is_due and is_idle(weight, history, rules, clock[CALLS] + 1, span[0], span[1]):
                    clock[CALLS] += 1
                    is_due = False
            if is_over:
                for node in range(n_inputs, trace.shape[1]):
                    trace[trace.shape[0] - 1, node] = 0.0
            if is_due:
                state, edit, was_capped = restructure(state, settings, rng)
                log = append_edit(log, updates[TOTAL], clock[CALLS], edit)
                is_capped = is_capped or was_capped
        episodes.returns[episode], episodes.loss[episode] = total, lost
        episodes.steps[episode], episodes.agreed[episode] = n_steps, n_agreed
        episodes.n_nodes[episode] = state.graph.node_ids.size
        episodes.n_edges[episode] = state.graph.source.size
    return Distilled(state, log, len(starts_of_episodes), 0.0, is_capped)


@kernel
def taught_step(
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
    updates: Ints,
    plan: Ints,
    hyper: Floats,
    sizes: Ints,
    parameters: Singles,
    codes: Ints,
    scratch: Singles,
    observation: Floats,
    no_target: Floats,
) -> tuple[int, float, int]:
    """Ask the expert and learn what it says; return the student's action, the loss and the label.

    A step of an episode that happens outside, in one call from Python; plain arrays are the fastest
    arguments.
    """
    label = expert_action(sizes, parameters, codes, scratch, observation)
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
        observation,
        label,
        no_target,
    )
    return action, loss, label


@kernel
def play_episodes(
    state: LearnerState,
    settings: EngineSettings,
    task: int,
    starts_of_episodes: Floats,
    max_steps: int,
    episodes: Episodes,
) -> None:
    """Play episodes with the greedy student as it is, without learning, and record each."""
    plan, n_inputs = settings.plan, settings.plan[N_INPUTS]
    source, weight, starts = state.graph.source, state.graph.weight, state.starts
    trace = np.zeros_like(state.trace)  # of its own: playing must not disturb learning
    observation = np.ones(n_inputs)  # an input beyond the task's observation is always 1
    for episode in range(len(starts_of_episodes)):
        world = starts_of_episodes[episode].copy()
        trace[:] = 0.0
        for _ in range(max_steps):
            compiled.observe(task, world, observation)
            action = act_step(source, weight, starts, trace, plan, observation)
            if action < 0:
                # An output was not finite; there is no action to take.
                episodes.returns[episode] = np.nan
                break
            reward, is_terminal = compiled.step(task, world, action)
            episodes.returns[episode] += reward
            episodes.steps[episode] += 1
            if is_terminal:
                break
        episodes.n_nodes[episode] = state.graph.node_ids.size
        episodes.n_edges[episode] = state.graph.source.size
