"""The topology a network starts from.  Paper: Sec. IV-A2."""

import numpy as np

from smgrnn.config import NetworkConfig
from smgrnn.graph.state import Graph


def initial_graph(config: NetworkConfig, rng: np.random.Generator) -> Graph:
    """Connect a `density` share of the allowed pairs, with Gaussian weights.

    Without hidden nodes only input -> output pairs are allowed; otherwise every pair of distinct
    nodes that does not end in an input.  The share is exact up to rounding, and at least one edge.
    """
    first, last = config.n_inputs, config.n_inputs + config.n_outputs + config.n_hidden
    sources = range(last if config.n_hidden else first)
    pairs = [(u, v) for v in range(first, last) for u in sources if u != v]
    n_edges = max(1, round(config.density * len(pairs)))
    chosen = np.sort(rng.choice(len(pairs), size=n_edges, replace=False))
    weights = config.weight_std * rng.standard_normal(n_edges)
    edges = [(*pairs[k], w) for k, w in zip(chosen.tolist(), weights.tolist(), strict=True)]
    return Graph.from_edges(config.n_inputs, config.n_outputs, config.n_hidden, edges)
