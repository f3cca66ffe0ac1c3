"""Recall: a cue, a delay, and then the question which cue it was.

The first observation shows the cue, -1 or +1, and the last one asks for it.  The answer is action 0
or 1; action 2 is to wait.  The question looks the same for both cues, so a network without memory
is right half of the time at best.  A state is (time, cue, steps of an episode).  The whole
observation is (cue, question, cue before), of which a student does not see the third.
"""

from collections.abc import Mapping

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks.facts import Facts, Setting

CODE = 2
DELAY = 8  # usual number of steps between the cue and the question
EXPERT = ([[0.0, 2.0, -1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.0]], [0.0, 0.0, 1.5])
"""The expert as a layer: wait until asked, then answer by the cue."""


def steps(settings: Mapping[str, float]) -> int:
    """Return the steps of an episode: those of the delay, the cue's and the question's."""
    return int(settings["delay"]) + 2


def constants(settings: Mapping[str, float], *, is_mirrored: bool = False) -> list[float]:
    """Return the constant of a state: the steps of an episode."""
    return [float(steps(settings))]


def start(seed: int) -> Floats:
    """Return the time and the cue (2,) with which an episode starts."""
    cue = 2.0 * np.random.default_rng(seed).integers(2) - 1.0
    return np.array([0.0, cue])


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


RECALL = Facts(
    id="recall",
    inputs=("cue", "question", "cue before"),
    outputs=("it was −1", "it was +1", "wait"),
    max_steps=steps,
    reward_threshold=0.95,
    needs_memory=True,
    rule=EXPERT,
    in_gymnasium=False,
    settings={"delay": Setting(DELAY, 0, 9998, is_whole=True)},
    hidden=(2,),
    code=CODE,
    start=start,
    constants=constants,
)
