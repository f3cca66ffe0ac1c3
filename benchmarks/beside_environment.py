"""The cost of learning beside an environment that is not compiled: LunarLander-v3.

python benchmarks/beside_environment.py --episodes 300
"""

import argparse
import json
import time
from typing import Any

import gymnasium as gym
import numpy as np

from smgrnn.config import RunConfig
from smgrnn.episodes.backends import GymnasiumBackend
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.start import new_run
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task, make_env

BLOCK = 5  # episodes that are timed at a stretch


def beside_the_environment(episodes: int) -> dict[str, Any]:
    """Compare a run in Gymnasium with its environment alone, replaying the run's own actions.

    Both take turns every few episodes, so that a slow moment of the machine meets them alike.
    """
    task = find_task("LunarLander-v3")
    plan = new_run(task.id, RunConfig()).plan
    numbers = [range(first, first + BLOCK) for first in range(0, episodes, BLOCK)]
    blocks = [[episode_seed(plan.seed, n, "train") for n in block] for block in numbers]
    recorder = _Recorder(make_env(task))
    first, second = Distillation(plan), Distillation(plan)
    recorded = GymnasiumBackend(task, env=recorder)
    env, run_s, bare_s, n_steps = make_env(task), 0.0, 0.0, 0
    progress = np.zeros(BLOCK)
    for seeds in blocks:
        recorder.actions.clear()
        recorded.distil(first.learner, first.teacher, seeds, progress)
        begin = time.perf_counter()
        second.backend.distil(second.learner, second.teacher, seeds, progress)
        between = time.perf_counter()
        _replay(env, seeds, recorder.actions)
        bare_s += time.perf_counter() - between
        run_s += between - begin
        n_steps += sum(map(len, recorder.actions))
    assert np.array_equal(first.learner.graph.weight, second.learner.graph.weight)
    return {
        "task": task.id,
        "steps": n_steps,
        "run_us": 1e6 * run_s / n_steps,
        "bare_us": 1e6 * bare_s / n_steps,
        "ratio": run_s / bare_s,
    }


class _Recorder(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the actions of each episode."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.actions: list[list[Any]] = []

    def reset(self, **options: Any) -> Any:
        self.actions.append([])
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        self.actions[-1].append(action)
        return self.env.step(action)


def _replay(env: gym.Env[Any, Any], seeds: list[int], actions: list[list[Any]]) -> None:
    for seed, episode in zip(seeds, actions, strict=True):
        env.reset(seed=seed)
        for action in episode:
            env.step(action)


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=300)
    print(json.dumps(beside_the_environment(parser.parse_args().episodes)))


if __name__ == "__main__":
    main()
