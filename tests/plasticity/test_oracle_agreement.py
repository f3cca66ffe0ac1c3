"""The library and the paper read aloud (`oracle`) agree on hundreds of random graphs."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from smgrnn.plasticity import RuleNumbers, UpdateHistory
from smgrnn.plasticity.draw import subset
from smgrnn.plasticity.exploration import missing_before, missing_edges
from smgrnn.plasticity.instability import unstable_edges
from smgrnn.plasticity.numbers import SCALES
from smgrnn.plasticity.orphans import orphans
from smgrnn.plasticity.weak import weak_edges

from smgrnn import SMGrNN
from smgrnn.config import PlasticityConfig, Scale
from smgrnn.graph import Cause, Graph, GraphEdit, Operation, apply, check
from smgrnn.rules.history import carry_history, reset_history
from support import oracle
from support.decisions import decide, evidence
from support.flat import rules
from support.oracle import SlowChange, SlowEdge, SlowGraph, SlowHistory

N_SEQUENCES, N_CALLS = 200, 24


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


def random_update(rng: np.random.Generator, edge: int) -> float:
    """Draw an update in the manner of this edge: at rest, tiny, drifting, restless or mild."""
    mean, std = ((0, 0), (0, 1e-9), (0.05, 0.01), (0.0, 0.3), (0.001, 0.02))[edge % 5]
    return mean + std * float(rng.standard_normal())


def random_updates(graph: SlowGraph, rng: np.random.Generator) -> dict[int, float]:
    return {edge.id: random_update(rng, edge.id) for edge in graph.edges.values()}


def random_config(rng: np.random.Generator) -> PlasticityConfig:
    choices: dict[str, tuple[Any, ...]] = {
        "window": (1, 2, 3, 5, 8, 13),
        "interval_width": (0.25, 0.5, 0.5, 1.0, 2.0),
        "fluctuation_threshold": (0.02, 0.1, 0.5, 2.0),
        "scale": SCALES,
        "epsilon": (1e-8, 1e-8, 1e-3),
        "full_window": (True, False),
        "history_on_edit": ("keep", "reset"),
        "prune_period": (1, 2, 3, 3, 4, 5, 6, 7),
        "growth": (*("relay",) * 6, "relay-alone", "exploration"),
        "max_relays": (None, None, 1, 2, 3),
        "initial_weight": (0.0, 0.01, 0.3),
        "new_weights": ("gaussian", "sign"),
        "explore_probability": (0.0, 0.25, 0.25, 1.0),
        "explore_ratio": (0.0, 0.01, 0.2, 0.5, 1.0),
        "explore_inputs": (True, False),
        "pruning": (*("weak",) * 5, "none"),
        "weight_threshold": (0.0, 0.1, 1.0, 10.0),
        "update_threshold": (0.0, 1e-4, 0.01, 0.1, 0.1),
        "prune_fraction": (0.1, 0.5, 0.8, 1.0),
        "orphan_removal": (True, True, True, True, True, False),
        "max_nodes": (5, 20, 25, 30, 30),
        "max_edges": (8, 80, 99, 120, 120),
    }
    return rules(**{k: v[rng.integers(len(v))] for k, v in choices.items()})


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


def to_edit(changes: list[SlowChange]) -> GraphEdit:
    rows = [[Operation[c.operation], Cause[c.cause], c.id, c.source, c.target] for c in changes]
    weight = np.array([change.weight for change in changes], dtype=np.float64)
    return GraphEdit(np.array(rows, dtype=np.int64).reshape(-1, 5), weight)


def in_words(edit: GraphEdit) -> list[SlowChange]:
    return [SlowChange(c.operation.name, c.cause.name, *c[2:]) for c in edit.changes()]


def edge_ids(slow: SlowGraph) -> list[int]:
    return [slow.edges[pair].id for pair in slow.pairs()]


def in_edge_order(slow: SlowGraph, values: dict[int, float]) -> np.ndarray[Any, Any]:
    return np.array([values[edge] for edge in edge_ids(slow)], dtype=np.float64)


def both_histories(
    slow: SlowGraph, window: int, rng: np.random.Generator
) -> tuple[UpdateHistory, SlowHistory]:
    """Return one random history twice."""
    history, slow_history = UpdateHistory.start(len(slow.edges), window), SlowHistory(window)
    slow_history.start(edge_ids(slow))
    for _ in range(rng.integers(3 * window + 1)):
        deltas = random_updates(slow, rng)
        slow_history.push(deltas)
        history.push(in_edge_order(slow, deltas))
    return history, slow_history


def assert_same_graph(graph: Graph, slow: SlowGraph) -> None:
    expected = to_graph(slow)
    for name in Graph._fields:
        assert np.array_equal(getattr(graph, name), getattr(expected, name)), name


def assert_same_history(history: UpdateHistory, slow: SlowHistory, ids: list[int]) -> None:
    counts = history.counts()
    mean, variance = history.statistics()
    assert len(ids) == counts.size == mean.size == variance.size
    assert counts.tolist() == [len(slow.updates[edge]) for edge in ids]
    for k, edge in enumerate(ids):
        seen = list(slow.updates[edge])
        largest = max(map(abs, seen), default=0.0)
        assert history.updates(k).tolist() == seen
        assert abs(mean[k] - slow.mean(edge)) <= 1e-13 * largest
        assert abs(variance[k] - slow.variance(edge)) <= 1e-13 * largest**2


# --- the network as a function -------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("seed", range(30))
def test_node_states_agree_over_carried_calls_and_edits(seed: int, iterations: int) -> None:
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    config = replace(random_config(rng), growth="relay", full_window=False, max_nodes=40)
    graph = to_graph(slow)
    phi, phi_out = rng.choice(sorted(oracle.ACTIVATIONS), 2).tolist()
    net = SMGrNN(
        graph.n_inputs,
        graph.n_outputs,
        graph=graph,
        dtype=torch.float64,
        iterations=iterations,
        activation=phi,
        output_activation=phi_out,
        state_dim=2,
    )
    states: list[dict[int, float]] = [{}, {}]  # one network of scalars per feature
    for call in range(1, 7):
        observation = rng.normal(size=(graph.n_inputs, 2))
        output = net(torch.tensor(observation))
        for feature in range(2):
            values = observation[:, feature].tolist()
            states[feature] = oracle.forward(
                slow, states[feature], values, iterations, phi, phi_out
            )
        expected = [[features[node] for features in states] for node in slow.nodes()]
        free = torch.tensor(expected[graph.n_inputs :], dtype=torch.float64)
        assert net.state is not None
        torch.testing.assert_close(net.state, free, rtol=1e-12, atol=1e-14)
        assert torch.equal(output, net.state[: graph.n_outputs])
        _, history = both_histories(slow, config.window, rng)
        changes = oracle.decide(slow, history, config, call, rng).changes
        slow = oracle.apply(slow, changes)
        net.restructure(to_edit(changes))


@pytest.mark.parametrize("seed", range(5))
def test_node_states_start_from_zero_at_every_call_that_does_not_carry_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    graph = to_graph(slow)
    settings: dict[str, Any] = {"graph": graph, "dtype": torch.float64, "carry_state": False}
    net = SMGrNN(graph.n_inputs, graph.n_outputs, iterations=2, **settings)
    for observation in rng.normal(size=(3, graph.n_inputs)):
        states = oracle.forward(slow, {}, observation.tolist(), 2)
        net(torch.tensor(observation))
        assert net.state is not None
        free = [states[node] for node in slow.nodes()[graph.n_inputs :]]
        assert net.state.tolist() == pytest.approx(free, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_gradients_are_the_slopes_of_the_oracle_within_one_call(seed: int, iterations: int) -> None:
    """Earlier calls count as constants: their states are detached."""
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    graph = to_graph(slow)
    net = SMGrNN(
        graph.n_inputs, graph.n_outputs, graph=graph, dtype=torch.float64, iterations=iterations
    )
    first, second = rng.normal(size=(2, graph.n_inputs)).tolist()
    carried = oracle.forward(slow, {}, first, iterations)
    net(torch.tensor(first, dtype=torch.float64))
    net(torch.tensor(second, dtype=torch.float64)).sum().backward()

    def total(pair: tuple[int, int], nudge: float) -> float:
        edge = slow.edges[pair]
        nudged = replace(slow, edges=slow.edges | {pair: SlowEdge(edge.id, edge.weight + nudge)})
        after = oracle.forward(nudged, carried, second, iterations)
        return sum(after[node] for node in slow.of_kind("output"))

    slopes = [(total(pair, 1e-5) - total(pair, -1e-5)) / 2e-5 for pair in slow.pairs()]
    assert net.weight.grad is not None
    assert net.weight.grad.tolist() == pytest.approx(slopes, rel=1e-6, abs=1e-8)


# --- each rule on its own ------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("seed", range(10))
def test_window_statistics_agree(seed: int, window: int) -> None:
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    history, slow_history = both_histories(slow, window, rng)
    assert_same_history(history, slow_history, edge_ids(slow))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(40))
def test_unstable_edges_agree(seed: int, scale: Scale) -> None:
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    config = replace(random_config(rng), scale=scale, full_window=False)
    history, slow_history = both_histories(slow, config.window, rng)
    seen = evidence(to_graph(slow), *history.statistics())
    flags = unstable_edges(seen, RuleNumbers.of(config))
    expected = oracle.unstable_edges(slow, slow_history, config)
    assert [pair for pair, flag in zip(slow.pairs(), flags, strict=True) if flag] == expected


@pytest.mark.parametrize("seed", range(40))
def test_weak_edges_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    config = replace(random_config(rng), full_window=False)
    history, slow_history = both_histories(slow, config.window, rng)
    history.push(np.zeros(len(slow.edges)))  # so that no window is empty and every edge is judged
    slow_history.push(dict.fromkeys(edge_ids(slow), 0.0))
    seen = evidence(to_graph(slow), *history.statistics())
    flags = weak_edges(seen, RuleNumbers.of(config))
    expected = oracle.weak_edges(slow, slow_history, config)
    assert [pair for pair, flag in zip(slow.pairs(), flags, strict=True) if flag] == expected


@pytest.mark.parametrize("seed", range(60))
def test_orphans_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slow = random_graph(rng)
    stays = rng.random(len(slow.edges)) < rng.choice((0.3, 0.6, 0.9))
    pruned = [pair for pair, stay in zip(slow.pairs(), stays, strict=True) if not stay]
    graph = to_graph(slow)
    assert set(graph.node_ids[orphans(graph, stays)].tolist()) == oracle.orphans(slow, pruned)


@pytest.mark.parametrize("explore_inputs", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_missing_edges_agree_at_every_rank(seed: int, explore_inputs: bool) -> None:
    slow = random_graph(np.random.default_rng(seed))
    graph = to_graph(slow)
    before = missing_before(graph, explore_inputs)
    pairs = graph.node_ids[missing_edges(graph, before, np.arange(before[-1]))]
    assert list(map(tuple, pairs.tolist())) == oracle.missing_edges(slow, explore_inputs)


def test_subsets_agree_and_leave_the_generator_in_the_same_state() -> None:
    ours, theirs = np.random.default_rng(7), np.random.default_rng(7)
    for n in (*range(12), 1000, 2**33):
        for size in range(min(n, 12) + 1):
            assert subset(ours, n, size).tolist() == oracle.subset(theirs, n, size)
    assert ours.bit_generator.state == theirs.bit_generator.state


# --- whole runs of the module --------------------------------------------------------------------


class Run:
    """The module at work on one random graph under one random configuration, in both worlds."""

    def __init__(self, seed: int, **rules: Any) -> None:
        self.task = np.random.default_rng(seed)
        self.rng, self.slow_rng = np.random.default_rng(seed), np.random.default_rng(seed)
        self.config = replace(random_config(self.task), **rules)
        self.slow = random_graph(self.task)
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
            delta = in_edge_order(self.slow, deltas)
            self.history.push(delta)
            self.graph = self.graph._replace(weight=self.graph.weight + delta)

    def decide(self, call: int) -> oracle.SlowDecision:
        """Let both decide and act, and compare everything there is."""
        edit, is_capped = decide(self.graph, self.history, self.config, call, self.rng)
        expected = oracle.decide(self.slow, self.slow_history, self.config, call, self.slow_rng)
        assert in_words(edit) == expected.changes
        assert is_capped == expected.is_capped
        if edit:
            self.follow(edit)
            self.slow = oracle.apply(self.slow, expected.changes)
            if self.config.history_on_edit == "keep":
                self.slow_history.keep(edge_ids(self.slow))
            else:
                self.slow_history.start(edge_ids(self.slow))
        assert_same_graph(self.graph, self.slow)
        assert_same_history(self.history, self.slow_history, edge_ids(self.slow))
        return expected

    def follow(self, edit: GraphEdit) -> None:
        """Do what the library decided to the library's graph and history."""
        former, applied = self.graph, apply(self.graph, edit)
        self.graph = applied.graph
        if self.config.history_on_edit == "keep":
            self.history = carry_history(self.history, applied.edge_origin)
        else:
            self.history = reset_history(self.history, self.graph.n_edges)
        assert_same_origins(former.node_ids, self.graph.node_ids, applied.node_origin)
        assert_same_origins(former.edge_ids, self.graph.edge_ids, applied.edge_origin)


