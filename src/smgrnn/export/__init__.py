"""Export: a network as ONNX, C99, GraphML or JSON, to use without smgrnn.

In GraphML and JSON, nodes have their stable id and a kind: input, bias, output or hidden.  Edges
have their stable id and their weight, in full precision.  Attributes of the graph state how the
network runs.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from smgrnn.errors import ConfigError, needs
from smgrnn.export.c import c_files
from smgrnn.export.wiring import facts
from smgrnn.graph.drawing import kinds
from smgrnn.policy import Policy, policy_of
from smgrnn.storage import check_new_file, write_file, writing

FORMATS = {"onnx": (".onnx",), "c": (".h", ".c"), "graphml": (".graphml",), "json": (".json",)}
"""The suffixes of each format's files."""
Row = dict[str, Any]
TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}
"""Names of types in GraphML."""


def export_policy(
    network: Any, to: str, out: str | Path, *, is_choice: bool | None = None
) -> list[Path]:
    """Write a network in the format "onnx", "c", "graphml" or "json"; return the new files.

    `network` is a policy, as `smgrnn.load` returns it, a run, an `SMGrNN` or a `Learner`.  `out`
    may have the format's suffix; C has a header and a source of that name.  `is_choice` says
    whether the action of a bare network is its largest output or all outputs; by default its loss
    decides, and an `SMGrNN` chooses, unless it has one output.

    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20)
    >>> [file.name for file in export_policy(run, "c", "controller")]
    ['controller.h', 'controller.c']
    """
    out, policy = Path(out), policy_of(network, is_choice=is_choice)
    if to not in FORMATS:
        raise ConfigError(f"There is no export format {to!r}; choose from {', '.join(FORMATS)}.")
    stem = out.stem if out.suffix in FORMATS[to] else out.name
    paths = [out.with_name(stem + suffix) for suffix in FORMATS[to]]
    for path in paths:
        check_new_file(path)
    contents: tuple[bytes, ...]
    if to == "c":
        contents = c_files(policy, stem)
    elif to == "onnx":
        with needs("ONNX"):
            from smgrnn.export.to_onnx import onnx_model
        contents = (onnx_model(policy).SerializeToString(deterministic=True),)
    else:
        contents = ((_graphml if to == "graphml" else _json)(policy),)
    for path, content in zip(paths, contents, strict=True):
        with writing(path):
            write_file(path, content)
    return paths


def _nodes_and_edges(policy: Policy) -> tuple[list[Row], list[Row]]:
    graph = policy.graph
    ids = graph.node_ids.tolist()
    nodes: list[Row] = [{"id": id, "kind": k} for id, k in zip(ids, kinds(graph), strict=True)]
    for node in nodes[policy.task.n_inputs : graph.n_inputs]:
        node["kind"] = "bias"
    for node, name in zip(nodes, policy.names.of_nodes(graph.n_inputs), strict=False):
        node["name"] = name
    if policy.normalisation is not None:
        for node, mean, scale in zip(nodes, *policy.normalisation, strict=False):
            node.update(mean=float(mean), scale=float(scale))
    return nodes, [edge._asdict() for edge in graph.edges()]


def _json(policy: Policy) -> bytes:
    """Return the node-link form of networkx."""
    nodes, edges = _nodes_and_edges(policy)
    data = {"directed": True, "multigraph": False, "graph": facts(policy)}
    return f"{json.dumps(data | {'nodes': nodes, 'edges': edges}, indent=1)}\n".encode()


def _graphml(policy: Policy) -> bytes:
    nodes, edges = _nodes_and_edges(policy)
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    graph = ElementTree.Element("graph", edgedefault="directed")
    keys: dict[tuple[str, str], str] = {}

    def add(element: ElementTree.Element, kind: str, attributes: Row) -> None:
        for name, value in attributes.items():
            key = keys.setdefault((kind, name), f"d{len(keys)}")
            if key == f"d{len(root)}":
                look = {"id": key, "for": kind, "attr.name": name, "attr.type": TYPES[type(value)]}
                ElementTree.SubElement(root, "key", look)
            text = str(value).lower() if isinstance(value, bool) else str(value)
            ElementTree.SubElement(element, "data", key=key).text = text

    add(graph, "graph", facts(policy))
    for node in nodes:
        add(ElementTree.SubElement(graph, "node", id=str(node.pop("id"))), "node", node)
    for edge in edges:
        ends = {end: str(edge.pop(end)) for end in ("source", "target")}
        add(ElementTree.SubElement(graph, "edge", ends), "edge", edge)
    root.append(graph)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
