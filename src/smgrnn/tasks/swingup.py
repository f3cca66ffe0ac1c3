"""Swing-up: a pole that hangs from a cart is to be swung up and balanced.

The equations of motion, and the state, are those of CartPole; the angle is not limited.  A linear
policy cannot do it: what pumps energy into the pole depends on products of the values observed.
The whole observation is (position, velocity, cosine, sine, angular velocity, rule), of which a
student does not see the last: the push of the expert, a rule of energy with a balance at the top.
"""

import math
from collections.abc import Mapping

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks import cartpole
from smgrnn.tasks.facts import Facts

CODE = 3
PUMP, LIFT = 0.34, 0.03
"""Gain of the energy that is missing, and how much more than needed is aimed for."""
CENTER, BRAKE = 0.33, 0.21
"""Gains of position and velocity while the pole is swung up."""
NEAR = 0.5
"""Cosine of the angle from which on the pole is balanced."""
EXPERT = ([[0.0] * 5 + [-1.0], [0.0] * 5 + [1.0]], [0.0, 0.0])
"""The expert as a layer: the rule that a student does not see."""


def constants(settings: Mapping[str, float], *, is_mirrored: bool = False) -> list[float]:
    """Return the constants of a state, which are CartPole's."""
    return cartpole.constants()


def start(seed: int) -> Floats:
    """Return the motion (4,) with which an episode starts: the pole hangs, nearly at rest."""
    position, velocity, angle, spin = np.random.default_rng(seed).uniform(-0.2, 0.2, 4)
    return np.array([position, velocity, math.pi + angle, spin])


@inlined
def push(state: Floats) -> float:
    """Return the expert's choice: positive to the right."""
    position, velocity, spin = state[0], state[1], state[3]
    gravity, length = state[4], state[7]
    cosine, sine = math.cos(state[2]), math.sin(state[2])
    missing = spin * spin * length * 2.0 / 3.0 / gravity + cosine - 1.0 + LIFT
    choice: float = PUMP * missing * spin * cosine - CENTER * position - BRAKE * velocity
    if cosine > NEAR:
        choice = 5.55 * sine + 0.99 * spin + 0.41 * position + 0.43 * velocity
    return choice


@inlined
def observe(state: Floats, observation: Floats) -> None:
    """Write the whole observation."""
    observation[0], observation[1] = state[0], state[1]
    observation[2], observation[3] = math.cos(state[2]), math.sin(state[2])
    observation[4] = state[3]
    observation[5] = 1.0 if push(state) > 0.0 else -1.0


@inlined
def step(state: Floats, action: int) -> tuple[float, bool]:
    """Push right (1) or left (0); return the height of the tip, from 0 to 1, and whether it ends.

    An episode ends where the cart leaves the track.
    """
    cartpole.step(state, action)
    return (1.0 + math.cos(state[2])) / 2.0, abs(state[0]) > cartpole.MOST_POSITION


SWINGUP = Facts(
    id="swingup",
    inputs=("position", "velocity", "cosine", "sine", "angular velocity", "rule"),
    outputs=("left", "right"),
    max_steps=500,
    reward_threshold=400.0,
    rewards=(0.0, 1.0),
    rule=EXPERT,
    in_gymnasium=False,
    velocities=(1, 4),
    hidden=(5,),
    code=CODE,
    start=start,
    constants=constants,
)
