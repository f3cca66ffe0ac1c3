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
from smgrnn.export.build import program_of
from smgrnn.export.c import c_files
from smgrnn.export.c_test import c_test
from smgrnn.export.integers import LARGEST_WEIGHT, integer_program
from smgrnn.export.micropython import micropython_module
from smgrnn.export.program import STYLES as STYLES
from smgrnn.export.program import Controller
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
CODE = ("c", "arduino", "micropython")
"""Formats that are programs."""
NUMBERS = ("float", *LARGEST_WEIGHT)
"""Types of numbers of programs."""
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
    scores: bool = False,
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
    scores
        Whether a step of code also gives all outputs, of which it chooses the largest.
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
    _check("export format", to, FORMATS)
    _check("style", style, STYLES)
    _check("type of numbers", type, NUMBERS)
    is_made = isinstance(policy, Controller)
    number = policy.program.type if isinstance(policy, Controller) else type
    if to not in CODE and (number != "float" or scores):
        what = "Scores" if scores else "Integers"
        raise ConfigError(f"{what} are for {', '.join(CODE)}. Leave them out for {to}.")
    if scores and not policy.task.is_discrete:
        raise ConfigError("Only a network that chooses has scores; this one returns all outputs.")
    if self_test and to == "micropython":
        raise ConfigError("A self-test is C; use it with c or arduino.")
    stem = out.stem if out.suffix in FORMATS[to] else out.name
    if to in CODE:
        if self_test or (type != "float" and not is_made):
            recording = recorded_steps(policy, recording, task)
        made = _made(policy, type, style, recording)
        if to == "micropython":
            contents = {f"{stem}.py": micropython_module(made, has_scores=scores)}
        else:
            header, source = c_files(made, stem, has_scores=scores)
            contents = {f"{stem}.h": header, f"{stem}.c": source}
            if self_test:
                contents[f"{stem}_test.c"] = c_test(made, stem, *recording, has_scores=scores)
        if to == "arduino":
            contents = arduino_library(made, stem, contents, has_scores=scores)
    elif to == "onnx":
        with needs("ONNX"):
            from smgrnn.export.to_onnx import onnx_model
        contents = {f"{stem}.onnx": onnx_model(policy).SerializeToString(deterministic=True)}
    else:
        contents = {f"{stem}.{to}": (_graphml if to == "graphml" else _json)(policy)}
    paths = [out / name if to == "arduino" else out.with_name(name) for name in contents]
    for file in [out] if to == "arduino" else paths:
        check_new_file(file)
    for file, content in zip(paths, contents.values(), strict=True):
        with writing(file):
            file.parent.mkdir(parents=to == "arduino", exist_ok=True)
        write_file(file, content)
    return paths


def controller_of(
    network: Any,
    type: str = "float",
    *,
    style: str = "tables",
    recording: Any = None,
    task: TaskSource | Task | None = None,
) -> Controller:
    """Return a network as the controller that `export` writes, to play or to compare.

    The parameters are those of `export`.

    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20)
    >>> controller_of(run, "q15").program.type
    'q15'
    """
    _check("type of numbers", type, NUMBERS)
    policy = policy_of(network)
    return _made(policy, type, style, type != "float" and recorded_steps(policy, recording, task))


def _made(policy: Policy, type: str, style: str, recording: Any) -> Controller:
    if isinstance(policy, Controller):
        return policy
    if type == "float":
        return Controller(policy, program_of(policy, style))
    return Controller(policy, integer_program(policy, type, *recording, style=style))


def _check(what: str, given: str, known: Any) -> None:
    if given not in known:
        hint = suggest(given, known) or f"Choose from {', '.join(known)}."
        raise ConfigError(f"There is no {what} {short(given)}. {hint}")


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
