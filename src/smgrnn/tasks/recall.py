"""Recall: a cue, a delay, and then the question which cue it was.

The first observation shows the cue, -1 or +1; then nothing is shown until the last one asks.  The
answer to it is action 0 or 1, and action 2 is to wait.  What is seen when the question comes is the
same for both cues, so a network without memory is right half of the time at best.

A state is (time, cue, steps of an episode).  The whole observation is (cue, question, cue before):
a student sees the first two, and the third is for the expert, which is the rule itself.
"""

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined

N_INPUTS = 3
N_OUTPUTS = 3
STATE_SIZE = 3
DELAY = 8
"""Steps between the cue and the question, unless the task's name says otherwise."""
RULE = ([[0.0, 2.0, -1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.0]], [0.0, 0.0, 1.5])
"""The expert as a layer: wait until asked, then answer by the cue."""


def start(seed: int, n_steps: int) -> Floats:
    """Return the state (3,) in which an episode of so many steps starts."""
    cue = 2.0 * np.random.default_rng(seed).integers(2) - 1.0
    return np.array([0.0, cue, n_steps])


@inlined
def observe(state: Floats, observation: Floats) -> None:
    """Write the whole observation."""
    observation[0] = state[1] if state[0] == 0.0 else 0.0
    observation[1] = 1.0 if state[0] == state[2] - 1.0 else 0.0
    observation[2] = state[1]


@inlined
def step(state: Floats, action: int) -> tuple[float, bool]:
    """Wait or answer; return the reward, 1 for the right answer, and whether it has ended."""
    is_asked = state[0] == state[2] - 1.0
    is_right = is_asked and action == (1 if state[1] > 0.0 else 0)
    state[0] += 1.0
    return 1.0 if is_right else 0.0, is_asked
