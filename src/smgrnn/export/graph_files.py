"""A controller as a graph for other tools: GraphML, and JSON in the node-link form of networkx.

Nodes have their stable id and a kind: input, bias, output or hidden.  Inputs of a network that
normalises have the mean that is subtracted from the observation and the scale that multiplies the
rest.  Edges have their stable id and their weight, in full precision.  The attributes of the graph
itself state how the network runs.
"""

import json
from typing import Any
from xml.etree import ElementTree

from smgrnn.export.wiring import facts
from smgrnn.graph.drawing import kinds
from smgrnn.policy import Policy

Row = dict[str, Any]
TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}
"""Names of types in GraphML."""


def nodes_and_edges(policy: Policy) -> tuple[list[Row], list[Row]]:
    """Return the attributes of all nodes and of all edges."""
    graph = policy.graph
    ids = graph.node_ids.tolist()
    nodes: list[Row] = [{"id": id, "kind": k} for id, k in zip(ids, kinds(graph), strict=True)]
    for node in nodes[policy.task.n_inputs : policy.config.n_inputs]:
        node["kind"] = "bias"
    for node, name in zip(nodes, policy.names.of_nodes(graph.n_inputs), strict=False):
        node["name"] = name
    if policy.normalisation is not None:
        for node, mean, scale in zip(nodes, *policy.normalisation, strict=False):
            node.update(mean=float(mean), scale=float(scale))
    return nodes, [edge._asdict() for edge in graph.edges()]


def json_files(policy: Policy, stem: str) -> dict[str, bytes]:
    """Return the JSON by the suffix of its file."""
    nodes, edges = nodes_and_edges(policy)
    data = {"directed": True, "multigraph": False, "graph": facts(policy)}
    return {".json": f"{json.dumps(data | {'nodes': nodes, 'edges': edges}, indent=1)}\n".encode()}


def graphml_files(policy: Policy, stem: str) -> dict[str, bytes]:
    """Return the GraphML by the suffix of its file."""
    nodes, edges = nodes_and_edges(policy)
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    graph = ElementTree.Element("graph", edgedefault="directed")
    keys: dict[tuple[str, str], str] = {}

    def add(element: ElementTree.Element, kind: str, attributes: Row) -> None:
        """Append attributes to an element, and declare those that are new."""
        for name, value in attributes.items():
            key = keys.setdefault((kind, name), f"d{len(keys)}")
            if key == f"d{len(root)}":
                look = {"id": key, "for": kind, "attr.name": name, "attr.type": TYPES[type(value)]}
                ElementTree.SubElement(root, "key", look)
            text = str(value).lower() if isinstance(value, bool) else str(value)
            ElementTree.SubElement(element, "data", key=key).text = text

    add(graph, "graph", facts(policy))
    for node in nodes:
        element = ElementTree.SubElement(graph, "node", id=str(node.pop("id")))
        add(element, "node", node)
    for edge in edges:
        ends = {end: str(edge.pop(end)) for end in ("source", "target")}
        add(ElementTree.SubElement(graph, "edge", ends), "edge", edge)
    root.append(graph)
    ElementTree.indent(root)
    return {".graphml": ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"}
