"""The topology a network starts from.  Paper: Sec. IV-A2."""

import numpy as np

from smgrnn.graph.settings import NetworkConfig
from smgrnn.graph.state import Graph, check
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
    graph = Graph(
        n_inputs=config.n_inputs,
        n_outputs=config.n_outputs,
        node_ids=np.arange(n_nodes),
        source=source,
        target=target,
        weight=config.weight_std * rng.standard_normal(n_edges),
        edge_ids=np.arange(n_edges),
        next_node_id=n_nodes,
        next_edge_id=n_edges,
    )
    check(graph)
    return graph
