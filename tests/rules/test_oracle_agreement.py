"""The library and the paper read aloud (`oracle`) agree on hundreds of random graphs."""

from collections import Counter
from dataclasses import fields
from typing import Any, get_args

import numpy as np
import pytest

from smgrnn.arrays import Ints
from smgrnn.config import PlasticityConfig
from smgrnn.graph import Graph, GraphEdit, apply, check
from smgrnn.rules import GROWTH, PRUNING, PlasticityModule, UpdateHistory
from smgrnn.rules.paper import Scale
from support import oracle
from support.decisions import decide
from support.flat import rules
from support.oracle import SlowChange, SlowEdge, SlowGraph, SlowHistory

N_CALLS = 24


# --- random graphs and updates, and translations to the library ----------------------------------


def random_graph(rng: np.random.Generator) -> SlowGraph:
    """Draw a graph with gaps in its ids, cycles, feedback and skip edges; half feed inputs too."""
    n_inputs, n_outputs, n_hidden = rng.integers((1, 1, 0), (4, 4, 9)).tolist()
    n_fixed = n_inputs + n_outputs
    hidden = n_fixed + np.sort(rng.choice(3 * n_hidden, n_hidden, replace=False))
    kinds = dict.fromkeys(range(n_inputs), "input")
    kinds |= dict.fromkeys(range(n_inputs, n_fixed), "output")
    kinds |= dict.fromkeys(hidden.tolist(), "hidden")
    graph = SlowGraph(kinds, {}, next_node_id=n_fixed + 3 * n_hidden, next_edge_id=0)
    feeds_inputs, density = rng.random() < 0.5, rng.choice((0.0, 0.1, 0.2, 0.3, 0.5, 1.0))
    chosen = [
        (u, v)
        for u, v in graph.all_pairs()
        if rng.random() < density and (feeds_inputs or kinds[v] != "input")
    ]
    ids = rng.permutation(2 * len(chosen))
    for pair, edge in zip(chosen, ids.tolist(), strict=False):
        graph.edges[pair] = SlowEdge(edge, float(rng.choice((0.0, 0.05, 0.5)) * rng.normal()))
    graph.next_edge_id = 2 * len(chosen)
    return graph


def random_updates(graph: SlowGraph, rng: np.random.Generator) -> dict[int, float]:
    """Draw updates in the manner of each edge: at rest, tiny, drifting, restless or mild."""
    manners = (0, 0), (0, 1e-9), (0.05, 0.01), (0.0, 0.3), (0.001, 0.02)
    ways = {edge.id: manners[edge.id % 5] for edge in graph.edges.values()}
    return {id: mean + std * float(rng.standard_normal()) for id, (mean, std) in ways.items()}


CHOICES: dict[str, tuple[Any, ...]] = {
    "window": (1, 2, 3, 5, 8, 13),
    "interval_width": (0.25, 0.5, 0.5, 1.0, 2.0),
    "fluctuation_threshold": (0.02, 0.1, 0.5, 2.0),
    "scale": get_args(Scale),
    "epsilon": (1e-8, 1e-8, 1e-3),
    "full_window": (True, False),
    "history_on_edit": ("keep", "reset", "reset_on_removal"),
    "prune_period": (1, 2, 3, 3, 4, 5, 6, 7),
    "max_relays": (None, None, 1, 2, 3),
    "initial_weight": (0.0, 0.01, 0.3),
    "new_weights": ("gaussian", "sign"),
    "explore_probability": (0.0, 0.25, 0.25, 1.0),
    "explore_ratio": (0.0, 0.01, 0.2, 0.5, 1.0),
    "explore_inputs": (True, False),
    "weight_threshold": (0.0, 0.1, 1.0, 10.0),
    "update_threshold": (0.0, 1e-4, 0.01, 0.1, 0.1),
    "prune_fraction": (0.1, 0.5, 0.8, 1.0),
    "orphan_removal": (True, True, True, True, True, False),
    "max_nodes": (5, 20, 25, 30, 30),
    "max_edges": (8, 80, 99, 120, 120),
}


def random_rules(rng: np.random.Generator, growth: str, pruning: str) -> PlasticityConfig:
    """Draw all settings that these rules and the module have."""
    kinds: Any = (PlasticityConfig, GROWTH.get(growth), PRUNING.get(pruning))
    own = {entry.name for kind in kinds if kind for entry in fields(kind)}
    drawn = {name: values[rng.integers(len(values))] for name, values in CHOICES.items()}
    names = {"growth": growth, "pruning": pruning}
    return rules(**names, **{name: drawn[name] for name in drawn if name in own})


def to_graph(slow: SlowGraph) -> Graph:
    place = {node: position for position, node in enumerate(slow.nodes())}
    pairs = slow.pairs()
    edges = [slow.edges[pair] for pair in pairs]
    graph = Graph(
        n_inputs=len(slow.of_kind("input")),
        n_outputs=len(slow.of_kind("output")),
        node_ids=np.array(slow.nodes(), dtype=np.int64),
        source=np.array([place[u] for u, _ in pairs], dtype=np.int64),
        target=np.array([place[v] for _, v in pairs], dtype=np.int64),
        weight=np.array([edge.weight for edge in edges], dtype=np.float64),
        edge_ids=np.array([edge.id for edge in edges], dtype=np.int64),
        next_node_id=slow.next_node_id,
        next_edge_id=slow.next_edge_id,
    )
    check(graph)
    return graph


def edge_ids(slow: SlowGraph) -> list[int]:
    return [slow.edges[pair].id for pair in slow.pairs()]


# --- whole sequences of calls --------------------------------------------------------------------


