"""Distill an expert in a plain PyTorch loop: one update per episode, as the paper may be read.

The student plays; the expert labels every state it visits.  The loss is the mean over the episode's
steps, so an episode is one gradient, one step of the optimizer and one entry in the history that
the plasticity module reads.  `learning.update="episode"` is the same in a compiled run.

Run with `python examples/update_per_episode.py [--seed N] [--episodes N]`.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from smgrnn import Graph, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.experts import load_expert
from smgrnn.rules import Relay

RULES = PlasticityConfig.paper(growth=Relay(scale="weight", initial_weight=0.04), interval=1)


def learn(seed: int, episodes: int, rules: PlasticityConfig = RULES) -> tuple[list[float], Graph]:
    env, expert = gym.make("CartPole-v1"), load_expert("CartPole-v1")
    net = SMGrNN(4, 2, preset="paper", weight_std=0.04, readout="state", seed=seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    plasticity = StructuralPlasticity(net, optimizer, rules, seed=seed)
    returns = []
    for episode in range(episodes):
        observation, _ = env.reset(seed=1000 * seed + episode)
        losses: list[Tensor] = []
        rewards, is_over = [], False
        while not is_over:
            output = net(torch.as_tensor(observation))
            label = torch.tensor(expert.action(observation.astype(np.float64)))
            losses.append((output - one_hot(label, 2)).square().mean())
            observation, reward, is_terminal, is_truncated, _ = env.step(int(output.argmax()))
            rewards.append(float(reward))
            is_over = is_terminal or is_truncated
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()
        plasticity.step()
        net.reset_state()
        returns.append(sum(rewards))
    return returns, net.graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=200)
    options = parser.parse_args()
    returns, graph = learn(options.seed, options.episodes)
    for first in range(0, len(returns), 25):
        print(f"episodes {first + 1:3}-{first + 25:3}: {np.mean(returns[first : first + 25]):.1f}")
    print(graph)


if __name__ == "__main__":
    main()
