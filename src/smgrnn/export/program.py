"""A network as the arithmetic of one step, without what no action depends on.

A step reads some inputs and the values that the last step kept, computes `rows` in order, each an
activated sum, and takes its outputs from the last ones.  Normalisation, constant nodes, linear
nodes with few edges and values that an earlier iteration already computed are folded into weights.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import exp, tanh
from typing import Any, NamedTuple

from smgrnn.policy import Policy

SILENT = ("tanh", "relu", "identity")
"""Activations whose value at 0 is 0."""
STRICTLY_INCREASING = ("tanh", "sigmoid", "identity")
SCALARS: dict[str, Callable[[float], float]] = {
    "tanh": tanh,
    "sigmoid": lambda x: 1 / (1 + exp(-x)) if x > -700 else 0.0,
    "relu": lambda x: max(x, 0.0),
    "identity": lambda x: x,
}


class Row(NamedTuple):
    """A value of a step: its activated sum."""

    bias: float
    terms: dict[int, float]
    """The weight of each value that is summed, by its place: inputs, states, rows."""
    activation: str = "identity"
    shift: int = 0
    """Bits of an integer sum that are dropped before it is activated."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """The arithmetic of one step."""

    inputs: tuple[int, ...]
    """Places in an observation of the values that are read."""
    states: tuple[int, ...]
    """Nodes whose states a step starts from; nodes count from the first output."""
    rows: tuple[Row, ...]
    """The last rows are the outputs."""
    next: tuple[tuple[int, str, int], ...]
    """Where each state's next value is, how it is activated, and its shift."""
    n_outputs: int
    repeat: int = 1
    """How often the rows are computed in a step, from the states that they left."""
    is_carried: bool = True
    """Whether the states are those that the last step left, or 0."""
    type: str = "float"
    """Type of the numbers: "float", or a key of `export.integers.LARGEST_WEIGHT`."""
    bits: tuple[int, ...] = ()
    """Bits behind the point of each value that is an integer, by its place."""

    @property
    def first_row(self) -> int:
        """Place of the first row among the values."""
        return len(self.inputs) + len(self.states)

    @property
    def inner(self) -> tuple[Row, ...]:
        """The rows that other rows or the next step read."""
        return self.rows[: len(self.rows) - self.n_outputs]

    @property
    def outputs(self) -> tuple[Row, ...]:
        """The rows that are the outputs."""
        return self.rows[len(self.rows) - self.n_outputs :]

    @property
    def n_kept(self) -> int:
        """Values that are kept from one step to the next."""
        return len(self.states) if self.is_carried else 0

    @property
    def n_weights(self) -> int:
        """Weights of sums; one of exactly 1 or -1 counts too."""
        return sum(len(row.terms) for row in self.rows)

    @property
    def n_constants(self) -> int:
        """Constants that are added to sums."""
        return sum(row.bias != 0 for row in self.rows)

    @property
    def activations(self) -> list[str]:
        """The activations that are computed, each once."""
        used = [row.activation for row in self.rows] + [kind for _, kind, _ in self.next]
        return sorted(set(used) - {"identity"})

    def run(self, observations: Any, starts: Any) -> Iterator[list[float]]:
        """Yield all values in each repetition of each step on observations (n, n_observed)."""
        states = [0.0] * len(self.states)
        for observation, is_start in zip(observations, starts, strict=True):
            if is_start or not self.is_carried:
                states = [0.0] * len(self.states)
            for _ in range(self.repeat):
                values = [*(float(observation[place]) for place in self.inputs), *states]
                for row in self.rows:
                    total = row.bias + sum(w * values[place] for place, w in row.terms.items())
                    values.append(SCALARS[row.activation](total))
                yield values
                states = [SCALARS[kind](values[place]) for place, kind, _ in self.next]


def program_of(policy: Policy, *, is_straight: bool = False) -> Program:
    """Return the program of a policy with the fewest weights, or one that repeats nothing.

    >>> from smgrnn import Graph, Learner
    >>> from smgrnn.policy import policy_of
    >>> edges = [(0, 2, 1.0), (1, 3, 2.0), (1, 4, 1.0)]
    >>> graph = Graph.from_edges(2, 2, n_hidden=1, edges=edges)
    >>> learner = Learner(2, 2, bias=False, iterations=3, graph=graph)
    >>> program = program_of(policy_of(learner))
    >>> program.n_weights, program.states, program.activations
    (2, (), [])
    """
    iterations = policy.config.iterations
    straight = _Builder(policy, iterations, policy.config.carry_state).build()
    if is_straight or iterations == 1:
        return straight
    repeated = replace(
        _Builder(policy, 1, True).build(),
        repeat=iterations,
        is_carried=policy.config.carry_state,
    )
    return straight if straight.n_weights <= repeated.n_weights else repeated


