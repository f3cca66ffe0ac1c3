"""Acrobot-v1: swing the free end of a two-link arm, driven at the elbow only, above a height.

The equations of motion are those of Sutton and Barto (1998), Sec. 11.3; one step is one
fourth-order Runge-Kutta step of 0.2 s.  Operations have Gymnasium's order, so that every bit is the
same.  A state is (angle 1, angle 2, spin 1, spin 2), the cosine and sine of each angle, and the
constants of the physics.  Gymnasium takes the first cosines and sines of an episode in single
precision, by NumPy's formulas, which compiled code does not have; hence they are stored.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.kernels import inlined
from smgrnn.tasks.facts import Facts, Mirror, Setting

CODE = 1
GRAVITY = 9.8
PHYSICS = {"link_length_1": 1.0, "link_mass_1": 1.0, "link_mass_2": 1.0}
PHYSICS |= {"link_com_pos_1": 0.5, "link_com_pos_2": 0.5, "link_moi": 1.0}
"""The physics by Gymnasium's names; no equation has the length of the second link."""
TIME_STEP = 0.2
MOST_SPIN_1 = 4 * math.pi
MOST_SPIN_2 = 9 * math.pi
DIRECTION, MASS_2, INERTIA, INERTIA_1, INERTIA_2, SQUARES, SQUARE_2 = range(8, 15)
PRODUCT, COUPLING, WEIGHT_1, WEIGHT_2 = range(15, 19)  # indices of the constants in a state


def constants(physics: Mapping[str, float] = PHYSICS, *, is_mirrored: bool = False) -> list[float]:
    """Return the constants of a state, each as Gymnasium's order of operations has it."""
    length, inertia = physics["link_length_1"], physics["link_moi"]
    mass_1, mass_2 = physics["link_mass_1"], physics["link_mass_2"]
    centre_1, centre_2 = physics["link_com_pos_1"], physics["link_com_pos_2"]
    return [
        -1.0 if is_mirrored else 1.0,
        mass_2,
        inertia,
        mass_1 * centre_1**2,
        mass_2 * centre_2**2 + inertia,
        length**2 + centre_2**2,
        centre_2**2,
        length * centre_2,
        mass_2 * length * centre_2,
        (mass_1 * centre_1 + mass_2 * length) * GRAVITY,
        mass_2 * centre_2 * GRAVITY,
    ]


def start(seed: int) -> Floats:
    """Return the motion (8,) with which Gymnasium starts an episode with this seed."""
    motion = np.random.default_rng(seed).uniform(-0.1, 0.1, 4).astype(np.float32)
    circle = np.stack([np.cos(motion[:2]), np.sin(motion[:2])], axis=1)  # in single precision
    return np.concatenate([motion, circle.ravel()]).astype(np.float64)


@inlined
def observe(state: Floats, observation: Floats) -> None:
    """Write Gymnasium's observation: cosine and sine of both angles, both spins, as float32."""
    for i in range(4):
        observation[i] = np.float64(np.float32(state[4 + i]))
    observation[4] = np.float64(np.float32(state[2]))
    observation[5] = np.float64(np.float32(state[3]))


@inlined
def step(state: Floats, action: int) -> tuple[float, bool]:
    """Drive the elbow by action - 1 for one time step; return the reward and whether it ended."""
    torque = state[DIRECTION] * action - state[DIRECTION]  # never -0.0, as in a list of torques
    half = TIME_STEP / 2.0
    angle_1, angle_2, spin_1, spin_2 = state[0], state[1], state[2], state[3]
    # Runge-Kutta: the slope of an angle is a spin, the slope of a spin an acceleration.
    a1, b1 = _accelerations(state, angle_1, angle_2, spin_1, spin_2, torque)
    p2, q2 = spin_1 + half * a1, spin_2 + half * b1
    a2, b2 = _accelerations(state, angle_1 + half * spin_1, angle_2 + half * spin_2, p2, q2, torque)
    p3, q3 = spin_1 + half * a2, spin_2 + half * b2
    a3, b3 = _accelerations(state, angle_1 + half * p2, angle_2 + half * q2, p3, q3, torque)
    p4, q4 = spin_1 + TIME_STEP * a3, spin_2 + TIME_STEP * b3
    last_1, last_2 = angle_1 + TIME_STEP * p3, angle_2 + TIME_STEP * q3
    a4, b4 = _accelerations(state, last_1, last_2, p4, q4, torque)
    angle_1 = _wrapped(angle_1 + _weighted(spin_1, p2, p3, p4))
    angle_2 = _wrapped(angle_2 + _weighted(spin_2, q2, q3, q4))
    state[0], state[1] = angle_1, angle_2
    spin_1, spin_2 = spin_1 + _weighted(a1, a2, a3, a4), spin_2 + _weighted(b1, b2, b3, b4)
    state[2] = min(max(spin_1, -MOST_SPIN_1), MOST_SPIN_1)
    state[3] = min(max(spin_2, -MOST_SPIN_2), MOST_SPIN_2)
    state[4], state[5] = math.cos(angle_1), math.sin(angle_1)
    state[6], state[7] = math.cos(angle_2), math.sin(angle_2)
    is_terminal = -state[4] - math.cos(angle_2 + angle_1) > 1.0  # the height of the free end
    return 0.0 if is_terminal else -1.0, is_terminal


