"""Score what bare defaults learn: four problems, in torch and by `Learner`, ten seeds each.

    python benchmarks/bare_defaults.py [--seeds 10] [--problem moons] [--engine torch]

In torch a network has 5,000 updates of Adam(0.01) by 32 examples, and a `Learner` 100,000 rows.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from smgrnn import Graph, Learner, SMGrNN, StructuralPlasticity

Examples = tuple[Any, Any]
UPDATES, BATCH, ROWS, JUDGED = 5000, 32, 100_000, 4000


def product_sign(rng: np.random.Generator, n: int) -> Examples:
    """The README's problem: the sign of a product of two of four numbers."""
    rows = rng.normal(size=(n, 4))
    return rows, (rows[:, 0] * rows[:, 1] > 0).astype(np.int64)


def moons(rng: np.random.Generator, n: int) -> Examples:
    """Two half circles, with the noise of 0.1 that is usual for them."""
    labels, angle = rng.integers(2, size=n), rng.uniform(0, np.pi, n)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rows = np.where(labels[:, None] == 0, upper, [1.0, 0.5] - upper)
    return rows + 0.1 * rng.normal(size=(n, 2)), labels


def xor(rng: np.random.Generator, n: int) -> Examples:
    bits = rng.integers(2, size=(n, 2))
    return bits.astype(np.float64), bits[:, 0] ^ bits[:, 1]


def sine(rng: np.random.Generator, n: int) -> Examples:
    x = rng.uniform(-np.pi, np.pi, (n, 1))
    return x, np.sin(x)


class Problem(NamedTuple):
    """A problem, the width of its network, and the score to reach."""

    draw: Callable[[np.random.Generator, int], Examples]
    n_inputs: int
    n_outputs: int
    enough: float

    def score(self, outputs: Any, answers: Any) -> float:
        """Return the share of right choices, or R²."""
        if self.n_outputs > 1:
            return float(np.mean(outputs.argmax(axis=1) == answers))
        return 1.0 - float(np.var(answers - outputs) / np.var(answers))


PROBLEMS = {
    "product": Problem(product_sign, 4, 2, 0.97),
    "moons": Problem(moons, 2, 2, 0.97),
    "xor": Problem(xor, 2, 2, 1.0),
    "sine": Problem(sine, 1, 1, 0.98),
}


def by_torch(problem: Problem, seed: int) -> tuple[float, Graph]:
    """Train in a loop of torch; return the score and the network's graph."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = SMGrNN(problem.n_inputs, problem.n_outputs)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    plasticity = StructuralPlasticity(net, optimizer)
    is_choice = problem.n_outputs > 1
    loss_of: Any = torch.nn.functional.cross_entropy if is_choice else torch.nn.functional.mse_loss
    for _ in range(UPDATES):
        rows, answers = (torch.as_tensor(each) for each in problem.draw(rng, BATCH))
        loss = loss_of(net(rows.float()), answers if is_choice else answers.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plasticity.step()
    rows, answers = problem.draw(np.random.default_rng(10**6), JUDGED)
    with torch.no_grad():
        outputs = net(torch.as_tensor(rows).float()).numpy()
    return problem.score(outputs, answers), net.graph


def by_learner(problem: Problem, seed: int) -> tuple[float, Graph]:
    """Train a `Learner`; return the score and the network's graph."""
    settings: Any = {} if problem.n_outputs > 1 else {"loss": "mse"}
    learner = Learner(problem.n_inputs, problem.n_outputs, seed=seed, **settings)
    learner.learn_stream(*problem.draw(np.random.default_rng(seed), ROWS))
    rows, answers = problem.draw(np.random.default_rng(10**6), JUDGED)
    found = learner.act(rows)
    if problem.n_outputs > 1:
        return float(np.mean(found == answers)), learner.graph
    return problem.score(found, answers), learner.graph


ENGINES = {"torch": by_torch, "learner": by_learner}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--problem", choices=PROBLEMS, action="append")
    parser.add_argument("--engine", choices=ENGINES, action="append")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for engine in args.engine or ENGINES:
        for name in args.problem or PROBLEMS:
            found = [ENGINES[engine](PROBLEMS[name], seed) for seed in range(args.seeds)]
            scores = [score for score, _ in found]
            edges = np.mean([graph.n_edges for _, graph in found])
            n = sum(score >= PROBLEMS[name].enough for score in scores)
            shown = " ".join(f"{score:.3f}" for score in scores)
            print(f"{engine} {name}: {n} of {len(scores)}, {edges:.0f} edges: {shown}", flush=True)


if __name__ == "__main__":
    main()
