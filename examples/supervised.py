"""Tell two spirals apart in a plain PyTorch loop: a linear classifier that grows what it lacks.

The network starts with its three inputs (x, y and a constant 1, because there are no biases) joined
straight to its two outputs.  Only hidden nodes can bend that boundary, and nobody adds them but the
plasticity module.  The same loop is run once more with plasticity off, for comparison.

Run with `python examples/supervised.py [--seed N] [--seeds N]`.
"""

import argparse
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from smgrnn import Graph, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.rules import Relay, Weak

GROWING = PlasticityConfig.paper(
    growth=Relay(max_relays=2, initial_weight=0.3),
    pruning=Weak(weight_threshold=0.3),
    interval=50,
    prune_period=4,
)


class Outcome(NamedTuple):
    """What a network learned and what it became."""

    accuracy: float
    before: Graph
    after: Graph


def spirals(n: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    label = rng.integers(2, size=n)
    radius = np.sqrt(rng.uniform(size=n))
    angle = 2 * np.pi * radius + np.pi * label  # a whole turn; the second arm is opposite
    x, y = radius * (np.cos(angle), np.sin(angle)) + rng.normal(0, 0.03, (2, n))
    points = np.stack([x, y, np.ones(n)], axis=1)
    return torch.tensor(points, dtype=torch.float32), torch.tensor(label)


def train(config: PlasticityConfig, seed: int, updates: int = 3000) -> Outcome:
    rng = np.random.default_rng(seed)
    points, labels = spirals(1000, rng)
    net = SMGrNN(3, 2, preset="paper", density=1.0, iterations=3, carry_state=False, seed=seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    plasticity = StructuralPlasticity(net, optimizer, config, seed=seed)
    before = net.graph
    for _ in range(updates):
        batch = torch.tensor(rng.integers(len(points), size=32))
        loss = cross_entropy(net(points[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plasticity.step()
    unseen, truth = spirals(1000, rng)
    with torch.no_grad():
        accuracy = (net(unseen).argmax(dim=1) == truth).float().mean().item()
    return Outcome(accuracy, before, net.graph)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds to run")
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + options.seeds):
        for name, config in (("growing", GROWING), ("static", PlasticityConfig.static())):
            accuracy, before, after = train(config, seed)
            print(f"seed {seed}, {name:<7}: accuracy {accuracy:.3f}; {before} -> {after}")


if __name__ == "__main__":
    main()
