"""The paper read aloud: Sec. III-B to III-D with dicts, sets and loops, to test against.

Slow on purpose and independent of the library: it shares only the settings, and the conventions
that make two random decisions comparable.  Edges are considered by target and then by source, nodes
in the order inputs, outputs, hidden, each by ascending id.  Ids are given once, in order.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from smgrnn.config import PlasticityConfig
from smgrnn.graph import Graph

Pair = tuple[int, int]
KINDS = ("input", "output", "hidden")


class SlowEdge(NamedTuple):
    """What an edge has besides its two ends."""

    id: int
    weight: float


class SlowChange(NamedTuple):
    operation: str
    cause: str
    id: int
    source: int
    target: int
    weight: float


class SlowDecision(NamedTuple):
    """The changes of one call in order, and whether a limit kept it from growing more."""

    changes: list[SlowChange]
    is_capped: bool


# --- the graph, Sec. III-B -----------------------------------------------------------------------


@dataclass
class SlowGraph:
    """G = (V, E) by stable ids."""

    kinds: dict[int, str]
    edges: dict[Pair, SlowEdge]
    next_node_id: int
    next_edge_id: int

    def nodes(self) -> list[int]:
        """Node ids in order: inputs, outputs, hidden, each ascending."""
        return sorted(self.kinds, key=lambda node: (KINDS.index(self.kinds[node]), node))

    def of_kind(self, kind: str) -> list[int]:
        """Node ids of one kind, ascending."""
        return [node for node in self.nodes() if self.kinds[node] == kind]

    def pairs(self) -> list[Pair]:
        """The edges as (source, target), by target and then by source."""
        return [pair for pair in self.all_pairs() if pair in self.edges]

    def all_pairs(self) -> list[Pair]:
        """V × V without the diagonal, by target and then by source."""
        nodes = self.nodes()
        return [(u, v) for v in nodes for u in nodes if u != v]


def to_slow(graph: Graph) -> SlowGraph:
    counts = {"input": graph.n_inputs, "output": graph.n_outputs, "hidden": graph.n_hidden}
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    return SlowGraph(
        kinds=dict(zip(graph.node_ids.tolist(), kinds, strict=True)),
        edges={(e.source, e.target): SlowEdge(e.id, e.weight) for e in graph.edges()},
        next_node_id=graph.next_node_id,
        next_edge_id=graph.next_edge_id,
    )


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "sigmoid": lambda total: 1 / (1 + math.exp(-total)),
    "relu": lambda total: max(total, 0.0),
    "identity": lambda total: total,
}


def trace(
    graph: SlowGraph,
    states: dict[int, float],
    observation: list[float],
    iterations: int,
    activation: str = "tanh",
    output_activation: str = "tanh",
) -> list[dict[int, float]]:
    """Return all states before and after each of K synchronous iterations; they start at 0."""
    kinds = {"hidden": activation, "output": output_activation}
    clamped = dict(zip(graph.of_kind("input"), observation, strict=True))
    free = [node for node in graph.nodes() if node not in clamped]
    seen = [{node: states.get(node, 0.0) for node in free} | clamped]
    for _ in range(iterations):
        sums = dict.fromkeys(graph.kinds, 0.0)
        for (source, target), edge in graph.edges.items():
            sums[target] += edge.weight * seen[-1][source]
        after = {node: ACTIVATIONS[kinds[graph.kinds[node]]](sums[node]) for node in free}
        seen.append(after | clamped)
    return seen


# --- the update history, Sec. III-D --------------------------------------------------------------


@dataclass
class SlowHistory:
    """The last T updates of every edge, by edge id."""

    window: int
    updates: dict[int, deque[float]] = field(default_factory=dict)

    def start(self, edge_ids: Iterable[int]) -> None:
        """Forget everything; these are the edges now."""
        self.updates = {edge: deque(maxlen=self.window) for edge in edge_ids}

    def follow(self, on_edit: str, edge_ids: Iterable[int]) -> None:
        """Continue with the edges after an edit: known ones may keep their updates."""
        former = self.updates
        self.start(edge_ids)
        is_removal = not former.keys() <= self.updates.keys()
        if on_edit == "reset" or (on_edit == "reset_on_removal" and is_removal):
            return
        self.updates |= {edge: seen for edge, seen in former.items() if edge in self.updates}

    def push(self, deltas: dict[int, float]) -> None:
        for edge, delta in deltas.items():
            self.updates[edge].append(delta)

    def mean(self, edge: int) -> float:
        """μ of Eq. (1); 0 without updates."""
        seen = self.updates[edge]
        return math.fsum(seen) / len(seen) if seen else 0.0

    def variance(self, edge: int) -> float:
        """σ² of Eq. (1); 0 without updates."""
        seen, mean = self.updates[edge], self.mean(edge)
        return math.fsum((delta - mean) ** 2 for delta in seen) / len(seen) if seen else 0.0

    def is_judged(self, edge: int, config: PlasticityConfig) -> bool:
        return len(self.updates[edge]) >= (config.window if config.full_window else 1)


# --- the rules, Sec. III-C -----------------------------------------------------------------------


def is_unstable(mean: float, variance: float, weight: float, rule: Any) -> bool:
    """Whether the direction of an edge's updates is unresolved: Eqs. (2)-(4)."""
    sigma = math.sqrt(variance)
    low, high = mean - rule.interval_width * sigma, mean + rule.interval_width * sigma
    if not low <= 0 <= high:
        return False
    if rule.scale == "update":  # Eq. (3) as printed
        fluctuation = (sigma / (abs(mean) + rule.epsilon)) ** 2
    elif rule.scale == "variance_to_mean":
        fluctuation = variance / (abs(mean) + rule.epsilon)
    else:
        fluctuation = (sigma / (abs(weight) + rule.epsilon)) ** 2
    return bool(fluctuation > rule.fluctuation_threshold)


