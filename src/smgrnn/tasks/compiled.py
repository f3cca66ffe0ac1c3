"""The compiled tasks behind integer codes, so that one fused loop serves them all."""

from collections.abc import Sequence

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks import acrobot, cartpole, recall
from smgrnn.tasks.variants import Physics

CARTPOLE, ACROBOT, RECALL = range(3)

CODES = {"CartPole-v1": CARTPOLE, "Acrobot-v1": ACROBOT, "recall": RECALL}
"""The code of each compiled task by its name."""
_STATE_SIZES = {
    CARTPOLE: cartpole.STATE_SIZE,
    ACROBOT: acrobot.STATE_SIZE,
    RECALL: recall.STATE_SIZE,
}
USUAL = {
    CARTPOLE: cartpole.constants(),
    ACROBOT: acrobot.constants(),
    RECALL: [float(recall.DELAY + 2)],
}
"""The constants that states of each task end with, unless it is a variant."""


def start_states(
    task: int, seeds: Sequence[int], constants: Sequence[float] | None = None
) -> Floats:
    """Return the states (n_seeds, STATE_SIZE of the task) in which Gymnasium starts episodes.

    They end with the constants of a variant, or with the usual ones.
    """
    states = np.empty((len(seeds), _STATE_SIZES[task]))
    tail = USUAL[task] if constants is None else constants
    for row, seed in zip(states, seeds, strict=True):
        if task == CARTPOLE:
            row[:] = [*cartpole.start(seed), *tail]
        elif task == ACROBOT:
            row[:] = [*acrobot.start(seed), *tail]
        elif task == RECALL:
            row[:] = [*recall.start(seed), *tail]
    return states


def constants_of(task: int, physics: Physics, max_steps: int) -> list[float]:
    """Return the constants of a variant; for recall they are the steps of an episode."""
    if task == CARTPOLE:
        return cartpole.constants(physics.values, is_mirrored=physics.is_mirrored)
    if task == ACROBOT:
        return acrobot.constants(physics.values, is_mirrored=physics.is_mirrored)
    if task == RECALL:
        return [float(max_steps)]
    raise ValueError(f"There is no compiled task {task}.")


@inlined
def observe(task: int, state: Floats, observation: Floats) -> None:
    """Write the observation that belongs to the state."""
    if task == CARTPOLE:
        cartpole.observe(state, observation)
    elif task == ACROBOT:
        acrobot.observe(state, observation)
    elif task == RECALL:
        recall.observe(state, observation)


@inlined
def step(task: int, state: Floats, action: int) -> tuple[float, bool]:
    """Act for one time step; return the reward and whether the episode has ended."""
    reward, is_terminal = np.nan, True  # of a task that there is not
    if task == CARTPOLE:
        reward, is_terminal = cartpole.step(state, action)
    elif task == ACROBOT:
        reward, is_terminal = acrobot.step(state, action)
    elif task == RECALL:
        reward, is_terminal = recall.step(state, action)
    return reward, is_terminal
