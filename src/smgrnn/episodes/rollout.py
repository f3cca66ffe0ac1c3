"""Distillation of whole episodes without returning to Python.  Paper: Sec. III-E.

The student acts, the expert labels, one update per step, the plasticity module by its schedule,
node states reset at each episode's end.  The expert never acts.
"""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats, Ints, Singles
from smgrnn.engine.handle import Handle, held_by
from smgrnn.engine.restructuring import restructure_at
from smgrnn.engine.state import EngineSettings, LearnerState
from smgrnn.engine.steps import act_step, learn_step, wants_edit
from smgrnn.engine.stream import Advanced
from smgrnn.episodes.table import Episodes
from smgrnn.experts.mlp import Expert, expert_action
from smgrnn.graph.log import EditLog
from smgrnn.graph.propagation import forget_states
from smgrnn.kernels import inlined, kernel
from smgrnn.tasks import compiled


class Course(NamedTuple):
    """The episodes that a compiled loop goes through."""

    task: int
    """Code of the compiled task."""
    starts: Floats
    """State of the world at the start of each episode (n_episodes, state_size)."""
    max_steps: int
    """Steps after which an episode is cut off."""


class _Episode(NamedTuple):
    """An episode under way."""

    world: Floats
    """State of the world."""
    observation: Floats
    """What the student sees; an input beyond the task's observation is always 1."""
    totals: Floats
    """Sum of rewards, and of losses (2,)."""
    counts: Ints
    """Steps, and those on which student and expert agreed (2,)."""


@inlined
def _learn_episode(
    state: LearnerState,
    settings: EngineSettings,
    course: Course,
    expert: Expert,
    scratch: Singles,
    episode: _Episode,
) -> tuple[float, bool, bool]:
    """Go on until the episode is over or an edit is due; return the loss and which of the two.

    A stretch without structural change is a kernel of its own: there nothing counts references.
    """
    sizes, parameters, codes = expert
    world, observation, totals, counts = episode
    no_target = observation[:0]
    loss, is_over, is_due = 0.0, False, False
    while not (is_over or is_due):
        label = expert_action(sizes, parameters, codes, scratch, observation)
        action, loss = learn_step(state, settings, observation, label, no_target)
        if not np.isfinite(loss):
            return loss, True, False
        reward, is_terminal = compiled.step(course.task, world, action)
        compiled.observe(course.task, world, observation)
        counts[0] += 1
        counts[1] += action == label
        totals[0] += reward
        totals[1] += loss
        is_over = is_terminal or counts[0] == course.max_steps
        is_due = wants_edit(state, settings, is_over)
    if is_over:
        forget_states(state.trace, settings.network.n_inputs)
    return loss, is_over, is_due


@kernel
def distill_episodes(
    state: LearnerState,
    settings: EngineSettings,
    log: EditLog,
    rng: np.random.Generator,
    course: Course,
    expert: Expert,
    episodes: Episodes,
) -> Advanced:
    """Distil as many episodes as there are starting states, and record each."""
    scratch = np.empty((2, int(expert.sizes.max())), dtype=np.float32)
    observation, loss, is_capped = np.ones(settings.network.n_inputs), 0.0, False
    for number in range(len(course.starts)):
        episode = _Episode(
            course.starts[number].copy(), observation, np.zeros(2), np.zeros(2, np.int64)
        )
        compiled.observe(course.task, episode.world, observation)
        is_over = False
        while not is_over:
            loss, is_over, is_due = _learn_episode(
                state, settings, course, expert, scratch, episode
            )
            if not np.isfinite(loss):
                return Advanced(state, log, loss, is_capped)
            if is_due:
                edit = restructure_at(settings.restructure)
                state, log, was_capped = edit(state, settings, log, rng)
                is_capped = is_capped or was_capped
        episodes.returns[number], episodes.loss[number] = episode.totals
        episodes.steps[number], episodes.agreed[number] = episode.counts
        episodes.n_nodes[number] = state.graph.node_ids.size
        episodes.n_edges[number] = state.graph.source.size
    return Advanced(state, log, loss, is_capped)


@inlined
def taught_step(
    handle: Handle,
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
    held = held_by(handle)
    label = expert_action(sizes, parameters, codes, scratch, observation)
    action, loss = learn_step(held.state, held.settings, observation, label, no_target)
    return action, loss, label


@kernel
def play_episodes(
    state: LearnerState, settings: EngineSettings, course: Course, episodes: Episodes
) -> None:
    """Play episodes with the greedy student as it is, without learning, and record each.

    The states of the nodes are left at zero, as at the start of an episode.
    """
    observation = np.ones(settings.network.n_inputs)  # beyond the task's observation always 1
    for number in range(len(course.starts)):
        world = course.starts[number].copy()
        forget_states(state.trace, settings.network.n_inputs)
        for _ in range(course.max_steps):
            compiled.observe(course.task, world, observation)
            action = act_step(state, settings, observation)
            if action < 0:
                # An output was not finite; there is no action to take.
                episodes.returns[number] = np.nan
                break
            reward, is_terminal = compiled.step(course.task, world, action)
            episodes.returns[number] += reward
            episodes.steps[number] += 1
            if is_terminal:
                break
        episodes.n_nodes[number] = state.graph.node_ids.size
        episodes.n_edges[number] = state.graph.source.size
    forget_states(state.trace, settings.network.n_inputs)