def unstable_edges(graph: SlowGraph, history: SlowHistory, config: PlasticityConfig) -> list[Pair]:
    """The edges that growth starts from, in edge order: Eq. (4)."""
    flagged = []
    for pair in graph.pairs():
        edge, weight = graph.edges[pair]
        mean, variance = history.mean(edge), history.variance(edge)
        if history.is_judged(edge, config) and is_unstable(mean, variance, weight, config.growth):
            flagged.append(pair)
    return flagged


def kept_paths(graph: SlowGraph, config: PlasticityConfig) -> set[Pair]:
    """The edges of a shortest path from each kept input to an output, strongest first."""
    circles, seen = [set(graph.of_kind("output"))], set(graph.of_kind("output"))
    while circles[-1]:
        circles.append({u for u, v in graph.edges if v in circles[-1] and u not in seen})
        seen |= circles[-1]
    kept = set[Pair]()
    for node in config.keep_inputs:
        far = next((far for far, circle in enumerate(circles) if node in circle), 0)
        for circle in reversed(circles[:far]):
            ways = [(u, v) for u, v in graph.pairs() if u == node and v in circle]
            kept.add(best := max(ways, key=lambda pair: abs(graph.edges[pair].weight)))
            node = best[1]
    return kept


def weak_edges(graph: SlowGraph, history: SlowHistory, config: PlasticityConfig) -> list[Pair]:
    """W_t in edge order: Eq. (7)."""
    flagged, rule, kept = [], cast(Any, config.pruning), kept_paths(graph, config)
    for pair in graph.pairs():
        if pair in kept:
            continue
        edge, weight = graph.edges[pair]
        is_small = abs(weight) <= rule.weight_threshold
        is_stalled = abs(history.mean(edge)) <= rule.update_threshold
        if history.is_judged(edge, config) and is_small and is_stalled:
            flagged.append(pair)
    return flagged


def orphans(graph: SlowGraph, pruned: Iterable[Pair]) -> set[int]:
    """U_t of Eq. (8), removed again and again until none is left."""
    edges = set(graph.edges) - set(pruned)
    hidden = set(graph.of_kind("hidden"))
    removed: set[int] = set()
    while True:
        sources, targets = {u for u, _ in edges}, {v for _, v in edges}
        found = {node for node in hidden if node not in sources or node not in targets}
        if not found:
            return removed
        removed |= found
        hidden -= found
        edges = {(u, v) for u, v in edges if u not in found and v not in found}


def missing_edges(graph: SlowGraph, explore_inputs: bool) -> list[Pair]:
    """S_t in edge order: Eq. (6), without edges into inputs unless asked for."""
    return [
        (u, v)
        for u, v in graph.all_pairs()
        if (u, v) not in graph.edges and (explore_inputs or graph.kinds[v] != "input")
    ]


def batch_size(n_nodes: int, explore_ratio: float) -> int:
    """m_t: Eq. (5)."""
    return max(math.floor(explore_ratio * n_nodes), 1)


def prune_count(n_weak: int, prune_fraction: float) -> int:
    """η of the weak edges, rounded half up, and never none of some."""
    return max(math.floor(prune_fraction * n_weak + 0.5), 1) if n_weak > 0 else 0


