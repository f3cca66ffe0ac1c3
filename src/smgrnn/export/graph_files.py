"""A controller as a graph for other tools: GraphML, and JSON in the node-link form of networkx.

Nodes have their stable id and a kind: input, bias, output or hidden.  Inputs of a network that
normalises have the mean that is subtracted from the observation and the scale that multiplies the
rest.  Edges have their stable id and their weight, in full precision.  The attributes of the graph
itself state how the network runs.
"""

import io
import json
from typing import TYPE_CHECKING

import networkx as nx

from smgrnn.export.wiring import facts
from smgrnn.graph.drawing import to_networkx
from smgrnn.policy import Policy

if TYPE_CHECKING:
    from networkx import DiGraph


def controller_graph(policy: Policy) -> "DiGraph[int]":
    """Return the graph for networkx, with constant inputs marked as biases."""
    view = to_networkx(policy.graph)
    view.graph.update(facts(policy))
    for node in range(policy.task.n_inputs, policy.config.n_inputs):
        view.nodes[node]["kind"] = "bias"
    for node, name in enumerate(policy.names.of_nodes(policy.config.n_inputs)):
        view.nodes[node]["name"] = name
    if policy.normalisation is not None:
        for node, (mean, scale) in enumerate(zip(*policy.normalisation, strict=True)):
            view.nodes[node].update(mean=float(mean), scale=float(scale))
    return view


def graphml_files(policy: Policy, stem: str) -> dict[str, bytes]:
    """Return the GraphML by the suffix of its file."""
    buffer = io.BytesIO()
    nx.write_graphml_xml(controller_graph(policy), buffer)
    return {".graphml": buffer.getvalue()}


def json_files(policy: Policy, stem: str) -> dict[str, bytes]:
    """Return the JSON by the suffix of its file."""
    data = nx.node_link_data(controller_graph(policy), edges="edges")
    return {".json": f"{json.dumps(data, indent=1)}\n".encode()}
