"""MLP: the fixed-size student the growing one is compared with.  Paper: Sec. IV-A4.

One hidden layer of tanh units with biases and linear outputs.  It is a graph like any other: inputs
and a constant one, hidden nodes, outputs; two iterations from zero states evaluate it, and the
engine trains it exactly as it trains the growing student.
"""

from itertools import product

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.graph.state import Graph
from smgrnn.machine import check_memory


def mlp_width(n_inputs: int, n_outputs: int, n_parameters: int, *, has_bias: bool = True) -> int:
    """Return the number of hidden units that brings an MLP closest to `n_parameters`.

    >>> mlp_width(4, 2, 84), mlp_width(4, 2, 84, has_bias=False)
    (12, 14)
    """
    n_own = n_outputs if has_bias else 0
    return max(1, round((n_parameters - n_own) / (n_inputs + has_bias + n_outputs)))


def mlp_graph(
    n_inputs: int,
    n_hidden: int,
    n_outputs: int,
    rng: np.random.Generator,
    *,
    has_bias: bool = True,
) -> Graph:
    """Return an untrained MLP, initialised as torch.nn.Linear is.

    Its biases are the edges from its last input, which is constant.
    """
    senders = n_inputs + has_bias
    n_edges = senders * n_hidden + (n_hidden + has_bias) * n_outputs
    check_memory(400.0 * n_edges, f"An MLP of {n_edges} parameters")  # lists of Python's own
    outputs = range(senders, senders + n_outputs)
    hidden = range(outputs.stop, outputs.stop + n_hidden)
    biases = range(n_inputs, senders)
    lower = list(product(range(senders), hidden))
    upper = list(product([*hidden, *biases], outputs))
    weights = [*_draw(rng, len(lower), n_inputs), *_draw(rng, len(upper), n_hidden)]
    edges = [(*pair, weight) for pair, weight in zip(lower + upper, weights, strict=True)]
    return Graph.from_edges(senders, n_outputs, n_hidden, edges)


def _draw(rng: np.random.Generator, n: int, fan_in: int) -> Floats:
    bound = fan_in**-0.5
    return rng.uniform(-bound, bound, n)