def subset(rng: np.random.Generator, n: int, size: int) -> list[int]:
    """Floyd's sample of `size` numbers below `n`, ascending."""
    if size == n:
        return list(range(n))
    chosen: set[int] = set()
    for top in range(n - size, n):
        number = int(rng.integers(0, top + 1))
        chosen.add(top if number in chosen else number)
    return sorted(chosen)


# --- one call of the module, Sec. III-C4 ---------------------------------------------------------


def decide(
    graph: SlowGraph,
    history: SlowHistory,
    config: PlasticityConfig,
    call: int,
    rng: np.random.Generator,
) -> SlowDecision:
    """Σ(t) of Eq. (9): prune at every s-th call, grow at the others."""
    if call % config.prune_period == 0:
        return SlowDecision(decide_pruning(graph, history, config, rng), False)
    if config.growth is None:
        return SlowDecision([], False)
    return decide_growth(graph, history, config, rng)


def new_weight(rule: Any, rng: np.random.Generator) -> float:
    drawn = float(rng.standard_normal())
    if rule.new_weights == "sign":
        drawn = math.copysign(1.0, drawn)
    return float(rule.initial_weight) * drawn


EDGES_EACH = {"relay": 2, "relay-alone": 2, "relay-random": 2, "split": 1, "duplicate": 0}
"""Edges that a rule is known to add with each node; a copy's are counted one by one."""


def decide_growth(
    graph: SlowGraph, history: SlowHistory, config: PlasticityConfig, rng: np.random.Generator
) -> SlowDecision:
    """Sec. III-C1 and III-C2; N_t and S_t are those before the nodes of this call."""
    rule = cast(Any, config.growth)
    unstable = unstable_edges(graph, history, config)
    n_edges, changes = len(graph.edges), list[SlowChange]()
    node, edge = graph.next_node_id, graph.next_edge_id

    n, each = 0, EDGES_EACH.get(rule.name, 0)
    if rule.name in EDGES_EACH:
        n = len(unstable) if rule.max_relays is None else min(len(unstable), rule.max_relays)
    wanted = n
    while n > 0 and (
        len(graph.kinds) + n > config.max_nodes or (each and n_edges + each * n > config.max_edges)
    ):
        n -= 1
    is_capped = n < wanted
    pool = graph.pairs() if rule.name == "relay-random" else unstable
    if rule.name == "split":  # which removes the edge
        pool = [pair for pair in unstable if pair not in kept_paths(graph, config)]
        n = min(n, len(pool))
    chosen = [pool[k] for k in subset(rng, len(pool), n)] if rule.name in EDGES_EACH else []
    explores = False
    if rule.name in ("relay", "exploration"):
        explores = bool(rng.random() < rule.explore_probability) or not unstable

    for i, j in chosen:
        old, gone, cause = graph.edges[i, j], [], rule.name.upper()
        if rule.name == "split":
            added, gone = [(i, node, 1.0), (node, j, old.weight)], [old]
        elif rule.name == "duplicate":
            into = [(u, node, graph.edges[u, v].weight) for u, v in graph.pairs() if v == i]
            copied = [(i, node, 1.0)] if graph.kinds[i] == "input" else into
            if n_edges + len(copied) + 1 > config.max_edges:
                is_capped = True
                break
            added = [*copied, (node, j, new_weight(rule, rng))]
        else:
            added, cause = [(i, node, new_weight(rule, rng))], "RELAY"
            added.append((node, j, new_weight(rule, rng)))
        changes.append(SlowChange("ADD_NODE", cause, node, i, j, 0.0))
        for u, v, weight in added:
            changes.append(SlowChange("ADD_EDGE", cause, edge, u, v, weight))
            edge += 1
        changes += [SlowChange("REMOVE_EDGE", cause, id, i, j, weight) for id, weight in gone]
        node, n_edges = node + 1, n_edges + len(added) - len(gone)

    if explores:
        missing = missing_edges(graph, rule.explore_inputs)
        wanted = min(batch_size(len(graph.kinds), rule.explore_ratio), len(missing))
        n = min(wanted, max(config.max_edges - n_edges, 0))
        is_capped = is_capped or n < wanted
        for k in subset(rng, len(missing), n):
            weight = new_weight(rule, rng)
            changes.append(SlowChange("ADD_EDGE", "EXPLORATION", edge, *missing[k], weight))
            edge += 1
    return SlowDecision(changes, is_capped)


