"""From a network to the program of one step, without what no action depends on.

Normalisation, constant nodes, linear nodes with few edges and values that an earlier iteration
already computed are folded into weights.
"""

from dataclasses import replace
from typing import Any

from smgrnn.export.program import Program, Row, activated
from smgrnn.policy import Policy

SILENT = ("tanh", "relu", "identity")
"""Activations whose value at 0 is 0."""
STRICTLY_INCREASING = ("tanh", "sigmoid", "identity")
Form = tuple[float, dict[int, float]]
"""A constant, and the weight of each value that is added to it."""
STATE, ROW, OUTPUT = 10**8, 2 * 10**8, 3 * 10**8
"""Added to the number of a state, a row and an output while their final places are unknown."""


def program_of(policy: Policy, style: str = "tables") -> Program:
    """Return the program of a policy with the fewest weights; unrolled, it repeats nothing.

    >>> from smgrnn import Graph, Learner
    >>> from smgrnn.policy import policy_of
    >>> edges = [(0, 2, 1.0), (1, 3, 2.0), (1, 4, 1.0)]
    >>> graph = Graph.from_edges(2, 2, n_hidden=1, edges=edges)
    >>> learner = Learner(2, 2, bias=False, iterations=3, graph=graph)
    >>> program = program_of(policy_of(learner))
    >>> program.n_weights, program.states, program.n_activations
    (2, (), 0)
    """
    iterations, is_carried = policy.config.iterations, policy.config.carry_state
    straight = _Builder(policy, iterations, is_carried).build(style)
    if style == "unrolled" or iterations == 1:
        return straight
    repeated = _Builder(policy, 1, True).build(style)
    if straight.n_weights <= repeated.n_weights:
        return straight
    return replace(repeated, repeat=iterations, is_carried=is_carried)


class _Builder:
    """Follows the values that outputs depend on back to inputs and states."""

    def __init__(self, policy: Policy, iterations: int, is_carried: bool) -> None:
        network, self._task = policy.config, policy.task
        self._iterations, self._is_carried = iterations, is_carried
        self._first, self._n_outputs = policy.graph.n_inputs, network.n_outputs
        self._scales = policy.normalisation
        self._edges: dict[int, list[tuple[int, float]]] = {}
        columns = (policy.graph.source, policy.graph.target, policy.graph.weight)
        for source, target, weight in zip(*(c.tolist() for c in columns), strict=True):
            if target >= self._first:  # edges into inputs do nothing
                self._edges.setdefault(target - self._first, []).append((source, weight))
        n_states = policy.graph.n_nodes - self._first
        hidden, output = network.activation, network.output_activation
        self._kinds = [output if n < self._n_outputs else hidden for n in range(n_states)]
        reads_sums = network.readout == "sum"
        if policy.task.is_discrete and output in STRICTLY_INCREASING:
            reads_sums = True  # the largest sum has the largest state
        self._readout = "identity" if reads_sums else output
        # Nodes that stay 0, because no input or constant ever reaches them.
        self._silent = {n for n, kind in enumerate(self._kinds) if kind in SILENT}
        while heard := {
            n
            for n in self._silent
            if any(s - self._first not in self._silent for s, _ in self._edges.get(n, ()))
        }:
            self._silent -= heard
        self._rows: list[Row] = []
        self._known: dict[Any, int] = {}
        self._values: dict[tuple[int, int], Form] = {}
        self._states: set[int] = set()

    def build(self, style: str) -> Program:
        """Return the program."""
        sums = [self._sum(n, self._iterations) for n in range(self._n_outputs)]
        following: dict[int, tuple[int, str, int]] = {}
        while missing := sorted(self._states - following.keys()):
            for n in missing:  # the next value of a state may depend on states not yet met
                following[n] = self._next(n)
        outputs = [Row(*form, self._readout) for form in sums]
        rows = dict(enumerate(self._rows, ROW)) | dict(enumerate(outputs, OUTPUT))
        rows = _inlined(rows, {key for key, *_ in following.values()})
        inputs = sorted({key for row in rows.values() for key in row.terms if key < STATE})
        return Program.of(
            dict(zip(inputs, inputs, strict=True)),
            {STATE + node: node for node in sorted(following)},
            rows,
            {STATE + node: each for node, each in following.items()},
            n_outputs=self._n_outputs,
            is_choice=self._task.is_discrete,
            style=style,
        )

    def _next(self, node: int) -> tuple[int, str, int]:
        """Return where the next value of a state is, and how it is activated."""
        kind = self._kinds[node]
        if node < self._n_outputs and (self._task.is_discrete or self._readout == kind):
            return OUTPUT + node, "identity" if self._readout == kind else kind, 0
        bias, terms = self._value(node, self._iterations)
        if bias == 0 and list(terms.values()) == [1.0]:
            return next(iter(terms)), "identity", 0
        return self._row(Row(bias, terms)), "identity", 0

    def _row(self, row: Row) -> int:
        """Return the key of a row; equal rows are computed once."""
        key = (row.bias, tuple(sorted(row.terms.items())), row.activation)
        if key not in self._known:
            self._known[key] = ROW + len(self._rows)
            self._rows.append(row)
        return self._known[key]

    def _value(self, node: int, iteration: int) -> Form:
        """Return a node's state after some iterations; negative nodes are inputs."""
        if node < 0:
            return self._input(node + self._first)
        if node in self._silent or (iteration == 0 and not self._is_carried):
            return 0.0, {}
        if iteration == 0:
            self._states.add(node)
            return 0.0, {STATE + node: 1.0}
        if (node, iteration) not in self._values:
            row = Row(*self._sum(node, iteration), self._kinds[node])
            is_constant = not row.terms
            self._values[node, iteration] = (
                (float(activated(row.activation, row.bias)), {})
                if is_constant
                else (0.0, {self._row(row): 1.0})
            )
        return self._values[node, iteration]

    def _input(self, place: int) -> Form:
        if place >= self._task.n_inputs:
            return 1.0, {}
        if self._scales is None:
            return 0.0, {place: 1.0}
        mean, scale = float(self._scales.mean[place]), float(self._scales.scale[place])
        return -mean * scale, {place: scale}

    def _sum(self, node: int, iteration: int) -> Form:
        """Return what a node sums in an iteration."""
        edges = self._edges.get(node, ())
        return _combined((w, self._value(s - self._first, iteration - 1)) for s, w in edges)


def _combined(parts: Any) -> Form:
    """Return a weighted sum of forms."""
    bias, terms = 0.0, dict[int, float]()
    for weight, (constant, form) in parts:
        bias += weight * constant
        for key, factor in form.items():
            terms[key] = terms.get(key, 0.0) + weight * factor
    return bias, {key: weight for key, weight in terms.items() if weight != 0}


def _inlined(rows: dict[int, Row], kept: set[int]) -> dict[int, Row]:
    """Fold linear rows into those that read them, where that takes no more weights."""
    for key in list(rows):
        row = rows[key]
        readers = [k for k, other in rows.items() if key in other.terms]
        if row.activation != "identity" or key in kept or not readers:
            continue
        changed = {}
        for reader in readers:
            weight = rows[reader].terms[key]
            rest = {k: w for k, w in rows[reader].terms.items() if k != key}
            parts = (1.0, (rows[reader].bias, rest)), (weight, (row.bias, row.terms))
            changed[reader] = Row(*_combined(parts), rows[reader].activation)
        before = len(row.terms) + sum(len(rows[reader].terms) for reader in readers)
        if sum(len(each.terms) for each in changed.values()) <= before:
            rows = {k: changed.get(k, other) for k, other in rows.items() if k != key}
    return rows
