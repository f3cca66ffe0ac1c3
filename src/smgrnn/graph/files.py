"""A bare network in a file: its settings, its names, and its graph as arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from smgrnn.arrays import Arrays
from smgrnn.errors import GraphError
from smgrnn.graph.settings import NetworkConfig
from smgrnn.graph.state import Graph
from smgrnn.names import Names

COLUMNS = ("node_ids", "source", "target", "edge_ids")
NUMBERS = ("n_inputs", "n_outputs", "next_node_id", "next_edge_id")
"""Fields of a graph that are columns, and those that are single numbers."""


def network_content(config: NetworkConfig, names: Names | None) -> dict[str, Any]:
    """Return the facts about a network that the header of a file states."""
    named = {} if names is None else {"names": [list(each) for each in names]}
    return config.to_dict() | named


def network_settings(content: Mapping[str, Any]) -> tuple[NetworkConfig, Names | None]:
    """Return settings and names from the header of a file, checked."""
    values = {"bias": False, **content}  # smgrnn 0.2 had no biases of its own
    named = values.pop("names", None)
    config = NetworkConfig.from_dict(values)
    if named is not None:
        named = Names.given(*named, n_inputs=config.n_inputs, n_outputs=config.n_outputs)
    return config, named


def graph_arrays(graph: Graph) -> Arrays:
    """Return the arrays of a graph, as `network_graph` reads them."""
    columns = {name: getattr(graph, name) for name in (*COLUMNS, "weight")}
    return columns | {"numbers": np.array([getattr(graph, name) for name in NUMBERS])}


def network_graph(arrays: Arrays) -> Graph:
    """Return the graph that the arrays of a file describe, checked."""
    if arrays["weight"].dtype.kind != "f":
        raise GraphError("The weights of a graph must be floating-point numbers.")
    columns = {name: arrays[name].astype(np.int64) for name in COLUMNS}
    numbers = dict(zip(NUMBERS, arrays["numbers"].tolist(), strict=True))
    weight = arrays["weight"].astype(np.float64)
    return Graph.from_arrays({**columns, **numbers, "weight": weight})
