"""The topology a network starts from: at random (Paper: Sec. IV-A2), or an MLP (Sec. IV-A4).

The MLP is the fixed-size student: one hidden layer of tanh units with biases and linear outputs.
Two iterations from zero states evaluate it.
"""

import numpy as np

from smgrnn.graph.settings import NetworkConfig
from smgrnn.graph.state import Graph
from smgrnn.machine import check_memory


def initial_graph(config: NetworkConfig, rng: np.random.Generator) -> Graph:
    """Connect a `density` fraction of the allowed pairs, at least one, with Gaussian weights.

    Without hidden nodes only input -> output pairs are allowed; otherwise every pair of distinct
    nodes that does not end in an input.
    """
    n_inputs, n_targets = config.n_input_nodes, config.n_outputs + config.n_hidden
    n_nodes = n_inputs + n_targets
    n_sources = n_nodes - 1 if config.n_hidden else n_inputs  # of one target
    n_pairs = n_targets * n_sources
    n_edges = max(1, round(config.density * n_pairs))
    check_memory(8.0 * (n_pairs + 8 * n_edges), f"A network of {n_nodes} nodes and {n_edges} edges")
    chosen = np.sort(rng.choice(n_pairs, size=n_edges, replace=False))
    target = n_inputs + chosen // n_sources
    source = chosen % n_sources
    source += source >= target  # a node is not a source of its own
    usual = 0.1 if config.n_hidden else 0.0
    std = usual if config.weight_std is None else config.weight_std
    weight = std * rng.standard_normal(n_edges)
    return Graph.numbered(n_inputs, config.n_outputs, n_nodes, source, target, weight)


def mlp_width(n_inputs: int, n_outputs: int, n_parameters: int, *, has_bias: bool = True) -> int:
    """Return the number of hidden units that brings an MLP closest to `n_parameters`."""
    n_own = n_outputs if has_bias else 0
    return max(1, round((n_parameters - n_own) / (n_inputs + has_bias + n_outputs)))


def mlp_graph(
    n_inputs: int, n_hidden: int, n_outputs: int, rng: np.random.Generator, *, has_bias: bool = True
) -> Graph:
    """Return an untrained MLP, initialised as torch.nn.Linear is; biases leave its last input."""
    n_low = n_inputs + has_bias
    n_edges = n_low * n_hidden + (n_hidden + has_bias) * n_outputs
    check_memory(100.0 * n_edges, f"An MLP of {n_edges} parameters")
    outputs, hidden = np.split(n_low + np.arange(n_outputs + n_hidden), [n_outputs])
    biases = np.arange(n_inputs, n_low)
    below = rng.uniform(-(n_inputs**-0.5), n_inputs**-0.5, (n_low, n_hidden))
    above = rng.uniform(-(n_hidden**-0.5), n_hidden**-0.5, (n_hidden + has_bias, n_outputs))
    above = np.roll(above, has_bias, axis=0)  # drawn last, the biases stand first in a row
    into_outputs = np.concatenate([biases, hidden])
    source = np.append(np.tile(into_outputs, n_outputs), np.tile(np.arange(n_low), n_hidden))
    target = np.append(outputs.repeat(into_outputs.size), hidden.repeat(n_low))
    weight = np.append(above.T.ravel(), below.T.ravel())
    return Graph.numbered(n_low, n_outputs, n_low + n_outputs + n_hidden, source, target, weight)