class Run:
    """The module at work on one random graph with random settings, in both worlds."""

    def __init__(self, seed: int, growth: str, pruning: str) -> None:
        self.task = np.random.default_rng(seed)
        self.rng, self.slow_rng = np.random.default_rng(seed), np.random.default_rng(seed)
        self.config = random_rules(self.task, growth, pruning)
        self.slow = random_graph(self.task)
        n_inputs = len(self.slow.of_kind("input"))
        kept = np.random.default_rng(seed).choice(n_inputs, seed % 3 % (n_inputs + 1), False)
        self.config = self.config.changed(keep_inputs=tuple(kept.tolist()))
        self.graph = to_graph(self.slow)
        self.history = UpdateHistory.start(self.graph.n_edges, self.config.window)
        self.slow_history = SlowHistory(self.config.window)
        self.slow_history.start(edge_ids(self.slow))

    def learn(self) -> None:
        """Move every weight a few times."""
        for _ in range(self.task.integers(2 * self.config.window + 2)):
            deltas = random_updates(self.slow, self.task)
            self.slow_history.push(deltas)
            for pair, edge in self.slow.edges.items():
                self.slow.edges[pair] = SlowEdge(edge.id, edge.weight + deltas[edge.id])
            delta = np.array([deltas[edge] for edge in edge_ids(self.slow)])
            self.history.push(delta)
            self.graph = self.graph._replace(weight=self.graph.weight + delta)

    def decide(self, call: int) -> oracle.SlowDecision:
        """Let both decide and act, and compare everything there is."""
        edit, _, is_capped = decide(self.graph, self.history, self.config, call, self.rng)
        expected = oracle.decide(self.slow, self.slow_history, self.config, call, self.slow_rng)
        found = [SlowChange(c.operation.name, c.cause.name, *c[2:]) for c in edit.changes()]
        assert found == expected.changes
        assert is_capped == expected.is_capped
        if edit:
            self.follow(edit)
            self.slow = oracle.apply(self.slow, expected.changes)
            self.slow_history.follow(self.config.history_on_edit, edge_ids(self.slow))
        assert self.graph == to_graph(self.slow)
        self.assert_same_history()
        return expected

    def follow(self, edit: GraphEdit) -> None:
        """Apply to the library's graph and history what the library decided."""
        former, applied = self.graph, apply(self.graph, edit)
        self.graph = applied.graph
        module = PlasticityModule(self.config, former, 1, self.rng)
        watched = module.start(former)._replace(history=self.history)
        self.history = module.carry(watched, *applied).history
        assert_same_origins(former.node_ids, self.graph.node_ids, applied.node_origin)
        assert_same_origins(former.edge_ids, self.graph.edge_ids, applied.edge_origin)

    def assert_same_history(self) -> None:
        mean, variance = self.history.statistics()
        for k, edge in enumerate(edge_ids(self.slow)):
            seen = list(self.slow_history.updates[edge])
            largest = max(map(abs, seen), default=0.0)
            assert self.history.updates(k).tolist() == seen
            assert abs(mean[k] - self.slow_history.mean(edge)) <= 1e-13 * largest
            assert abs(variance[k] - self.slow_history.variance(edge)) <= 1e-13 * largest**2


def assert_same_origins(before: Ints, after: Ints, origin: Ints) -> None:
    """Each origin is where the same id stood before the edit, or -1 for a new one."""
    places = {id: place for place, id in enumerate(before.tolist())}
    assert origin.tolist() == [places.get(id, -1) for id in after.tolist()]


RELAYS = ("ADD_NODE RELAY", "ADD_EDGE RELAY")
WEAK = ("REMOVE_EDGE WEAK_EDGE", "REMOVE_EDGE ORPHAN", "REMOVE_NODE ORPHAN")
EVENTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("relay", "weak"): (*RELAYS, "ADD_EDGE EXPLORATION", *WEAK, "nothing"),
    ("relay-alone", "weak"): (*RELAYS, *WEAK, "nothing"),
    ("exploration", "weak"): ("ADD_EDGE EXPLORATION", *WEAK, "nothing"),
    ("relay-random", "weak"): (*RELAYS, *WEAK),
    ("split", "weak"): ("ADD_NODE SPLIT", "ADD_EDGE SPLIT", "REMOVE_EDGE SPLIT"),
    ("duplicate", "weak"): ("ADD_NODE DUPLICATE", "ADD_EDGE DUPLICATE"),
    ("relay", "random"): ("REMOVE_EDGE RANDOM", "REMOVE_NODE ORPHAN"),
    ("relay", "none"): (*RELAYS, "REMOVE_NODE ORPHAN"),
    ("none", "weak"): WEAK,
}
"""What must happen often in the random sequences, or their agreement would mean nothing."""


@pytest.mark.parametrize(("growth", "pruning"), EVENTS)
def test_whole_sequences_of_calls_agree(growth: str, pruning: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(40 if (growth, pruning) == ("relay", "weak") else 20):
        run = Run(seed, growth, pruning)
        for call in range(1, N_CALLS + 1):
            run.learn()
            changes, is_capped = run.decide(call)
            seen.update({f"{c.operation} {c.cause}" for c in changes})
            seen.update(["limit"] * is_capped + ["nothing"] * (not changes))
        assert run.rng.bit_generator.state == run.slow_rng.bit_generator.state
    assert all(seen[event] >= 5 for event in EVENTS[growth, pruning]), seen
    assert growth == "none" or seen["limit"] >= 5


def test_every_rule_has_an_oracle() -> None:
    """Those of rules that follow a size are asked by `engine/test_learner_oracle.py`."""
    growth, pruning = ({names[k] for names in EVENTS} - {"none"} for k in range(2))
    assert growth | {"frugal", "candidates", "gradient"} == GROWTH.keys()
    assert pruning | {"contribution"} == PRUNING.keys()
