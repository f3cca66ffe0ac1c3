"""CartPole-v1: push a cart left or right so that the pole hinged on it stays up.

The equations of motion are those of Barto, Sutton and Anderson (1983) without friction, in the
form of Florian (2007), stepped by Euler's method.  Every operation stands in the order in which
Gymnasium performs it, so that states, observations and rewards are the same to the last bit.

A state is (position, velocity, angle, spin).
"""

import math

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined

N_INPUTS = 4
N_OUTPUTS = 2
STATE_SIZE = 4

GRAVITY = 9.8
CART_MASS = 1.0
POLE_MASS = 0.1
MASS = POLE_MASS + CART_MASS
HALF_LENGTH = 0.5
"""From the hinge to the pole's centre of mass."""
POLE_MOMENT = POLE_MASS * HALF_LENGTH
PUSH = 10.0
TIME_STEP = 0.02
MOST_POSITION = 2.4
MOST_ANGLE = 12 * 2 * math.pi / 360
"""12 degrees."""


def start(seed: int) -> Floats:
    """Return the state (4,) in which Gymnasium starts an episode with this seed."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    return rng.uniform(-0.05, 0.05, 4)


@inlined
def observe(state: Floats, observation: Floats) -> None:
    """Write Gymnasium's observation: the state as float32."""
    for i in range(4):
        observation[i] = np.float64(np.float32(state[i]))


@inlined
def step(state: Floats, action: int) -> tuple[float, bool]:
    """Push right (1) or left (0) for one time step; return the reward and whether it has ended."""
    position, velocity, angle, spin = state[0], state[1], state[2], state[3]
    sine, cosine = math.sin(angle), math.cos(angle)
    force = PUSH if action == 1 else -PUSH
    # What would accelerate the cart if the pole did not turn.
    drive = (force + POLE_MOMENT * (spin * spin) * sine) / MASS
    inertia = HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) / MASS)
    spin_change = (GRAVITY * sine - cosine * drive) / inertia
    velocity_change = drive - POLE_MOMENT * spin_change * cosine / MASS
    position = position + TIME_STEP * velocity
    angle = angle + TIME_STEP * spin
    state[0] = position
    state[1] = velocity + TIME_STEP * velocity_change
    state[2] = angle
    state[3] = spin + TIME_STEP * spin_change
    is_terminal = abs(position) > MOST_POSITION or abs(angle) > MOST_ANGLE
    return 1.0, is_terminal
