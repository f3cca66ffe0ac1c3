"""The compiled tasks behind integer codes, so that one fused loop serves them all."""

from collections.abc import Sequence

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks import acrobot, cartpole

CARTPOLE, ACROBOT = range(2)

CODES = {"CartPole-v1": CARTPOLE, "Acrobot-v1": ACROBOT}
"""The code of each compiled task by its Gymnasium id."""
_MODULES = {CARTPOLE: cartpole, ACROBOT: acrobot}


def start_states(task: int, seeds: Sequence[int]) -> Floats:
    """Return the states (n_seeds, STATE_SIZE of the task) in which Gymnasium starts episodes."""
    module = _MODULES[task]
    states = np.empty((len(seeds), module.STATE_SIZE))
    for row, seed in zip(states, seeds, strict=True):
        row[:] = module.start(seed)
    return states


@inlined
def observe(task: int, state: Floats, observation: Floats) -> None:
    """Write the observation that belongs to the state."""
    if task == CARTPOLE:
        cartpole.observe(state, observation)
    elif task == ACROBOT:
        acrobot.observe(state, observation)


@inlined
def step(task: int, state: Floats, action: int) -> tuple[float, bool]:
    """Act for one time step; return the reward and whether the episode has ended."""
    reward, is_terminal = np.nan, True  # of a task that there is not
    if task == CARTPOLE:
        reward, is_terminal = cartpole.step(state, action)
    elif task == ACROBOT:
        reward, is_terminal = acrobot.step(state, action)
    return reward, is_terminal
