"""Export: a network as ONNX, C99, GraphML or JSON, to use without smgrnn.

In GraphML and JSON, nodes have their stable id and a kind: input, bias, output or hidden.  Edges
have their stable id and their weight, in full precision.  Attributes of the graph state how the
network runs.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from smgrnn.errors import ConfigError, ShapeError, needs, short, suggest
from smgrnn.export.c import c_files
from smgrnn.export.integers import LARGEST_WEIGHT, IntegerPolicy, integer_program
from smgrnn.export.program import program_of
from smgrnn.export.trial import Recorded, find_place, record
from smgrnn.export.wiring import facts
from smgrnn.graph.drawing import kinds
from smgrnn.policy import Policy, policy_of
from smgrnn.storage import check_new_file, write_file, writing
from smgrnn.tasks import Task, TaskSource

FORMATS = {"onnx": (".onnx",), "c": (".h", ".c"), "graphml": (".graphml",), "json": (".json",)}
"""The suffixes of each format's files."""
NUMBERS = ("float", *LARGEST_WEIGHT)
STYLES = ("tables", "unrolled")
Row = dict[str, Any]
TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}
"""Names of types in GraphML."""


def export(
    network: Any,
    path: str | Path,
    *,
    to: str | None = None,
    type: str = "float",
    style: str = "tables",
    recording: Any = None,
    task: TaskSource | Task | None = None,
    is_choice: bool | None = None,
) -> list[Path]:
    """Write a network for use without smgrnn; return the new files.

    Parameters
    ----------
    network
        A policy, as `smgrnn.load` returns it, a run, an `SMGrNN` or a `Learner`.
    path
        The file, whose ending names the format; C has a header and a source of this name.
    to
        The format, if the path has no ending: "c", "onnx", "graphml" or "json".
    type
        Numbers of C: "float"; or "q15" or "q7", integers with int16 or int8 weights.
    style
        C with "tables" that a loop reads, or "unrolled" into straight-line code.
    recording
        Observations (n, n_observed) that give integers their ranges; by default the network plays
        ten episodes of its task.
    task
        The task of integers, if it is your own code.
    is_choice
        Whether the action of a bare network is its largest output or all outputs; by default its
        loss decides, and an `SMGrNN` chooses, unless it has one output.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20)
    >>> [file.name for file in export(run, "controller.c")]
    ['controller.h', 'controller.c']
    """
    out, policy = Path(path), policy_of(network, is_choice=is_choice)
    if to is None:
        named = [name for name, suffixes in FORMATS.items() if out.suffix in suffixes]
        if not named:
            endings = ", ".join(suffixes[-1] for suffixes in FORMATS.values())
            raise ConfigError(f"{out.name} names no export format; end it with one of {endings}.")
        (to,) = named
    if to not in FORMATS:
        hint = suggest(to, FORMATS) or f"Choose from {', '.join(FORMATS)}."
        raise ConfigError(f"There is no export format {short(to)}. {hint}")
    if style not in STYLES:
        hint = suggest(style, STYLES) or f"Choose from {', '.join(STYLES)}."
        raise ConfigError(f"There is no style {short(style)}. {hint}")
    if type != "float" and not isinstance(policy, IntegerPolicy):
        if to != "c":
            raise ConfigError(f"Only C has integers. Use type='float' for {to}.")
        policy = integers(policy, type, style=style, recording=recording, task=task)
    stem = out.stem if out.suffix in FORMATS[to] else out.name
    paths = [out.with_name(stem + suffix) for suffix in FORMATS[to]]
    for file in paths:
        check_new_file(file)
    contents: tuple[bytes, ...]
    if to == "c":
        program = getattr(policy, "program", None)
        program = program or program_of(policy, is_straight=style == "unrolled")
        contents = c_files(policy, program, stem, style)
    elif to == "onnx":
        with needs("ONNX"):
            from smgrnn.export.to_onnx import onnx_model
        contents = (onnx_model(policy).SerializeToString(deterministic=True),)
    else:
        contents = ((_graphml if to == "graphml" else _json)(policy),)
    for file, content in zip(paths, contents, strict=True):
        with writing(file):
            write_file(file, content)
    return paths


def integers(
    network: Any,
    type: str,
    *,
    style: str = "tables",
    recording: Any = None,
    task: TaskSource | Task | None = None,
) -> IntegerPolicy:
    """Return a network as the policy in integers that `export` writes, to play or to compare.

    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20)
    >>> integers(run, "q15").program.type
    'q15'
    """
    if type not in LARGEST_WEIGHT:
        hint = suggest(type, LARGEST_WEIGHT) or f"Choose from {', '.join(LARGEST_WEIGHT)}."
        raise ConfigError(f"There are no integers of type {short(type)}. {hint}")
    policy = policy_of(network)
    if recording is None:
        recorded = record(policy, find_place(policy, task))
    else:
        rows = np.asarray(recording, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != policy.task.n_inputs or not len(rows):
            raise ShapeError(
                f"Expected a recording of rows of {policy.task.n_inputs} numbers. Got shape "
                f"{rows.shape} instead."
            )
        recorded = Recorded(rows, np.arange(len(rows)) == 0)
    return IntegerPolicy(
        policy, integer_program(policy, type, *recorded, is_straight=style == "unrolled")
    )


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
