"""CartPole-v1: push a cart left or right so that the pole hinged on it stays up.

The equations of motion are those of Barto, Sutton and Anderson (1983) without friction, in the
form of Florian (2007), stepped by Euler's method.  Operations have Gymnasium's order, so that every
bit is the same.  A state is (position, velocity, angle, spin) and the constants of the physics.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks.facts import Facts, Mirror, Setting

CODE = 0
PHYSICS = {"gravity": 9.8, "masscart": 1.0, "masspole": 0.1, "length": 0.5}
PHYSICS |= {"force_mag": 10.0, "tau": 0.02}
"""The physics by Gymnasium's names: `length` is half of the pole, `tau` the time of a step."""
MOST_POSITION = 2.4
MOST_ANGLE = 12 * 2 * math.pi / 360  # 12 degrees


def constants(physics: Mapping[str, float] = PHYSICS, *, is_mirrored: bool = False) -> list[float]:
    """Return the constants of a state: gravity, masses and lengths, the push and the time."""
    pole_mass, length = physics["masspole"], physics["length"]
    push = -physics["force_mag"] if is_mirrored else physics["force_mag"]
    mass, moment = pole_mass + physics["masscart"], pole_mass * length
    return [physics["gravity"], pole_mass, mass, length, moment, push, physics["tau"]]


def start(seed: int) -> Floats:
    """Return the motion (4,) with which Gymnasium starts an episode with this seed."""
    return np.random.default_rng(seed).uniform(-0.05, 0.05, 4)


@inlined
def observe(state: Floats, observation: Floats) -> None:
    """Write Gymnasium's observation: the motion as float32."""
    for i in range(4):
        observation[i] = np.float64(np.float32(state[i]))


@inlined
def step(state: Floats, action: int) -> tuple[float, bool]:
    """Push right (1) or left (0) for one time step; return the reward and whether it has ended."""
    position, velocity, angle, spin = state[0], state[1], state[2], state[3]
    gravity, pole_mass, mass, length = state[4], state[5], state[6], state[7]
    moment, push, time_step = state[8], state[9], state[10]
    sine, cosine = math.sin(angle), math.cos(angle)
    force = push if action == 1 else -push
    # What would accelerate the cart if the pole did not turn.
    drive = (force + moment * (spin * spin) * sine) / mass
    inertia = length * (4.0 / 3.0 - pole_mass * (cosine * cosine) / mass)
    spin_change = (gravity * sine - cosine * drive) / inertia
    velocity_change = drive - moment * spin_change * cosine / mass
    position = position + time_step * velocity
    angle = angle + time_step * spin
    state[0], state[1] = position, velocity + time_step * velocity_change
    state[2], state[3] = angle, spin + time_step * spin_change
    is_terminal = abs(position) > MOST_POSITION or abs(angle) > MOST_ANGLE
    return 1.0, is_terminal


def set_physics(env: Any, physics: Mapping[str, float]) -> None:
    """Set the physics of Gymnasium's environment, and what it derives from it."""
    for name, value in physics.items():
        setattr(env, name, value)
    env.total_mass = env.masspole + env.masscart
    env.polemass_length = env.masspole * env.length


CARTPOLE = Facts(
    id="CartPole-v1",
    inputs=("position", "velocity", "angle", "angular velocity"),
    outputs=("left", "right"),
    max_steps=500,
    reward_threshold=475.0,
    rewards=(1.0, 1.0),
    good_return=500.0,
    budget=80,
    experts=("smooth", "robust", "plain-0", "plain-1", "plain-2"),
    teacher_scores={
        "gravity=5": (500.0, 0.0),
        "gravity=20": (500.0, 0.0),
        "length=0.25": (499.77, 2.288471),
        "length=1": (500.0, 0.0),
        "length=2": (500.0, 0.0),
        "gravity=20,length=1": (500.0, 0.0),
        "mirrored": (500.0, 0.0),
    },
    mirror=Mirror((-1, -1, -1, -1), (0, 1, 2, 3), (1, 0)),
    settings=Setting.physics(PHYSICS),
    velocities=(1, 3),
    set_physics=set_physics,
    code=CODE,
    start=start,
    constants=constants,
)
