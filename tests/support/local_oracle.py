"""Local learning rules read aloud, with dicts and loops, to test against.

Slow on purpose and independent of the library, as `oracle` is, whose conventions it shares.
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise

from support.frugal_oracle import SLOPES
from support.oracle import ACTIVATIONS, Pair, SlowEdge, SlowGraph


@dataclass
class SlowLocalLearner:
    """Plain descent along the gradients that a local rule gives, one example at a time."""

    graph: SlowGraph
    rule: str
    feedback: dict[Pair, float]
    """By output and hidden node."""
    iterations: int
    learning_rate: float
    trace_decay: float = 0.5
    activation: str = "tanh"
    reads_sums: bool = False
    carries_state: bool = True
    states: dict[int, float] = field(default_factory=dict)
    traces: dict[Pair, float] = field(default_factory=dict)

    def start_episode(self) -> None:
        """Forget states and traces."""
        self.states, self.traces = {}, {}

    def learn(self, observation: list[float], label: int) -> None:
        """Learn one example."""
        if not self.carries_state:
            self.start_episode()
        seen, sums = self.run(observation)
        errors = self.errors(seen[-1], sums, label)
        outputs, hidden = self.graph.of_kind("output"), self.graph.of_kind("hidden")
        gradient = dict.fromkeys(self.graph.edges, 0.0)
        for u, v in self.graph.edges:
            if v in outputs:
                gradient[u, v] = errors[v] * seen[-2][u]
            elif v in hidden:
                did = self.eligibility((u, v), seen)
                for output in outputs if self.rule != "outputs" else ():
                    gradient[u, v] += self.feedback[output, v] * errors[output] * did
        for pair, edge in list(self.graph.edges.items()):
            moved = edge.weight - self.learning_rate * gradient[pair]
            self.graph.edges[pair] = SlowEdge(edge.id, moved)
        self.states = seen[-1]

    def eligibility(self, pair: Pair, seen: list[dict[int, float]]) -> float:
        """What an edge into a hidden node did, as far as the outputs have heard of it."""
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

    def run(self, observation: list[float]) -> tuple[list[dict[int, float]], dict[int, float]]:
        """Return the states before and after each iteration, and the last sums."""
        inputs, outputs = self.graph.of_kind("input"), self.graph.of_kind("output")
        clamped = dict(zip(inputs, observation, strict=True))
        free = [node for node in self.graph.nodes() if node not in inputs]
        seen = [{node: self.states.get(node, 0.0) for node in free} | clamped]
        for _ in range(self.iterations):
            sums = {
                v: sum(e.weight * seen[-1][u] for (u, w), e in self.graph.edges.items() if w == v)
                for v in free
            }
            kinds = {node: "tanh" if node in outputs else self.activation for node in free}
            seen.append({node: ACTIVATIONS[kinds[node]](sums[node]) for node in free} | clamped)
        return seen, sums

    def errors(
        self, states: dict[int, float], sums: dict[int, float], label: int
    ) -> dict[int, float]:
        """dL/d(sum into each output) of the cross-entropy."""
        outputs = self.graph.of_kind("output")
        read = sums if self.reads_sums else states
        odds = {node: math.exp(read[node]) for node in outputs}
        found = {}
        for place, node in enumerate(outputs):
            found[node] = odds[node] / math.fsum(odds.values()) - (place == label)
            if not self.reads_sums:
                found[node] *= SLOPES["tanh"](states[node])
        return found
