"""Growth by candidates and gradients, pruning by contribution, read aloud as in `oracle`.

Slow on purpose and independent of the library: dicts by node and edge ids, a backward pass of its
own, and numbers written out again; only the size to aim at is the library's, which `test_size` has
by hand.  The conventions are those of `oracle`; candidates are drawn
from the least worthy to the worthiest, each its sources first and then their weights.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from smgrnn.rules.size import Aim, Goal
from support.oracle import (
    ACTIVATIONS,
    Pair,
    SlowChange,
    SlowGraph,
    SlowLearner,
    SlowPass,
    orphans,
    removals,
    subset,
)

# --- what is noticed between two calls -----------------------------------------------------------


@dataclass
class Notes:
    """Sums over the updates since the last call, by node and by pair of nodes."""

    n: int = 0
    squares: dict[int, float] = field(default_factory=dict)
    strains: dict[int, float] = field(default_factory=dict)
    products: dict[Pair, float] = field(default_factory=dict)
    seen: dict[int, set[float]] = field(default_factory=dict)
    """Two different states of each node, or the only one that it had."""

    def add(self, passed: SlowPass, pairs: list[Pair]) -> None:
        """Note one update; an output hears the states before the last iteration."""
        self.n += 1
        for node, state in passed.states[-2].items():
            self.squares[node] = self.squares.get(node, 0.0) + state**2
            seen = self.seen.setdefault(node, set())
            if len(seen) < 2:
                seen.add(state)
        for node in passed.errors[0]:
            error = sum(by_iteration[node] for by_iteration in passed.errors)
            self.strains[node] = self.strains.get(node, 0.0) + error**2
        for u, v in pairs:
            for states, errors in zip(passed.states, passed.errors, strict=False):
                self.products[u, v] = self.products.get((u, v), 0.0) + errors[v] * states[u]

    def square(self, node: int) -> float:
        return self.squares[node] / self.n

    def strain(self, node: int) -> float:
        return self.strains[node] / self.n

    def pull(self, pair: Pair) -> float:
        """The gradient of an absent edge, for a source of mean square 1."""
        square = self.square(pair[0])
        return abs(self.products[pair] / self.n) / math.sqrt(square) if square > 0 else 0.0

    def is_constant(self, node: int) -> bool:
        """Whether a node was seen more than once and never changed."""
        return self.n > 1 and len(self.seen[node]) == 1


def absent_pairs(graph: SlowGraph) -> list[Pair]:
    """All (source, target) without an edge: no edges into inputs, none out of outputs."""
    return [
        (u, v)
        for u, v in graph.all_pairs()
        if (u, v) not in graph.edges and graph.kinds[v] != "input" and graph.kinds[u] != "output"
    ]


# --- candidates ----------------------------------------------------------------------------------


@dataclass
class Candidate:
    """A node that is not in the graph."""

    weights: dict[int, float] = field(default_factory=dict)
    """By source; without any it hears nothing."""
    loop: float = 0.0
    """The weight of the edge from its twin, which repeats its state one iteration later."""
    state: float = 0.0
    twin: float = 0.0
    count: int = 0
    square: float = 0.0
    products: dict[int, float] = field(default_factory=dict)
    """By output, the sum of error times state."""

    def watch(self, passed: SlowPass, outputs: list[int], activation: str, starts: bool) -> None:
        """Watch a pass; outputs hear the states before the last iteration."""
        phi, heard_by_outputs = ACTIVATIONS[activation], 0.0
        if starts:
            self.state = self.twin = 0.0
        for states, errors in zip(passed.states, [*passed.errors[1:], None], strict=False):
            heard = math.fsum(weight * states[node] for node, weight in self.weights.items())
            self.state, self.twin = phi(heard + self.loop * self.twin), phi(self.state)
            if errors is not None:
                heard_by_outputs = self.state
                for node in outputs:
                    self.products[node] = self.products.get(node, 0.0) + errors[node] * self.state
        self.square += heard_by_outputs**2
        self.count += 1

    def is_judged(self) -> bool:
        return bool(self.weights) and self.count >= 500

    def score(self, output: int) -> float:
        """How it goes along with the error at an output, for a state of mean square 1."""
        if not self.is_judged() or self.square == 0:
            return 0.0
        return self.products[output] / self.count / math.sqrt(self.square / self.count)

    def forget(self) -> None:
        self.count, self.square, self.products = 0, 0.0, {}


# --- the learner ---------------------------------------------------------------------------------


@dataclass(kw_only=True)
class FrugalLearner(SlowLearner):
    """A learner with the rules of our own; `seen` also counts candidates that lost a source."""

    schedule: str = "constant"
    averaging: float = 0.0
    candidates_rest: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        growth, pruning = cast(Any, self.config.growth), cast(Any, self.config.pruning)
        self.aim = Aim(size=self.config.size or 0, start=len(self.graph.edges))
        self.notes, self.growth, self.dense_until = Notes(), growth, pruning.dense_until
        self.has_candidates = growth.name in ("frugal", "candidates")
        self.has_gradients = growth.name in ("frugal", "gradient")
        n_candidates = growth.n_candidates if self.has_candidates else 0
        self.candidates = [Candidate() for _ in range(n_candidates)]
        self.pairs = absent_pairs(self.graph) if self.has_gradients else []
        self.born = {edge.id: 0 for edge in self.graph.edges.values()}
        self.averages: dict[int, float] = {}

    def watch(self, passed: SlowPass) -> None:
        self.notes.add(passed, self.pairs)
        if self.has_candidates and not self.candidates_rest:
            first, inputs = passed.states[0], self.graph.of_kind("input")
            starts = not self.carries_state or not any(first[n] for n in first if n not in inputs)
            for candidate in self.candidates:
                candidate.watch(passed, self.graph.of_kind("output"), self.activation, starts)

    def rate(self) -> float:
        progress = self.aim.progress
        if self.schedule == "constant" or progress <= 0.5:
            return self.learning_rate
        return self.learning_rate * (1.0 + (0.05 - 1.0) * (min(progress, 1.0) - 0.5) * 2)

    def descend(self, gradient: dict[Pair, float]) -> None:
        super().descend(gradient)
        for edge, weight in self.graph.edges.values():
            age, mean = self.updates - self.born[edge], self.averages.get(edge, 0.0)
            self.averages[edge] = mean + max(self.averaging, 1 / age) * (weight - mean)

    def least_updates(self) -> float:
        """A hundredth of the run, which is as long as its part so far says; at most 2500."""
        if self.config.least_updates is not None:
            return self.config.least_updates
        progress = self.aim.progress
        if progress < 0:
            return 1000
        return sorted((500.0, self.updates / progress / 100 if progress else math.inf, 2500.0))[1]

    def decide(self) -> list[SlowChange]:
        is_growing = self.calls % self.config.prune_period != 0
        outputs = self.graph.of_kind("output")
        strain = sum(map(self.notes.strain, outputs)) if self.notes.n else math.nan
        asked: Any = {"is_growing": is_growing, "dense_until": self.dense_until}
        goal = self.aim.goal(len(self.graph.edges), strain, **asked)
        return self.grow(goal) if is_growing else self.prune(goal)

    def carry(self) -> None:
        super().carry()
        for edge in self.graph.edges.values():
            self.born.setdefault(edge.id, self.updates)
        for candidate in self.candidates:
            if not candidate.weights.keys() <= self.graph.kinds.keys():
                candidate.weights, candidate.loop = {}, 0.0
                self.seen["LOST SOURCE"] += 1
        if self.has_gradients:
            self.pairs = absent_pairs(self.graph)
        self.notes = Notes()

    # --- growth ---

    def grow(self, goal: Goal) -> list[SlowChange]:
        """Join the best candidate if there is room, and add the best absent edges."""
        changes: list[SlowChange] = []
        joined = None
        if self.has_candidates and goal.grows:
            joined = self.best_candidate()
        if joined is not None:
            changes = self.join(joined)
            n_nodes = 2 if joined.loop else 1
            n_new, n_edges = len(changes) - n_nodes, len(self.graph.edges)
            is_tight = n_new > max(goal.size - n_edges, 0) + goal.slack
            is_full = n_edges + n_new > self.config.max_edges
            if is_tight or is_full or len(self.graph.kinds) + n_nodes > self.config.max_nodes:
                changes, joined = [], None
        if self.has_gradients:
            n_taken = sum(change.operation == "ADD_EDGE" for change in changes)
            changes += self.add_edges(goal, n_taken)
        if self.has_candidates:
            self.renew(goal, joined)
        return changes

    def best_candidate(self) -> Candidate | None:
        """The one that would change most at the two outputs where it changes most."""
        outputs = self.graph.of_kind("output")
        best, most = None, 0.0
        for candidate in self.candidates:
            total = sum(sorted(abs(candidate.score(node)) for node in outputs)[-2:])
            if total > most:
                best, most = candidate, total
        return best

    def join(self, candidate: Candidate) -> list[SlowChange]:
        """Its node and twin, its edges, and weak ones to two outputs that lower the loss."""
        outputs = self.graph.of_kind("output")
        outputs.sort(key=lambda output: -abs(candidate.score(output)))
        node, edge = self.graph.next_node_id, self.graph.next_edge_id
        ends = [(source, node, weight) for source, weight in candidate.weights.items()]
        if candidate.loop:
            ends += [(node, node + 1, 1.0), (node + 1, node, candidate.loop)]
        for output in outputs[:2]:
            strength = 0.1 / math.sqrt(candidate.square / candidate.count)
            ends.append((node, output, -math.copysign(strength, candidate.score(output))))
        changes = [SlowChange("ADD_NODE", "CANDIDATE", node, -1, outputs[0], 0.0)]
        if candidate.loop:
            changes.append(SlowChange("ADD_NODE", "CANDIDATE", node + 1, -1, node, 0.0))
            self.seen["TWIN"] += 1
        for number, (source, target, weight) in enumerate(ends, start=edge):
            changes.append(SlowChange("ADD_EDGE", "CANDIDATE", number, source, target, weight))
        return changes

    def add_edges(self, goal: Goal, n_taken: int) -> list[SlowChange]:
        """The absent edges to add: up to two, or one that takes another's place."""
        n_edges = len(self.graph.edges) + n_taken
        chosen: list[Pair] = []
        if goal.grows:
            room = max(goal.size - n_edges, 0) + goal.slack
            n_wanted = min(2, room, self.config.max_edges - n_edges)
            promising = [pair for pair in self.pairs if self.notes.pull(pair) > 0]
            promising.sort(key=lambda pair: -self.notes.pull(pair))
            chosen = promising[: max(n_wanted, 0)]
        elif goal.swaps and n_edges < self.config.max_edges:
            swap = self.best_swap()
            chosen = [] if swap is None else [swap]
        edge = self.graph.next_edge_id + n_taken
        return [
            SlowChange("ADD_EDGE", "GRADIENT", edge + k, *pair, 0.0)
            for k, pair in enumerate(chosen)
        ]

    def best_swap(self) -> Pair | None:
        """The absent edge that promises twice the worth of the weakest and 1 % of the error."""
        best, most = None, 0.0
        for pair in self.pairs:
            strain = self.notes.strain(pair[1])
            worth = self.notes.pull(pair) ** 2 / 2 / strain if strain > 0 else 0.0
            if worth > most:
                best, most = pair, worth
        total = sum(self.notes.strain(node) for node in self.graph.of_kind("output"))
        loss = 0.0
        if self.graph.edges:
            u, v = self.weakest(self.graph.edges)
            weight = self.graph.edges[u, v].weight
            loss = weight**2 * self.notes.square(u) * self.notes.strain(v) / 2
        return best if most > 2 * loss and most > 0.01 * total else None

    def renew(self, goal: Goal, joined: Candidate | None) -> None:
        """Draw anew who joined, who is worth nothing, and the worse half of those judged."""
        if goal.is_over:
            self.candidates_rest = True
            return
        outputs = self.graph.of_kind("output")

        def worth(candidate: Candidate) -> float:
            return sum(abs(candidate.score(node)) for node in outputs)

        ranked = sorted(self.candidates, key=worth)
        for place, candidate in enumerate(ranked):
            if candidate.weights and not candidate.is_judged():
                continue  # it is watched on
            is_worse = place < len(ranked) / 2
            if worth(candidate) == 0 or candidate is joined or is_worse:
                self.draw(candidate)
            candidate.forget()

    def draw(self, candidate: Candidate) -> None:
        """Let it hear other nodes: hidden ones too, if an output can hear of it in time."""
        nodes = self.graph.of_kind("input")
        n_sources = min(self.growth.candidate_sources, len(nodes))
        if self.iterations >= 3:
            nodes += self.graph.of_kind("hidden")
        candidate.weights = {}
        for place in subset(self.rng, len(nodes), n_sources):
            usual = max(math.sqrt(self.notes.square(nodes[place])), 1e-3)
            number = self.growth.candidate_gain * float(self.rng.standard_normal())
            candidate.weights[nodes[place]] = number / usual
        candidate.state = candidate.twin = candidate.loop = 0.0
        if self.carries_state and self.rng.random() < 0.5:  # remembers one source
            only = list(candidate.weights)[int(self.rng.integers(n_sources))]
            candidate.weights = {only: candidate.weights[only]}
            candidate.loop = 1 - 2 ** -float(self.rng.uniform(1, 5))

    # --- pruning ---

    def weakest(self, pairs: Iterable[Pair]) -> Pair:
        """The edge that carries least; one of less than 1000 updates only if all are."""
        among = set(pairs)
        ordered = [pair for pair in self.graph.pairs() if pair in among]
        born = {pair: self.born[self.graph.edges[pair].id] for pair in ordered}
        old = [pair for pair in ordered if self.updates - born[pair] >= 1000]
        return min(old or ordered, key=self.carried)

    def carried(self, pair: Pair) -> float:
        """|weight| times the root mean square of the source."""
        return abs(self.graph.edges[pair].weight) * math.sqrt(self.notes.square(pair[0]))

    def prune(self, goal: Goal) -> list[SlowChange]:
        """Take the weakest edge, and all that does nothing without it, until the size is right."""
        left = set(self.graph.edges)
        while len(left) > goal.size and self.notes.n > 0:
            left.remove(self.weakest(left))
            left = self.still_useful(left)
        pruned = [pair for pair in self.graph.pairs() if pair not in left]
        return removals(self.graph, pruned, "CONTRIBUTION", self.config)

    def still_useful(self, left: set[Pair]) -> set[Pair]:
        """Without edges into hidden nodes that hear only constants, and without orphans' edges."""
        informed = {v for u, v in left if not self.notes.is_constant(u)}
        kinds = self.graph.kinds
        left = {(u, v) for u, v in left if kinds[v] != "hidden" or v in informed}
        gone = orphans(self.graph, set(self.graph.edges) - left)
        return {(u, v) for u, v in left if u not in gone and v not in gone}