Form = tuple[float, dict[int, float]]
"""A constant, and the weight of each value that is added to it."""
STATE, ROW, OUTPUT = 10**8, 2 * 10**8, 3 * 10**8
"""Added to the number of a state, a row and an output while their final places are unknown."""


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
        self._silent = self._find_silent()
        self._rows: list[Row] = []
        self._known: dict[Any, int] = {}
        self._values: dict[tuple[int, int], Form] = {}
        self._states: set[int] = set()

    def _find_silent(self) -> set[int]:
        """Return the nodes that stay 0 because no input or constant ever reaches them."""
        silent = {n for n, kind in enumerate(self._kinds) if kind in SILENT}
        while heard := {
            n
            for n in silent
            if any(source - self._first not in silent for source, _ in self._edges.get(n, ()))
        }:
            silent -= heard
        return silent

    def build(self) -> Program:
        """Return the program."""
        sums = [self._sum(n, self._iterations) for n in range(self._n_outputs)]
        following: dict[int, tuple[int, str]] = {}
        while missing := sorted(self._states - following.keys()):
            for n in missing:  # the next value of a state may depend on states not yet met
                following[n] = self._next(n)
        outputs = [Row(*form, self._readout) for form in sums]
        rows = dict(enumerate(self._rows, ROW)) | dict(enumerate(outputs, OUTPUT))
        return _placed(_inlined(rows, {key for key, _ in following.values()}), following)

    def _next(self, node: int) -> tuple[int, str]:
        """Return where the next value of a state is, and how it is activated."""
        if node < self._n_outputs:
            is_active = self._readout != "identity"
            return OUTPUT + node, "identity" if is_active else self._kinds[node]
        bias, terms = self._value(node, self._iterations)
        if bias == 0 and list(terms.values()) == [1.0]:
            return next(iter(terms)), "identity"
        return self._row(Row(bias, terms)), "identity"

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
                (SCALARS[row.activation](row.bias), {})
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


def _placed(rows: dict[int, Row], following: dict[int, tuple[int, str]]) -> Program:
    """Return the program with the final place of each value."""
    inputs = sorted({key for row in rows.values() for key in row.terms if key < STATE})
    states = sorted(following)
    keys = [*inputs, *(STATE + node for node in states), *rows]
    places = {key: n for n, key in enumerate(keys)}
    return Program(
        inputs=tuple(inputs),
        states=tuple(states),
        rows=tuple(
            row._replace(terms={places[k]: w for k, w in row.terms.items()})
            for row in rows.values()
        ),
        next=tuple((places[key], kind, 0) for key, kind in map(following.__getitem__, states)),
        n_outputs=sum(key >= OUTPUT for key in rows),
    )


def without_unread(program: Program) -> Program:
    """Return an integer program without the values that no output depends on.

    Some of them are left where a weight was rounded to 0.
    """
    n_inputs, first_row = len(program.inputs), program.first_row
    sources = [source for source, *_ in program.next]
    end = first_row + len(program.rows)
    live, met = set[int](), list(range(end - program.n_outputs, end))
    while met:
        place = met.pop()
        live.add(place)
        read = program.rows[place - first_row].terms if place >= first_row else {}
        kept = {sources[place - n_inputs]} if n_inputs <= place < first_row else set()
        met += (read.keys() | kept) - live
    places = {place: n for n, place in enumerate(sorted(live))}
    states = [n for n in range(len(sources)) if n_inputs + n in live]
    rows = [row for place, row in enumerate(program.rows, first_row) if place in live]
    return replace(
        program,
        inputs=tuple(each for place, each in enumerate(program.inputs) if place in live),
        states=tuple(program.states[n] for n in states),
        rows=tuple(r._replace(terms={places[k]: w for k, w in r.terms.items()}) for r in rows),
        next=tuple((places[sources[n]], *program.next[n][1:]) for n in states),
        bits=tuple(each for place, each in enumerate(program.bits) if place in live),
    )
