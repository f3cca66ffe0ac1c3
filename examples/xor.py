"""Learn XOR from zero hidden nodes: the smallest task that needs a hidden one.

Coding: both bits as -1/+1, a constant third input of 1 (the network has no biases, and without one
it is an odd function, which XOR in this coding is not), target -1/+1, squared error.
Training: one pattern per update in shuffled rounds, K = 3 iterations, states reset at every call,
Adam 0.01, initial weights N(0, 0.05²), all three input -> output edges present at the start.
Plasticity: Table A.III, called every 10 updates, new weights N(0, 0.5²).
Stopping rule: all four outputs within 0.5 of their targets at five checks in a row, one every 20
updates; a run that is not there after 6,000 updates has failed.

Run with `python examples/xor.py [--seeds N] [--out xor.png]`.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure

from smgrnn import Graph, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.graph import draw
from smgrnn.rules import Relay

PATTERNS = torch.tensor([[-1.0, -1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, 1]])
TARGETS = torch.tensor([[-1.0], [1], [1], [-1]])
PLASTICITY = PlasticityConfig.paper(interval=10, growth=Relay(initial_weight=0.5))
MOST_UPDATES = 6000


class Outcome(NamedTuple):
    """How a run ended."""

    learned: bool
    updates: int
    graph: Graph


def learn_xor(
    seed: int, watch: Callable[[int, Graph], None] = lambda update, graph: None
) -> Outcome:
    net = SMGrNN(
        3,
        1,
        preset="paper",
        density=1.0,
        weight_std=0.05,
        iterations=3,
        readout="state",
        carry_state=False,
        seed=seed,
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    plasticity = StructuralPlasticity(net, optimizer, PLASTICITY, seed=seed)
    rng = np.random.default_rng(seed)
    checks_passed = 0
    watch(0, net.graph)
    for update in range(MOST_UPDATES):
        if update % 4 == 0:
            order = rng.permutation(4)
        pattern = order[update % 4]
        loss = (net(PATTERNS[pattern]) - TARGETS[pattern]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if plasticity.step():
            watch(update + 1, net.graph)
        if update % 20 == 0:
            with torch.no_grad():
                is_right = bool(((net(PATTERNS) - TARGETS).abs() < 0.5).all())
            checks_passed = checks_passed + 1 if is_right else 0
            if checks_passed == 5:
                return Outcome(True, update + 1, net.graph)
    return Outcome(False, MOST_UPDATES, net.graph)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds to run")
    parser.add_argument("--out", default="xor.png", help="where to draw the last network")
    options = parser.parse_args()
    print("XOR from zero hidden nodes, K = 3 (first run: compiling takes about 20 s)")
    for seed in range(options.seeds):
        outcome = learn_xor(seed)
        verdict = "learned" if outcome.learned else "NOT learned"
        print(f"  seed {seed}: {verdict} in {outcome.updates} updates, {outcome.graph}")
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    draw(outcome.graph, figure.subplots())
    figure.savefig(options.out, dpi=150)
    print(f"The last network is drawn in {options.out}.")


if __name__ == "__main__":
    main()
