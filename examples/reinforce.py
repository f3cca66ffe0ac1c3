"""Learn CartPole by trial and error: a policy that grows, REINFORCE, and no expert.

The policy starts with three of the eight edges that join its inputs to its outputs, mostly too few
to hold the pole; what else it needs it has to grow.  An episode is one update.  The baseline of a
step is the mean return-to-go of its episode, in units of their standard deviation.

Run with `python examples/reinforce.py [--seed N] [--seeds N] [--episodes N]`; each seed is also
trained with plasticity off, for comparison.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical

from smgrnn import Graph, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.rules import Relay

GROWING = PlasticityConfig.paper(
    growth=Relay(initial_weight=0.1), window=20, interval=10, prune_period=5
)
DISCOUNT = 0.99


def play(env: "gym.Env[np.ndarray, int]", net: SMGrNN) -> tuple[Tensor, Tensor, list[float]]:
    seen, _ = env.reset()
    observations, actions, rewards, is_over = [], [], [], False
    while not is_over:
        observations.append(torch.as_tensor(seen))
        with torch.no_grad():
            actions.append(Categorical(logits=net(observations[-1])).sample())
        seen, reward, is_terminal, is_truncated, _ = env.step(int(actions[-1]))
        rewards.append(float(reward))
        is_over = is_terminal or is_truncated
    return torch.stack(observations), torch.stack(actions), rewards


def advantages(rewards: list[float]) -> Tensor:
    to_go, total = np.zeros(len(rewards)), 0.0
    for step in reversed(range(len(rewards))):
        to_go[step] = total = rewards[step] + DISCOUNT * total
    return torch.tensor((to_go - to_go.mean()) / to_go.std())


def learn(config: PlasticityConfig, seed: int, episodes: int) -> tuple[list[float], Graph]:
    env = gym.make("CartPole-v1")
    env.reset(seed=seed)
    torch.manual_seed(seed)
    net = SMGrNN(4, 2, preset="paper", density=0.4, iterations=2, carry_state=False, seed=seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    plasticity = StructuralPlasticity(net, optimizer, config, seed=seed)
    returns = []
    for _ in range(episodes):
        observations, actions, rewards = play(env, net)
        likelihood = Categorical(logits=net(observations)).log_prob(actions)
        optimizer.zero_grad()
        (-likelihood * advantages(rewards)).mean().backward()
        optimizer.step()
        plasticity.step()
        returns.append(sum(rewards))
    return returns, net.graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds to run")
    parser.add_argument("--episodes", type=int, default=400, help="episodes of each")
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + options.seeds):
        for name, config in (("growing", GROWING), ("static", PlasticityConfig.static())):
            returns, graph = learn(config, seed, options.episodes)
            print(f"seed {seed}, {name:<7}: last 50 episodes {np.mean(returns[-50:]):.1f}; {graph}")


if __name__ == "__main__":
    main()
