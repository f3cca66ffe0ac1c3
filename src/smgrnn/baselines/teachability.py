"""How well an expert teaches: what an MLP student makes of it.

An expert that is good by itself can be rugged, and then no student learns it.  Among good
checkpoints the one to keep is chosen by a student of another kind than those it will teach, on
seeds of its own, so that the choice cannot favour any of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from smgrnn.baselines.mlp import MLP, distill_mlp, learn_mlp
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.engine.state import EngineSettings
from smgrnn.experts.mlp import Expert
from smgrnn.graph.state import Floats
from smgrnn.seeding import episode_seed, stream
from smgrnn.tasks import Task, compiled, make_env

SEEDS = (1000, 1001, 1002)
HIDDEN = 16


def late_returns(
    expert: Expert, task: Task, episodes: int = 300, seeds: Sequence[int] = SEEDS
) -> Floats:
    """Return the mean return over the final quarter of the episodes, one entry per seed."""
    return np.array([_learn(expert, task, episodes, s)[-episodes // 4 :].mean() for s in seeds])


def _learn(expert: Expert, task: Task, episodes: int, seed: int) -> Floats:
    network = MLP.start(task.n_inputs, HIDDEN, task.n_outputs, stream(seed, "init"))
    config = NetworkConfig(n_inputs=task.n_inputs, n_outputs=task.n_outputs)
    hyper = EngineSettings.of(config, LearningConfig(), PlasticityConfig.static()).hyper
    starts = [episode_seed(seed, episode, "train") for episode in range(episodes)]
    returns = np.zeros(episodes)
    if task.compiled is not None and task.max_steps is not None:
        worlds = compiled.start_states(task.compiled, starts)
        distill_mlp(network, hyper, task.compiled, worlds, task.max_steps, expert, returns)
        return returns
    env = make_env(task)
    for episode, start in enumerate(starts):
        returns[episode] = _play(env, network, hyper, expert, start)
    return returns


def _play(env: Any, network: MLP, hyper: Floats, expert: Expert, seed: int) -> float:
    observation, _ = env.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        label = expert.action(observation)
        action, _ = learn_mlp(network, observation.astype(np.float64), label, hyper)
        observation, reward, is_terminal, is_truncated, _ = env.step(action)
        total += float(reward)
        is_over = is_terminal or is_truncated
    return total
