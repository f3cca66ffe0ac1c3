"""Distil a Stable-Baselines3 PPO policy for Pendulum-v1 into a network of some sixty parameters.

Run with::

    python examples/pendulum_from_ppo.py                         # with the expert beside this file
    python examples/pendulum_from_ppo.py --train my.safetensors  # with one trained again, 2 minutes

The task is none of the paper's, and its actions are continuous.  The settings were chosen on seeds
0 and 1 and measured on seeds 10 to 14.
"""

import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import smgrnn
from smgrnn.config import PlasticityConfig
from smgrnn.experts import Expert, load_expert, write_expert
from smgrnn.experts.evaluation import play_expert
from smgrnn.rules import Relay
from smgrnn.seeding import episode_seed
from smgrnn.tasks import find_task, make_env

TASK = "Pendulum-v1"
EXPERT = Path(__file__).with_name("pendulum_ppo.safetensors")
SEEDS = range(10, 15)
SETTINGS: dict[str, Any] = {
    "episodes": 1000,
    "iterations": 2,  # so that a hidden node answers what it sees in the same step
    "carry_state": False,  # the observation tells all there is to know
    "bias": True,
    "normalise": True,
    "learning": {"learning_rate": 0.001},
    # A call every 100 updates, whatever an episode is.
    "plasticity": PlasticityConfig.paper(growth=Relay(), interval=100),
}


class Outcome(NamedTuple):
    """Mean returns over the same held-out episodes, and the size of the student."""

    seed: int
    expert: float
    random: float
    student: float
    n_nodes: int
    n_parameters: int

    @property
    def share(self) -> float:
        """How much of the way from random actions to the expert the student has come."""
        return (self.student - self.random) / (self.expert - self.random)


def train_ppo(out: Path, steps: int = 100_000) -> None:
    """Train PPO and write its network as an expert file."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = PPO(
        "MlpPolicy",
        make_vec_env(TASK, n_envs=4, seed=0),
        n_steps=1024,
        gamma=0.9,
        learning_rate=1e-3,
        use_sde=True,
        sde_sample_freq=4,
        seed=0,
        device="cpu",
    )
    model.learn(steps)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pickle: this file is our own
        model.save(Path(folder) / "ppo.zip")
        expert = load_expert(Path(folder) / "ppo.zip")
    write_expert(out, expert, {"task": TASK, "method": f"Stable-Baselines3 PPO, {steps} steps"})


def mean_return(expert: Expert, seeds: list[int], disturbance: float = 0.0) -> float:
    """Return what the expert scores on these episodes with a share of its actions random."""
    task = find_task(TASK)
    env = make_env(task)
    played = (play_expert(expert, task, env, seed, disturbance) for seed in seeds)
    return float(np.mean([sum(reward for _, reward in episode) for episode in played]))


def distill(expert_file: Path, seed: int, **changes: Any) -> Outcome:
    """Return what comes of one seed."""
    run = smgrnn.distill(TASK, expert=expert_file, seed=seed, **SETTINGS | changes)
    expert = load_expert(expert_file)
    seeds = [episode_seed(seed, number, "held_out") for number in range(run.held_out.size)]
    return Outcome(
        seed,
        mean_return(expert, seeds),
        mean_return(expert, seeds, disturbance=1.0),
        float(run.held_out.mean()),
        run.graph.n_nodes,
        run.n_parameters,
    )


def main(expert_file: Path) -> None:
    print("| seed | expert | random actions | student | share kept | nodes | parameters |")
    print("|---|---|---|---|---|---|---|")
    outcomes = [distill(expert_file, seed) for seed in SEEDS]
    for each in outcomes:
        print(
            f"| {each.seed} | {each.expert:.1f} | {each.random:.1f} | {each.student:.1f} | "
            f"{each.share:.1%} | {each.n_nodes} | {each.n_parameters} |"
        )
    columns = np.array([(*each[1:4], 100 * each.share, *each[4:]) for each in outcomes])
    cells = [f"{m:.1f} ± {s:.1f}" for m, s in zip(columns.mean(0), columns.std(0), strict=True)]
    cells[3] += " %"
    print(f"| mean ± std | {' | '.join(cells)} |".replace("-", "−"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train_ppo(Path(sys.argv[2]))
    main(Path(sys.argv[2]) if sys.argv[1:2] == ["--train"] else EXPERT)
