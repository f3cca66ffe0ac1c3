"""Export: a network as ONNX, C99, GraphML or JSON, to use without smgrnn.

In GraphML and JSON, nodes have their stable id and a kind: input, bias, output or hidden.  Edges
have their stable id and their weight, in full precision.  Attributes of the graph state how the
network runs.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from smgrnn.errors import ConfigError, needs, short, suggest
from smgrnn.export.arduino import arduino_library
from smgrnn.export.c import c_files
from smgrnn.export.c_test import c_test
from smgrnn.export.integers import LARGEST_WEIGHT, IntegerPolicy, integer_program
from smgrnn.export.micropython import micropython_module
from smgrnn.export.program import program_of
from smgrnn.export.trial import recorded_steps
from smgrnn.export.wiring import facts
from smgrnn.graph.drawing import kinds
from smgrnn.policy import Policy, policy_of
from smgrnn.storage import check_new_file, write_file, writing
from smgrnn.tasks import Task, TaskSource

FORMATS = {
    "onnx": (".onnx",),
    "c": (".h", ".c"),
    "arduino": (),
    "micropython": (".py",),
    "graphml": (".graphml",),
    "json": (".json",),
}
"""The suffixes of each format's files; a library for Arduino is a folder."""
IN_INTEGERS = ("c", "arduino", "micropython")
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
    self_test: bool = False,
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
        The format, if the path has no ending; "arduino" writes a folder.
    type
        Numbers of C and MicroPython: "float"; "q15" or "q7" are integers with int16 or int8
        weights.
    style
        C with "tables" that a loop reads, or "unrolled" into straight-line code.
    self_test
        Whether C has a third file, which replays recorded steps on the board.
    recording
        Observations (n, n_observed) of one episode that give integers their ranges, and the
        self-test its steps; by default the network plays ten episodes of its task.
    task
        The task that is played for it, if it is your own code.
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
            endings = ", ".join(suffixes[-1] for suffixes in FORMATS.values() if suffixes)
            raise ConfigError(f"{out.name} names no export format; end it with one of {endings}.")
        (to,) = named
    if to not in FORMATS:
        hint = suggest(to, FORMATS) or f"Choose from {', '.join(FORMATS)}."
        raise ConfigError(f"There is no export format {short(to)}. {hint}")
    if style not in STYLES:
        hint = suggest(style, STYLES) or f"Choose from {', '.join(STYLES)}."
        raise ConfigError(f"There is no style {short(style)}. {hint}")
    if type != "float" and not isinstance(policy, IntegerPolicy):
        if to not in IN_INTEGERS:
            raise ConfigError(f"Integers are for {', '.join(IN_INTEGERS)}. Use floats for {to}.")
        style_of = "unrolled" if to == "micropython" else style
        policy = integers(policy, type, style=style_of, recording=recording, task=task)
    stem = out.stem if out.suffix in FORMATS[to] else out.name
    contents: dict[str, bytes]
    if to in IN_INTEGERS:
        is_straight = style == "unrolled" or to == "micropython"
        program = getattr(policy, "program", None) or program_of(policy, is_straight=is_straight)
        if to == "micropython":
            contents = {f"{stem}.py": micropython_module(policy, program)}
        else:
            header, source = c_files(policy, program, stem, style)
            contents = {f"{stem}.h": header, f"{stem}.c": source}
            if self_test:
                seen = recorded_steps(policy, recording, task)
                contents[f"{stem}_test.c"] = c_test(policy, program, stem, *seen)
    elif to == "onnx":
        with needs("ONNX"):
            from smgrnn.export.to_onnx import onnx_model
        contents = {f"{stem}.onnx": onnx_model(policy).SerializeToString(deterministic=True)}
    else:
        contents = {f"{stem}.{to}": (_graphml if to == "graphml" else _json)(policy)}
    if to == "arduino":
        contents = arduino_library(policy, stem, contents)
        check_new_file(out)
    paths = [out / name if to == "arduino" else out.with_name(name) for name in contents]
    for file in paths:
        if to != "arduino":
            check_new_file(file)
    for file, content in zip(paths, contents.values(), strict=True):
        with writing(file):
            file.parent.mkdir(parents=to == "arduino", exist_ok=True)
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
    recorded = recorded_steps(policy, recording, task)
    program = integer_program(policy, type, *recorded, is_straight=style == "unrolled")
    return IntegerPolicy(policy, program)


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
