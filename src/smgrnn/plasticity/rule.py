"""Rule: a way to grow or to prune, as a part that both engines take.

A rule is a handful of functions that Numba can compile.  Only `decide` must be there.  Kernels call
them by address, so that a new rule is all that has to be compiled for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from smgrnn.arrays import Ints
from smgrnn.config import PlasticityConfig
from smgrnn.errors import ConfigError, GraphError, short
from smgrnn.graph.edit import GraphEdit
from smgrnn.graph.state import Graph
from smgrnn.kernels import Part, part_at
from smgrnn.plasticity.evidence import Evidence, Memory, Moment
from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.size import Goal

PythonRule = Callable[[Graph, UpdateHistory, np.random.Generator], GraphEdit]
"""A rule that is a Python function: it reads the graph and the update history, and nothing else."""


def ask_rule(
    rule: PythonRule, graph: Graph, history: UpdateHistory, rng: np.random.Generator
) -> GraphEdit:
    """Call a rule that is a Python function, and check that it gives an edit."""
    edit = rule(graph, history, rng)
    if not isinstance(edit, GraphEdit):
        raise GraphError(f"A rule must return a GraphEdit. Got {edit!r} instead.")
    return edit


def check_rule(rule: PythonRule | None) -> None:
    """Refuse a rule that is no function, such as the name of a compiled one."""
    if rule is not None and not callable(rule):
        raise ConfigError(
            f"A `rule` is a function of graph, history and generator. Got {short(rule)} instead; "
            f"compiled rules are named in the settings."
        )


class Decision(NamedTuple):
    """The edit that one call decided on, and whether a limit kept it from growing more."""

    edit: GraphEdit
    is_capped: bool


Carry = Callable[[Memory, Graph, Ints, Ints, RuleNumbers, np.random.Generator], Memory]


class RuleParts(NamedTuple):
    """The addresses of a rule's functions, as kernels take them; 0 where there is none."""

    decide: int
    is_idle: int
    pairs: int
    step: int
    carry: int


NO_PARTS = RuleParts(0, 0, 0, 0, 0)
"""The parts of a rule that is never called."""


@dataclass(frozen=True)
class Rule:
    """A growth or pruning rule."""

    name: str
    """Its name in settings and on the command line."""
    summary: str
    """A few words on how it works."""
    decide: Callable[[Evidence, RuleNumbers, np.random.Generator], Decision]
    """Returns the decision of one call; changes nothing but the content of its own memory."""
    is_idle: Callable[[Any, UpdateHistory, RuleNumbers, int, int], bool] | None = None
    """Whether `decide` is certain to find nothing and to draw nothing, from the weights, the
    history and the first and last edge that can move: makes a call at every update cheap.  It must
    make no array."""
    settings: frozenset[str] | None = None
    """Names of the settings that it reads, beside those of every call of the module; a run refuses
    others that are changed.  None is any of them."""
    follows_size: bool = False
    """Whether it follows `size`, rather than growing up to `max_edges`."""
    reads_nodes: bool = False
    """Whether it reads `activity`, `square`, `error` or `strain` of the evidence, or its goal."""
    reads_errors: bool = True
    """Whether any of that, or its `pairs`, `step` or `carry`, depends on the errors of nodes, which
    not every learning rule gives."""
    pairs: Callable[[Graph, Memory, RuleNumbers], Ints] | None = None
    """Names the pairs of nodes whose products it reads, by target and then by source (2, n_pairs);
    asked after every edit.  Only growth rules are asked: pruning has the updates of its edges."""
    start: Callable[[Graph, RuleNumbers, np.random.Generator], Memory] | None = None
    """Makes the memory that it owns; None is a rule without one."""
    fits: Callable[[Memory, Graph, RuleNumbers], bool] | None = None
    """Whether a memory that was read from a file fits this graph; needed with `start`, because
    compiled functions trust its content."""
    step: Callable[[Memory, Moment, RuleNumbers], None] | None = None
    """Updates the memory after each weight update."""
    carry: Carry | None = None
    """Carries the memory over to the graph after an edit; the two arrays hold the former positions
    of its nodes and of its edges, -1 if they are new.  None keeps the memory as it is."""

    @cached_property
    def parts(self) -> RuleParts:
        """The addresses of the functions, which are compiled for them."""
        return RuleParts(
            decide=_address(self.decide, DECIDE),
            is_idle=_address(self.is_idle, IS_IDLE, makes_arrays=False),
            pairs=_address(self.pairs, PAIRS),
            step=_address(self.step, STEP),
            carry=_address(self.carry, CARRY),
        )

    @property
    def watches(self) -> bool:
        """Whether it reads anything but the update history."""
        functions = (self.pairs, self.step, self.carry)
        return self.reads_nodes or any(function is not None for function in functions)

    def __post_init__(self) -> None:
        if (self.start is None) != (self.fits is None):
            raise ConfigError(f"The rule {self.name!r} needs both `start` and `fits`, or neither.")

    def start_memory(self, graph: Graph, numbers: RuleNumbers, rng: np.random.Generator) -> Memory:
        """Return the memory at the start of a run."""
        return Memory.none() if self.start is None else self.start(graph, numbers, rng)


def _address(function: Any, signature: Any, *, makes_arrays: bool = True) -> int:
    if function is None:
        return 0
    return Part(function, signature, makes_arrays=makes_arrays).address


def _types() -> dict[str, Any]:
    """Return the Numba types of rules' arguments and results, read off the smallest examples."""
    graph = Graph.from_edges(1, 1, edges=[(0, 1, 1.0)])
    history, edit = UpdateHistory.start(1, 1), GraphEdit.empty()
    ints, floats, memory = np.zeros(1, np.int64), np.zeros(1), Memory.none()
    pairs, spared = np.zeros((2, 0), np.int64), np.zeros(1, np.bool_)
    goal, per_edge, per_node = Goal(1, 1, True, True, False), (ints, floats, floats), (floats,) * 4
    evidence = Evidence(
        graph, history, spared, 1, goal, *per_edge, 1, *per_node, pairs, floats, memory
    )
    examples = {
        "graph": graph,
        "history": history,
        "numbers": RuleNumbers.of(PlasticityConfig()),
        "memory": memory,
        "moment": Moment(np.zeros((2, 1)), np.zeros((1, 1)), 0),
        "evidence": evidence,
        "decision": Decision(edit, is_capped=False),
        "pairs": pairs,
        "ints": ints,
        "floats": floats,
        "rng": np.random.default_rng(0),
    }
    return {name: typeof(value) for name, value in examples.items()}


_TYPE = _types()
_NUMBERS, _RNG, _MEMORY = _TYPE["numbers"], _TYPE["rng"], _TYPE["memory"]
DECIDE = _TYPE["decision"](_TYPE["evidence"], _NUMBERS, _RNG)
IS_IDLE = types.boolean(_TYPE["floats"], _TYPE["history"], _NUMBERS, types.int64, types.int64)
PAIRS = _TYPE["pairs"](_TYPE["graph"], _MEMORY, _NUMBERS)
STEP = types.void(_MEMORY, _TYPE["moment"], _NUMBERS)
CARRY = _MEMORY(_MEMORY, _TYPE["graph"], _TYPE["ints"], _TYPE["ints"], _NUMBERS, _RNG)

decide_at, is_idle_at, pairs_at = part_at(DECIDE), part_at(IS_IDLE), part_at(PAIRS)
step_at, carry_at = part_at(STEP), part_at(CARRY)
