"""The compiled tasks against values worked out by hand, and bit by bit against Gymnasium."""

from collections.abc import Callable
from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from smgrnn.arrays import Floats
from smgrnn.tasks import acrobot, cartpole
from smgrnn.tasks.compiled import ACROBOT, CARTPOLE, CODES, observe, start_states, step

Policy = Callable[[int, Floats, np.random.Generator], int]

N_EPISODES = 200


def balance(time: int, observation: Floats, rng: np.random.Generator) -> int:
    """Hold the pole of CartPole up."""
    position, velocity, angle, spin = observation
    return int(angle + 0.5 * spin + 0.02 * position + 0.05 * velocity > 0)


def pump(time: int, observation: Floats, rng: np.random.Generator) -> int:
    """Drive the elbow of Acrobot the way it turns, which adds energy."""
    return 2 if observation[5] > 0 else 0


def policies(n_actions: int, skilled: Policy) -> list[Policy]:
    return [
        lambda time, observation, rng: int(rng.integers(n_actions)),
        *(lambda time, observation, rng, a=a: a for a in range(n_actions)),
        lambda time, observation, rng: time // 5 % n_actions,
        skilled,
        lambda time, observation, rng: (
            skilled(time, observation, rng) if rng.random() < 0.9 else int(rng.integers(n_actions))
        ),
    ]


@pytest.mark.parametrize(
    ("id", "n_actions", "skilled"), [("CartPole-v1", 2, balance), ("Acrobot-v1", 3, pump)]
)
def test_an_episode_is_that_of_gymnasium_to_the_last_bit(
    id: str, n_actions: int, skilled: Policy
) -> None:
    env = gym.make(id)
    task, lengths, repertoire = CODES[id], set(), policies(n_actions, skilled)
    for seed, state in enumerate(start_states(task, range(N_EPISODES))):
        rng, policy = np.random.default_rng(seed), repertoire[seed % len(repertoire)]
        shown, _ = env.reset(seed=seed)
        seen = np.empty(shown.size)
        observe(task, state, seen)
        assert np.array_equal(seen, shown)
        for time in count():
            action = policy(time, seen, rng)
            shown, reward, is_terminated, is_truncated, _ = env.step(action)
            assert step(task, state, action) == (reward, is_terminated)
            observe(task, state, seen)
            assert np.array_equal(state[:4], env.unwrapped.state)  # type: ignore[attr-defined]
            assert np.array_equal(seen, shown)
            if is_terminated or is_truncated:
                lengths.add(time + 1)
                break
    assert max(lengths) == 500
    assert min(lengths) < 100


@pytest.mark.parametrize(
    ("id", "n_actions", "reach"),
    [("CartPole-v1", 2, (2.5, 5, 3, 20)), ("Acrobot-v1", 3, (3.2, 3.2, 14, 30))],
)
def test_a_step_from_anywhere_is_that_of_gymnasium_to_the_last_bit(
    id: str, n_actions: int, reach: tuple[float, ...]
) -> None:
    """Fast and wide swings: they tell orders of rounding apart that an episode does not."""
    env: Any = gym.make(id).unwrapped
    rng = np.random.default_rng(0)
    state = start_states(CODES[id], [0])[0]
    for _ in range(5000):
        env.reset()
        env.state = rng.uniform(-1, 1, 4) * reach
        state[:4] = env.state
        action = int(rng.integers(n_actions))
        _, reward, is_terminated, _, _ = env.step(action)
        assert step(CODES[id], state, action) == (reward, is_terminated)
        assert np.array_equal(state[:4], env.state)


@pytest.mark.parametrize("id", ["CartPole-v1", "Acrobot-v1"])
def test_the_first_observation_is_that_of_gymnasium(id: str) -> None:
    """Acrobot's first sines are single precision: one episode of 500 showed another last bit."""
    env, seeds = gym.make(id), range(3000)
    for seed, state in zip(seeds, start_states(CODES[id], seeds), strict=True):
        shown, _ = env.reset(seed=seed)
        seen = np.empty(shown.size)
        observe(CODES[id], state, seen)
        assert np.array_equal(seen, shown)


def test_there_may_be_no_episode_to_start() -> None:
    assert start_states(CARTPOLE, []).shape == (0, 4)
    assert start_states(ACROBOT, []).shape == (0, 8)


# --- CartPole ------------------------------------------------------------------------------------


def test_a_push_moves_the_upright_cart_as_worked_out_by_hand() -> None:
    """From rest: θ'' = -(10 / 1.1) / (0.5 (4/3 - 0.1 / 1.1)) = -600/41 and x'' = 400/41."""
    for action, sign in ((1, 1.0), (0, -1.0)):
        state = np.zeros(4)
        assert cartpole.step(state, action) == (1.0, False)
        np.testing.assert_allclose(state, [0, sign * 8 / 41, 0, sign * -12 / 41], rtol=1e-14)


@pytest.mark.parametrize(
    ("position", "angle", "ends"),
    [
        (2.4, 0.0, False),
        (2.4001, 0.0, True),
        (-2.4001, 0.0, True),
        (0.0, 0.2094, False),  # 12 degrees are 0.20944
        (0.0, 0.2095, True),
        (0.0, -0.2095, True),
    ],
)
def test_the_pole_falls_at_12_degrees_and_the_track_ends_at_2_4(
    position: float, angle: float, ends: bool
) -> None:
    assert cartpole.step(np.array([position, 0.0, angle, 0.0]), 0) == (1.0, ends)


def test_an_observation_has_single_precision() -> None:
    state, seen = np.array([0.1, 1 / 3, 0.0, 1.0]), np.empty(4)
    cartpole.observe(state, seen)
    assert seen.tolist() == [float(np.float32(value)) for value in state]


# --- Acrobot -------------------------------------------------------------------------------------


def acrobot_state(angle_1: float, angle_2: float, spin_1: float, spin_2: float) -> Floats:
    return np.array([angle_1, angle_2, spin_1, spin_2, 0, 0, 0, 0], dtype=np.float64)


def test_an_arm_that_hangs_still_keeps_hanging() -> None:
    state = acrobot_state(0, 0, 0, 0)
    assert acrobot.step(state, 1) == (-1.0, False)
    np.testing.assert_allclose(state[:4], 0, atol=1e-15)


def test_a_raised_arm_has_arrived() -> None:
    assert acrobot.step(acrobot_state(np.pi, 0, 0, 0), 1) == (0.0, True)


def test_a_spinning_arm_is_wrapped_and_bounded() -> None:
    state = acrobot_state(3, 3, 100, -200)
    acrobot.step(state, 1)
    assert (np.abs(state[:2]) <= np.pi).all()
    assert state[2:4].tolist() in [[a, b] for a in BOUNDS_1 for b in BOUNDS_2]


BOUNDS_1, BOUNDS_2 = (-4 * np.pi, 4 * np.pi), (-9 * np.pi, 9 * np.pi)


def test_squares_are_those_of_the_c_library() -> None:
    """`x**2` of a NumPy number is `pow`, which is not always the rounded product."""
    values = np.random.default_rng(0).uniform(-30, 30, 50_000)
    powers = [value**2 for value in values]
    assert [acrobot._squared(value) for value in values] == powers
    assert (values * values).tolist() != powers  # else the case is not in the sample