@inlined
def _accelerations(
    state: Floats, angle_1: float, angle_2: float, spin_1: float, spin_2: float, torque: float
) -> tuple[float, float]:
    """Return the angular accelerations of both links; d1, d2, phi1, phi2 are the book's."""
    sine, cosine = math.sin(angle_2), math.cos(angle_2)
    mass_2, inertia, coupling = state[MASS_2], state[INERTIA], state[COUPLING]
    turning = mass_2 * (state[SQUARES] + 2 * state[PRODUCT] * cosine)
    d1 = state[INERTIA_1] + turning + inertia + inertia
    d2 = mass_2 * (state[SQUARE_2] + state[PRODUCT] * cosine) + inertia
    phi2 = state[WEIGHT_2] * math.cos(angle_1 + angle_2 - math.pi / 2)
    phi1 = (
        -coupling * _squared(spin_2) * sine
        - 2 * coupling * spin_2 * spin_1 * sine
        + state[WEIGHT_1] * math.cos(angle_1 - math.pi / 2)
        + phi2
    )
    free = torque + d2 / d1 * phi1 - coupling * _squared(spin_1) * sine - phi2
    acceleration_2 = free / (state[INERTIA_2] - _squared(d2) / d1)
    acceleration_1 = -(d2 * acceleration_2 + phi1) / d1
    return acceleration_1, acceleration_2


@inlined
def _squared(value: float) -> float:
    """Return value² as the C library's `pow` has it, which in one case of a thousand is not x·x."""
    return math.pow(value, 2.0 + 0.0 * value)  # a plain 2.0 would let the compiler multiply


@inlined
def _weighted(first: float, second: float, third: float, fourth: float) -> float:
    """Return the change of the state that the four slopes of a Runge-Kutta step make."""
    return TIME_STEP / 6.0 * (first + 2 * second + 2 * third + fourth)


@inlined
def _wrapped(angle: float) -> float:
    """Return the angle, by whole turns brought into [-π, π]."""
    while angle > math.pi:
        angle = angle - 2 * math.pi
    while angle < -math.pi:
        angle = angle + 2 * math.pi
    return angle


def set_physics(env: Any, physics: Mapping[str, float]) -> None:
    """Set the physics of Gymnasium's environment."""
    for name, value in physics.items():
        setattr(env, name.upper(), value)


ACROBOT = Facts(
    id="Acrobot-v1",
    inputs=("cos θ₁", "sin θ₁", "cos θ₂", "sin θ₂", "velocity of θ₁", "velocity of θ₂"),
    outputs=("torque −1", "no torque", "torque +1"),
    max_steps=500,
    reward_threshold=-100.0,
    rewards=(-1.0, 0.0),
    good_return=-85.0,
    budget=109,
    experts=("smooth", "robust", "plain-0", "plain-1", "plain-2"),
    teacher_scores={
        "link_mass_1=2": (-96.47, 11.38),
        "link_mass_2=2": (-128.14, 38.91),
        "mirrored": (-80.49, 14.37),
    },
    mirror=Mirror((1, -1, 1, -1, -1, -1), (0, 1, 2, 3, 4, 5), (2, 1, 0)),
    settings=Setting.physics(PHYSICS),
    velocities=(4, 5),
    set_physics=set_physics,
    code=CODE,
    start=start,
    constants=constants,
)