def decide_pruning(
    graph: SlowGraph, history: SlowHistory, config: PlasticityConfig, rng: np.random.Generator
) -> list[SlowChange]:
    """Sec. III-C3: some weak edges, or as many of any, then the nodes that this orphans."""
    rule = cast(Any, config.pruning)
    if rule is None:
        return removals(graph, [], "WEAK_EDGE", config)
    weak = weak_edges(graph, history, config)
    free = [pair for pair in graph.pairs() if pair not in kept_paths(graph, config)]
    pool, cause = (weak, "WEAK_EDGE") if rule.name == "weak" else (free, "RANDOM")
    n_pruned = prune_count(len(weak), rule.prune_fraction)
    return removals(graph, [pool[k] for k in subset(rng, len(pool), n_pruned)], cause, config)


def removals(
    graph: SlowGraph, pruned: list[Pair], cause: str, config: PlasticityConfig
) -> list[SlowChange]:
    """The removal of these edges, in edge order, and of the nodes that this orphans."""
    orphaned = orphans(graph, pruned) if config.orphan_removal else set()
    loosened = [
        (u, v)
        for u, v in graph.pairs()
        if (u, v) not in pruned and (u in orphaned or v in orphaned)
    ]
    changes = []
    for why, removed in ((cause, pruned), ("ORPHAN", loosened)):
        for u, v in removed:
            edge, weight = graph.edges[u, v]
            changes.append(SlowChange("REMOVE_EDGE", why, edge, u, v, weight))
    changes += [
        SlowChange("REMOVE_NODE", "ORPHAN", node, -1, -1, 0.0)
        for node in graph.nodes()
        if node in orphaned
    ]
    return changes


def apply(graph: SlowGraph, changes: list[SlowChange]) -> SlowGraph:
    kinds, edges = dict(graph.kinds), dict(graph.edges)
    node, edge = graph.next_node_id, graph.next_edge_id
    for change in changes:
        pair = change.source, change.target
        if change.operation == "ADD_NODE":
            assert change.id == node
            kinds[node] = "hidden"
            node += 1
        elif change.operation == "ADD_EDGE":
            assert change.id == edge
            assert pair not in edges
            assert {change.source, change.target} <= set(kinds)
            edges[pair] = SlowEdge(edge, change.weight)
            edge += 1
        elif change.operation == "REMOVE_EDGE":
            assert edges.pop(pair).id == change.id
        else:
            assert kinds.pop(change.id) == "hidden"
            assert not any(change.id in pair for pair in edges)
    return SlowGraph(kinds, edges, node, edge)


# --- learning, Sec. III-A and III-D ---------------------------------------------------------------


class SlowPass(NamedTuple):
    states: list[dict[int, float]]
    """States of all nodes before the first iteration and after each."""
    errors: list[dict[int, float]]
    """dL/d(sum into each node) in each iteration."""


SLOPES: dict[str, Callable[[float], float]] = {  # by the state, not by the sum
    "tanh": lambda state: 1 - state**2,
    "sigmoid": lambda state: state * (1 - state),
    "relu": lambda state: float(state > 0),
    "identity": lambda state: 1.0,
}


