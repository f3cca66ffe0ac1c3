"""Distillation of whole episodes without returning to Python.  Paper: Sec. III-E.

The student acts, the expert labels, one update per step, the plasticity module by its schedule,
node states reset at each episode's end.  The expert never acts.
"""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints, Singles
from smgrnn.engine.player import act, act_beside
from smgrnn.engine.state import state_of
from smgrnn.engine.steps import end_episode, learn_step
from smgrnn.episodes.table import Episodes
from smgrnn.experts.mlp import Expert, expert_action
from smgrnn.graph.propagation import Net, forget_states
from smgrnn.kernels import Handle, inlined, lean
from smgrnn.rules.history import TOTAL
from smgrnn.tasks import Task, known


class EpisodeBatch(NamedTuple):
    """The episodes of a compiled loop, and buffers for the current one."""

    task: int
    """Code of the compiled task."""
    worlds: Floats
    """State of the world in each episode, initially its start (n_episodes, state_size)."""
    max_steps: int
    """Steps after which an episode is cut off."""
    observation: Floats
    """The whole observation, which the expert sees, with the cue behind it (n_observed,)."""
    places: Ints
    """Indices in it of the values that the student sees."""
    scale: Floats
    """Factor of each input node (n_input_nodes,)."""
    inputs: Floats
    """What the student sees times the scale, and 1 for a bias (n_input_nodes,)."""
    totals: Floats
    """Sum of rewards, and of losses (2,)."""
    counts: Ints
    """Steps, and those on which student and expert agreed (2,)."""

    @classmethod
    def start(cls, task: Task, seeds: list[int], scale: Floats) -> Self:
        """Return a batch of one episode per seed."""
        cue = task.variant.cue
        assert task.facts.code is not None
        assert task.max_steps is not None
        return cls(
            task.facts.code,
            task.start_states(seeds),
            task.max_steps,
            observation=np.append(np.zeros(task.n_observed - len(cue)), cue),
            places=np.array(task.places, dtype=np.int64),
            scale=scale,
            inputs=scale.copy(),
            totals=np.zeros(2),
            counts=np.zeros(2, np.int64),
        )


@inlined
def _show(batch: EpisodeBatch, world: Floats) -> None:
    """Show the student the present state of the world."""
    observation, inputs, scale = batch.observation, batch.inputs, batch.scale
    known.observe(batch.task, world, observation)
    for i in range(batch.places.size):
        inputs[i] = observation[batch.places[i]] * scale[i]


@lean
def learn_steps(
    handle: Handle, batch: EpisodeBatch, number: int, expert: Expert, scratch: Singles, stop: int
) -> tuple[float, bool]:
    """Learn until the episode is over or update `stop`; return the loss and whether it is over."""
    sizes, parameters, codes = expert
    clock = state_of(handle).watched.history.clock
    task, observation, world = batch.task, batch.observation, batch.worlds[number]
    inputs = batch.inputs
    totals, counts, no_target = batch.totals, batch.counts, batch.totals[:0]
    loss, is_over, is_due = 0.0, False, False
    _show(batch, world)
    while not (is_over or is_due):
        label = expert_action(sizes, parameters, codes, scratch, observation)
        action, loss = learn_step(handle, inputs, label, no_target)
        if not np.isfinite(loss):
            return loss, True
        reward, is_terminal = known.step(task, world, action)
        _show(batch, world)
        counts[0] += 1
        counts[1] += action == label
        totals[0] += reward
        totals[1] += loss
        is_over = is_terminal or counts[0] == batch.max_steps
        is_due = clock[TOTAL] == stop
    if is_over and not end_episode(handle):
        loss = np.inf
    return loss, is_over


@lean
def taught_step(
    handle: Handle,
    sizes: Ints,
    parameters: Singles,
    codes: Ints,
    scratch: Singles,
    observation: Floats,
    inputs: Floats,
    no_target: Floats,
) -> tuple[int, float, int]:
    """Ask the expert and learn its label; return the student's action, the loss and the label.

    This is one step of an episode outside compiled code, in one call from Python; plain arrays are
    the fastest arguments.
    """
    label = expert_action(sizes, parameters, codes, scratch, observation)
    action, loss = learn_step(handle, inputs, label, no_target)
    return action, loss, label


class Asked(NamedTuple):
    """An expert that is asked at every step of episodes that are played."""

    expert: Expert
    scratch: Singles
    kind: int
    """Code of the loss."""
    adjoint: Floats
    """Buffer for the gradient of the loss (1, n_nodes)."""
    chances: Ints
    """Actions to take instead of the student's, if there are any (n_episodes, max_steps)."""
    expert_acts: bool
    """Whether the expert's actions are taken instead."""

    @classmethod
    def nothing(cls) -> Self:
        """Return that no expert is asked."""
        sizes, table = np.zeros(0, np.int64), np.zeros((1, 0))
        expert, scratch = Expert(sizes, np.zeros(0, np.float32), sizes), table.astype(np.float32)
        return cls(expert, scratch, 0, table, np.zeros((0, 0), np.int64), expert_acts=False)


@lean
def play_episodes(
    net: Net, trace: Floats, batch: EpisodeBatch, episodes: Episodes, asked: Asked
) -> None:
    """Play episodes with a greedy network, without learning, and record each."""
    sizes, parameters, codes = asked.expert
    label, loss = 0, 0.0
    for number in range(len(batch.worlds)):
        world = batch.worlds[number]
        forget_states(trace, net.network.n_inputs)
        for step in range(batch.max_steps):
            _show(batch, world)
            if sizes.size == 0:
                action = act(net, trace, batch.inputs)
            else:
                label = expert_action(sizes, parameters, codes, asked.scratch, batch.observation)
                action, loss = act_beside(
                    net, trace, batch.inputs, asked.kind, asked.adjoint, label, batch.totals[:0]
                )
            if action < 0:
                # An output was not finite; there is no action to take.
                episodes.returns[number] = np.nan
                break
            if sizes.size > 0:
                episodes.agreed[number] += action == label
                episodes.loss[number] += loss
            if asked.chances.shape[0] > 0:
                action = asked.chances[number, step]
            elif asked.expert_acts:
                action = label
            reward, is_terminal = known.step(batch.task, world, action)
            episodes.returns[number] += reward
            episodes.steps[number] += 1
            if is_terminal:
                break
