"""How good an expert is: its returns over seeded episodes.

Every purpose has its own seeds, so that the episodes that chose an expert do not also judge it.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.errors import ExpertError
from smgrnn.experts.function import Teacher
from smgrnn.tasks import CheckedEnv, Task, closing_env, find_task, make_env

Purpose = Literal["held_out", "choosing"]
FIRST_SEED: dict[Purpose, int] = {"held_out": 10_000, "choosing": 30_000}
"""Reset seed of the first episode for each purpose; students that test experts use 1000 and up."""


def check_expert(expert: Teacher, task: Task) -> None:
    """Raise ExpertError unless the expert takes the task's observations and gives its actions."""
    expected, found = (task.n_observed, task.n_outputs), (expert.n_inputs, expert.n_outputs)
    if expected != found:
        raise ExpertError(
            f"The expert takes {found[0]} inputs and gives {found[1]} outputs; "
            f"{task.id!r} has {expected[0]} and {expected[1]}."
        )


def evaluate_expert(
    expert: Teacher,
    task: str | Task,
    episodes: int = 100,
    purpose: Purpose = "held_out",
    *,
    disturbance: float = 0.0,
) -> Floats:
    """Return the expert's return in each of `episodes` episodes in the Gymnasium environment.

    With a `disturbance` that fraction of the actions is random.  It leads the expert into states
    that a student visits, and the expert by itself does not.
    """
    task = find_task(task) if isinstance(task, str) else task
    check_expert(expert, task)
    seeds = range(FIRST_SEED[purpose], FIRST_SEED[purpose] + episodes)
    with closing_env(make_env(task), task.id) as env:
        played = (play_expert(expert, task, env, seed, disturbance) for seed in seeds)
        return np.array([sum(reward for _, reward in steps) for steps in played])


def expert_and_chance(
    expert: Teacher, task: Task, purpose: Purpose = "held_out"
) -> tuple[float, float]:
    """Return the mean returns of an expert and of random actions over 100 episodes."""
    both = (evaluate_expert(expert, task, 100, purpose, disturbance=each) for each in (0.0, 1.0))
    taught, chance = (float(returns.mean()) for returns in both)
    return taught, chance


def play_expert(
    expert: Teacher, task: Task, env: Any, seed: int, disturbance: float = 0.0
) -> Iterator[tuple[Any, float]]:
    """Play one episode; yield the observation and the reward of each step."""
    rng, checked = np.random.default_rng(seed), CheckedEnv(env, task)
    observation, is_over = checked.reset(seed), False
    env.action_space.seed(seed)
    while not is_over:
        is_random = disturbance > 0 and rng.random() < disturbance
        action = env.action_space.sample() if is_random else _act(expert, task, checked.whole)
        shown = observation
        observation, reward, is_over = checked.step(action)
        yield shown, reward


def _act(expert: Teacher, task: Task, observation: Any) -> Any:
    if task.is_discrete:
        return expert.action(observation)
    return np.clip(expert.values(observation), task.action_low, task.action_high).astype(np.float32)