def assert_same_origins(
    before: np.ndarray[Any, Any], after: np.ndarray[Any, Any], origin: np.ndarray[Any, Any]
) -> None:
    """Each origin is where the same id stood before the edit, or -1 for a new one."""
    places = {id: place for place, id in enumerate(before.tolist())}
    assert origin.tolist() == [places.get(id, -1) for id in after.tolist()]


@pytest.mark.parametrize("seed", range(N_SEQUENCES))
def test_whole_edit_sequences_agree(seed: int) -> None:
    run = Run(seed)
    for call in range(1, N_CALLS + 1):
        run.learn()
        run.decide(call)
    assert run.rng.bit_generator.state == run.slow_rng.bit_generator.state


OPERATORS = [
    ("growth", "relay-random", ["ADD_NODE RELAY", "ADD_EDGE RELAY"]),
    ("growth", "split", ["ADD_NODE SPLIT", "ADD_EDGE SPLIT", "REMOVE_EDGE SPLIT"]),
    ("growth", "duplicate", ["ADD_NODE DUPLICATE", "ADD_EDGE DUPLICATE"]),
    ("pruning", "random", ["REMOVE_EDGE RANDOM", "REMOVE_NODE ORPHAN"]),
]


@pytest.mark.parametrize(("kind", "name", "events"), OPERATORS, ids=[each[1] for each in OPERATORS])
def test_whole_sequences_of_other_operators_agree(kind: str, name: str, events: list[str]) -> None:
    """Every event happens often, and growth meets its limits."""
    seen: Counter[str] = Counter()
    for seed in range(40):
        run = Run(seed, **{kind: name})
        for call in range(1, N_CALLS + 1):
            run.learn()
            decision = run.decide(call)
            seen.update({f"{c.operation} {c.cause}" for c in decision.changes})
            seen["limit"] += decision.is_capped
        assert run.rng.bit_generator.state == run.slow_rng.bit_generator.state
    assert all(seen[event] >= 20 for event in (*events, "limit")), seen


def test_the_random_sequences_exercise_every_rule_and_limit() -> None:
    """Guards the test above: agreement on sequences where nothing happens would mean nothing."""
    seen: Counter[str] = Counter()
    for seed in range(20):
        run = Run(seed)
        for call in range(1, N_CALLS + 1):
            run.learn()
            decision = run.decide(call)
            seen.update({f"{c.operation} {c.cause}" for c in decision.changes})
            seen["limit"] += decision.is_capped
            seen["nothing"] += not decision.changes
    added = "ADD_NODE RELAY", "ADD_EDGE RELAY", "ADD_EDGE EXPLORATION"
    removed = "REMOVE_EDGE WEAK_EDGE", "REMOVE_EDGE ORPHAN", "REMOVE_NODE ORPHAN"
    assert all(seen[event] >= 20 for event in (*added, *removed, "limit", "nothing")), seen
