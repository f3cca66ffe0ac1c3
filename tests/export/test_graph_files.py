"""An exported graph is the network's graph."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from smgrnn.export import FORMATS, export
from smgrnn.graph.state import Edge
from smgrnn.policy import Policy
from smgrnn.tasks import Task
from support import exports
from support.flat import network_config
from support.networks import SMALL


def read_graphml(file: Path) -> Any:
    return nx.read_graphml(file, node_type=int)


def read_json(file: Path) -> Any:
    return nx.node_link_graph(json.loads(file.read_text()), edges="edges")


@pytest.mark.parametrize(("to", "read"), [("graphml", read_graphml), ("json", read_json)])
def test_networkx_reads_back_the_same_graph(to: str, read: Any, tmp_path: Path) -> None:
    """The network has one observation, one bias, one output and two hidden nodes."""
    config = network_config(n_inputs=1, n_outputs=1, bias=True, iterations=3, activation="relu")
    task = Task("small", 1, 1, is_discrete=False, action_low=(-2.0,), action_high=(2.0,))
    policy = Policy(SMALL, config, task)
    (file,) = export(policy, tmp_path / "controller", to=to)
    view = read(file)
    assert view.is_directed()
    kinds = ("input", "bias", "output", "hidden", "hidden")
    assert dict(view.nodes(data="kind")) == dict(enumerate(kinds))
    edges = {Edge(e["id"], source, target, e["weight"]) for source, target, e in view.edges.data()}
    assert edges == set(SMALL.edges())
    for name, fact in {"task": "small", "iterations": 3, "carry_state": True}.items():
        assert view.graph[name] == fact


@pytest.mark.parametrize("to", FORMATS)
def test_one_policy_is_one_file(to: str, tmp_path: Path) -> None:
    texts = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        policy = exports.random_policy(1, is_discrete=True, has_bias=True)
        files = export(policy, tmp_path / name / "controller", to=to)
        texts.append([file.read_bytes() for file in files])
    assert texts[0] == texts[1]
