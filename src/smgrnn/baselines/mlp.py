"""MLP: the fixed-size student the growing one is compared with.  Paper: Sec. IV-A4.

One hidden layer of tanh units with biases and linear outputs.  It is a graph like any other: inputs
and a constant one, hidden nodes, outputs; two iterations from zero states evaluate it, and the
engine trains it exactly as it trains the growing student.
"""

from itertools import product

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.errors import ConfigError
from smgrnn.graph.state import Graph
from smgrnn.memory import check_memory

BUDGETS = {"CartPole-v1": 80, "Acrobot-v1": 107, "LunarLander-v3": 128}
"""Parameters of the growing network at the end, by task: the mean of `distill TASK --seeds 10`."""


def find_budget(task_id: str) -> int:
    """Return how many parameters the growing network ends with on a task."""
    if task_id not in BUDGETS:
        raise ConfigError(f"No budget is known for {task_id}; set one with --budget.")
    return BUDGETS[task_id]


def mlp_width(n_inputs: int, n_outputs: int, n_parameters: int) -> int:
    """Return the number of hidden units that brings an MLP, with biases, closest to `n_parameters`.

    >>> mlp_width(4, 2, 84)
    12
    """
    return max(1, round((n_parameters - n_outputs) / (n_inputs + 1 + n_outputs)))


def mlp_graph(n_inputs: int, n_hidden: int, n_outputs: int, rng: np.random.Generator) -> Graph:
    """Return an untrained MLP, initialised as torch.nn.Linear is; its last input is constant."""
    n_edges = (n_inputs + 1) * n_hidden + (n_hidden + 1) * n_outputs
    check_memory(400.0 * n_edges, f"An MLP of {n_edges} parameters")  # lists of Python's own
    senders, outputs = n_inputs + 1, range(n_inputs + 1, n_inputs + 1 + n_outputs)
    hidden = range(outputs.stop, outputs.stop + n_hidden)
    bias = n_inputs
    lower = list(product(range(senders), hidden))
    upper = list(product([*hidden, bias], outputs))
    weights = [*_draw(rng, len(lower), n_inputs), *_draw(rng, len(upper), n_hidden)]
    edges = [(*pair, weight) for pair, weight in zip(lower + upper, weights, strict=True)]
    return Graph.from_edges(senders, n_outputs, n_hidden, edges)


def _draw(rng: np.random.Generator, n: int, fan_in: int) -> Floats:
    bound = fan_in**-0.5
    return rng.uniform(-bound, bound, n)