@dataclass(kw_only=True)
class SlowLearner:
    """Plain gradient descent on one or several examples, and the module every so many updates."""

    graph: SlowGraph
    config: PlasticityConfig
    rng: np.random.Generator
    iterations: int
    learning_rate: float
    update: int | str = "step"
    pending: list[dict[Pair, float]] = field(default_factory=list)
    """Gradients of the examples since the last update."""
    activation: str = "tanh"
    """That of hidden nodes; outputs have tanh."""
    reads_sums: bool = False
    carries_state: bool = True
    states: dict[int, float] = field(default_factory=dict)
    updates: int = 0
    calls: int = 0
    last_call: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """How often each operation was done for each cause."""

    def __post_init__(self) -> None:
        self.history = SlowHistory(self.config.window)
        self.history.start(edge.id for edge in self.graph.edges.values())

    def learn(self, observation: list[float], label: int, is_last: bool = False) -> None:
        passed = self.run(observation, label)
        self.states = passed.states[-1]
        self.watch(passed)
        self.pending.append(self.gradient(passed))
        n = len(self.pending)
        updates = self.update == "step" or n == self.update or is_last
        if updates:
            self.updates, pairs = self.updates + 1, self.graph.edges
            self.descend({pair: sum(each[pair] for each in self.pending) / n for pair in pairs})
            self.pending = []
        if updates and self.is_due(is_last):
            self.calls, self.last_call = self.calls + 1, self.updates
            changes = self.decide()
            self.seen.update(f"{change.operation} {change.cause}" for change in changes)
            self.graph = apply(self.graph, changes)
            self.carry()
        if is_last:
            self.start_episode()

    def start_episode(self) -> None:
        self.states = {}

    def run(self, observation: list[float], label: int) -> SlowPass:
        """Run the network on an example, and backpropagate its cross-entropy."""
        before = self.states if self.carries_state else {}
        states = trace(self.graph, before, observation, self.iterations, self.activation)
        outputs, hidden = self.graph.of_kind("output"), self.graph.of_kind("hidden")
        read = dict.fromkeys(outputs, 0.0) if self.reads_sums else states[-1]
        if self.reads_sums:
            for (u, v), edge in self.graph.edges.items():
                read[v] = read.get(v, 0.0) + edge.weight * states[-2][u]
        odds = [math.exp(read[node]) for node in outputs]
        error = dict.fromkeys(hidden, 0.0)
        for place, node in enumerate(outputs):
            error[node] = odds[place] / math.fsum(odds) - (place == label)
            if not self.reads_sums:
                error[node] *= SLOPES["tanh"](states[-1][node])
        errors = [error]
        kinds = dict.fromkeys(outputs, "tanh") | dict.fromkeys(hidden, self.activation)
        for after in reversed(states[1:-1]):
            wanted = dict.fromkeys(self.graph.kinds, 0.0)  # dL/d(state)
            for (u, v), edge in self.graph.edges.items():
                wanted[u] += edge.weight * errors[0].get(v, 0.0)
            errors.insert(
                0, {node: wanted[node] * SLOPES[kinds[node]](after[node]) for node in kinds}
            )
        return SlowPass(states, errors)

    def watch(self, passed: SlowPass) -> None:
        """Note what rules other than the paper's ask for."""

    def gradient(self, passed: SlowPass) -> dict[Pair, float]:
        found = dict.fromkeys(self.graph.edges, 0.0)
        for states, errors in zip(passed.states, passed.errors, strict=False):
            for u, v in found:
                found[u, v] += errors.get(v, 0.0) * states[u]
        return found

    def descend(self, gradient: dict[Pair, float]) -> None:
        rate, deltas = self.rate(), {}
        for pair, (edge, weight) in list(self.graph.edges.items()):
            deltas[edge] = -rate * gradient[pair]
            self.graph.edges[pair] = SlowEdge(edge, weight + deltas[edge])
        self.history.push(deltas)

    def rate(self) -> float:
        return self.learning_rate

    def is_due(self, is_last: bool) -> bool:
        if self.config.interval == "episode":
            return is_last and self.updates - self.last_call >= self.least_updates()
        return self.updates % (self.config.interval or 1000) == 0

    def least_updates(self) -> float:
        assert self.config.least_updates is not None
        return self.config.least_updates

    def decide(self) -> list[SlowChange]:
        return decide(self.graph, self.history, self.config, self.calls, self.rng).changes

    def carry(self) -> None:
        edge_ids = (edge.id for edge in self.graph.edges.values())
        self.history.follow(self.config.history_on_edit, edge_ids)


@dataclass(kw_only=True)
class SlowLocalLearner(SlowLearner):
    """Descent along the gradients that a local learning rule gives."""

    rule: str
    feedback: dict[Pair, float]
    """By output and hidden node."""
    trace_decay: float
    traces: dict[Pair, float] = field(default_factory=dict)

    def start_episode(self) -> None:
        self.states, self.traces = {}, {}

    def gradient(self, passed: SlowPass) -> dict[Pair, float]:
        if not self.carries_state:
            self.traces = {}
        seen, errors = passed.states, passed.errors[-1]
        outputs, hidden = self.graph.of_kind("output"), self.graph.of_kind("hidden")
        found = dict.fromkeys(self.graph.edges, 0.0)
        for u, v in found:
            if v in outputs:
                found[u, v] = errors[v] * seen[-2][u]
            elif v in hidden:
                did = self.eligibility((u, v), seen)
                for output in outputs if self.rule != "outputs" else ():
                    found[u, v] += self.feedback[output, v] * errors[output] * did
        return found

    def eligibility(self, pair: Pair, seen: list[dict[int, float]]) -> float:
        """What an edge into a hidden node did, as far as it has reached the outputs."""
        u, v = pair
        slope = SLOPES[self.activation]
        did = [before[u] * slope(after[v]) for before, after in pairwise(seen)]
        if self.rule == "feedback":
            return sum(did[:-1])
        trace = self.traces.get(pair, 0.0)
        for each in did[:-1]:
            trace = self.trace_decay * trace + each
        self.traces[pair] = self.trace_decay * trace + did[-1]
        return trace
