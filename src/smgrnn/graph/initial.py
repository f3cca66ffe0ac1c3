"""The topology a network starts from: at random (Paper: Sec. IV-A2), or an MLP (Sec. IV-A4).

The MLP is the fixed-size student that the growing one is compared with: one hidden layer of tanh
units with biases and linear outputs.  It is a graph like any other, which two iterations from zero
states evaluate.
"""

from itertools import product

import numpy as np

from smgrnn.graph.settings import NetworkConfig
from smgrnn.graph.state import Graph
from smgrnn.machine import check_memory


def initial_graph(config: NetworkConfig, rng: np.random.Generator) -> Graph:
    """Connect a `density` share of the allowed pairs, with Gaussian weights.

    Without hidden nodes only input -> output pairs are allowed; otherwise every pair of distinct
    nodes that does not end in an input.  The share is exact up to rounding, and at least one edge.
    """
    n_targets = config.n_outputs + config.n_hidden
    n_nodes = config.n_inputs + n_targets
    n_sources = n_nodes - 1 if config.n_hidden else config.n_inputs  # of one target
    n_pairs = n_targets * n_sources
    n_edges = max(1, round(config.density * n_pairs))
    check_memory(
        8.0 * n_pairs + 64.0 * n_edges, f"A network of {n_nodes} nodes and {n_edges} edges"
    )
    chosen = np.sort(rng.choice(n_pairs, size=n_edges, replace=False))
    target = config.n_inputs + chosen // n_sources
    source = chosen % n_sources
    source += source >= target  # a node is not a source of its own
    weight = config.weight_std * rng.standard_normal(n_edges)
    return Graph.numbered(config.n_inputs, config.n_outputs, n_nodes, source, target, weight)


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
    edges: list[tuple[int, int, float]] = []
    for pairs, fan_in in (
        (list(product(range(senders), hidden)), n_inputs),
        (list(product([*hidden, *biases], outputs)), n_hidden),
    ):
        drawn = rng.uniform(-(fan_in**-0.5), fan_in**-0.5, len(pairs)).tolist()
        edges += [(*pair, weight) for pair, weight in zip(pairs, drawn, strict=True)]
    return Graph.from_edges(senders, n_outputs, n_hidden, edges)
