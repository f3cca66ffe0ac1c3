"""The compiled tasks behind integer codes, so that one fused loop serves them all."""

from collections.abc import Sequence

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks import acrobot, cartpole, recall

CARTPOLE, ACROBOT, RECALL = range(3)

CODES = {"CartPole-v1": CARTPOLE, "Acrobot-v1": ACROBOT, "recall": RECALL}
"""The code of each compiled task by its name."""
_STATE_SIZES = {
    CARTPOLE: cartpole.STATE_SIZE,
    ACROBOT: acrobot.STATE_SIZE,
    RECALL: recall.STATE_SIZE,
}


def start_states(task: int, seeds: Sequence[int], max_steps: int = 0) -> Floats:
    """Return the states (n_seeds, STATE_SIZE of the task) in which Gymnasium starts episodes.

    Episodes of recall have `max_steps` steps; the others do not depend on it.
    """
    states = np.empty((len(seeds), _STATE_SIZES[task]))
    for row, seed in zip(states, seeds, strict=True):
        if task == CARTPOLE:
            row[:] = cartpole.start(seed)
        elif task == ACROBOT:
            row[:] = acrobot.start(seed)
        elif task == RECALL:
            row[:] = recall.start(seed, max_steps)
    return states


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
