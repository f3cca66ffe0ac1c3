"""Train experts for two of MuJoCo's tasks with Stable-Baselines3, to distill them afterwards.

Run with::

    python examples/mujoco_experts.py InvertedDoublePendulum-v5
    smgrnn distill InvertedDoublePendulum-v5 --expert InvertedDoublePendulum-v5.zip --out balance

It writes `<task>.zip`, and for Hopper-v5 also `<task>.pkl`: its statistics of VecNormalize.  The
extras `sb3` and `mujoco` have what it needs.
"""

import sys
import time

import torch
from stable_baselines3 import PPO, TD3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecNormalize


def double_pendulum(task: str) -> TD3:
    """Return a TD3 policy after 30,000 steps."""
    sizes = {"net_arch": [64, 64]}
    model = TD3("MlpPolicy", task, policy_kwargs=sizes, learning_starts=1000, seed=0, device="cpu")
    return model.learn(30_000)


def hopper(task: str) -> PPO:
    """Return a PPO policy after a million steps, with observations and rewards normalized."""
    env = VecNormalize(make_vec_env(task, n_envs=4, seed=0))
    model = PPO("MlpPolicy", env, n_steps=512, batch_size=128, seed=0, device="cpu")
    model.learn(1_000_000)
    env.save(f"{task}.pkl")
    env.training = env.norm_reward = False
    return model


def main(task: str) -> None:
    torch.set_num_threads(1)
    start = time.perf_counter()
    model = {"InvertedDoublePendulum-v5": double_pendulum, "Hopper-v5": hopper}[task](task)
    model.save(f"{task}.zip")
    seconds = time.perf_counter() - start
    env = model.get_env()
    assert env is not None  # both were made with one
    mean, std = evaluate_policy(model, env, n_eval_episodes=20)
    print(f"{task}: {mean:.1f} ± {std:.1f} after {seconds:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1])
