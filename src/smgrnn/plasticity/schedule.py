"""The Structural Plasticity Module: when to grow, when to prune, and by which rule.

Paper: Sec. III-C4, Eq. (9).  One call reads the graph, as it was before the call, and the
statistics of its edges and nodes, and returns a GraphEdit.
"""

from typing import NamedTuple, Protocol, Self

import numpy as np

from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.config import PlasticityConfig
from smgrnn.errors import ConfigError, ShapeError
from smgrnn.graph.edit import GraphEdit
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.kernels import inlined, kernel
from smgrnn.plasticity.evidence import (
    STRAIN,
    Memory,
    Moment,
    Statistics,
    forget,
    gather,
    note,
)
from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.rule import (
    NO_PARTS,
    Decision,
    RuleParts,
    carry_at,
    decide_at,
    is_idle_at,
    pairs_at,
    step_at,
)
from smgrnn.plasticity.rules import GROWTH, PRUNING
from smgrnn.plasticity.size import goal_at, start_aim


class Plasticity(NamedTuple):
    """The module as kernels take it: the numbers and the functions of its two rules."""

    numbers: RuleNumbers
    growth: RuleParts
    pruning: RuleParts
    keeps_nodes: bool
    """Whether a rule reads statistics of nodes."""
    watches: bool
    """Whether a rule reads anything but the update history, so that every update is looked at."""

    @classmethod
    def of(cls, config: PlasticityConfig) -> Self:
        """Translate the settings."""
        if config.is_static:  # nothing to compile
            return cls(RuleNumbers.of(config), NO_PARTS, NO_PARTS, keeps_nodes=False, watches=False)
        growth, pruning = GROWTH[config.growth], PRUNING[config.pruning]
        keeps_nodes = growth.reads_nodes or pruning.reads_nodes
        return cls(
            RuleNumbers.of(config),
            growth.parts,
            pruning.parts,
            keeps_nodes,
            watches=growth.watches or pruning.watches,
        )


class GivesErrors(Protocol):
    """A learning rule, as far as rules of growth and pruning depend on it."""

    @property
    def name(self) -> str:
        """Its name in settings."""

    @property
    def gives_errors(self) -> bool:
        """Whether it gives the errors of nodes."""


def check_errors(config: PlasticityConfig, learning: GivesErrors) -> None:
    """Refuse rules of growth and pruning that read errors which the learning rule does not give."""
    if learning.gives_errors or config.is_static:
        return
    for table, name in ((GROWTH, config.growth), (PRUNING, config.pruning)):
        if table[name].watches and table[name].reads_errors:
            raise ConfigError(
                f"The {table.kind} rule {name!r} reads errors of nodes, which the learning rule "
                f"{learning.name!r} does not give: choose another of the two."
            )


class Noticed(NamedTuple):
    """Statistics, and memories that the two rules own, which are kept beside the update history."""

    statistics: Statistics
    growth: Memory
    pruning: Memory
    aim: Floats
    """How far the run is and how large the graph should be, see `plasticity.size`."""


def start_noticed(config: PlasticityConfig, graph: Graph, rng: np.random.Generator) -> Noticed:
    """Return empty statistics, and the memories of the rules before the first update."""
    plasticity = Plasticity.of(config)
    growth, pruning = (
        rule.start_memory(graph, plasticity.numbers, rng)
        for rule in (GROWTH[config.growth], PRUNING[config.pruning])
    )
    pairs = np.zeros((2, 0), dtype=np.int64)
    if plasticity.growth.pairs != 0:
        pairs = named_pairs(plasticity, graph, growth)
    n_nodes = graph.n_nodes if plasticity.keeps_nodes else 0
    return Noticed(
        Statistics.start(n_nodes, pairs), growth, pruning, start_aim(config.size, graph.n_edges)
    )


def check_noticed(config: PlasticityConfig, graph: Graph, noticed: Noticed) -> None:
    """Raise ShapeError unless statistics and memories fit the graph, as kernels assume they do."""
    plasticity, statistics = Plasticity.of(config), noticed.statistics
    pairs = statistics.pairs
    fits = (
        statistics.nodes.shape == (4, graph.n_nodes if plasticity.keeps_nodes else 0)
        and pairs.shape == (2, pairs.shape[-1])
        and statistics.products.shape == pairs.shape[1:]
        and statistics.n_updates.shape == (1,)
        and noticed.aim.shape == start_aim(None, 0).shape
        and bool(((pairs >= 0) & (pairs < graph.n_nodes)).all())
        and (plasticity.growth.pairs != 0 or pairs.size == 0)
        and statistics.nodes.dtype == statistics.products.dtype == np.float64
        and pairs.dtype == statistics.n_updates.dtype == np.int64
        and noticed.aim.dtype == np.float64
    )
    rules = (GROWTH[config.growth], noticed.growth), (PRUNING[config.pruning], noticed.pruning)
    for rule, memory in rules:
        fits &= memory.ids.ndim == memory.values.ndim == 2
        fits &= memory.ids.dtype == np.int64 and memory.values.dtype == np.float64
        if rule.fits is None:
            fits &= memory.ids.size == memory.values.size == 0
        else:
            fits = fits and rule.fits(memory, graph, plasticity.numbers)
    if not fits:
        raise ShapeError("What the plasticity module noticed is of another graph.")


@kernel
def named_pairs(plasticity: Plasticity, graph: Graph, growth: Memory) -> Ints:
    """Return the pairs of nodes that the growth rule names (2, n_pairs)."""
    if plasticity.growth.pairs == 0:
        return np.zeros((2, 0), dtype=np.int64)
    pairs: Ints = pairs_at(plasticity.growth.pairs)(graph, growth, plasticity.numbers)
    return pairs


@inlined
def notice(plasticity: Plasticity, noticed: Noticed, moment: Moment) -> None:
    """Add one update to the statistics and to the memories of the rules."""
    numbers = plasticity.numbers
    note(noticed.statistics, moment)
    if plasticity.growth.step != 0:
        step_at(plasticity.growth.step)(noticed.growth, moment, numbers)
    if plasticity.pruning.step != 0:
        step_at(plasticity.pruning.step)(noticed.pruning, moment, numbers)


@kernel
def notice_all(
    plasticity: Plasticity, noticed: Noticed, traces: Floats, errors: Floats, activation: int
) -> None:
    """Notice several passes one by one: traces (n, K + 1, n_nodes) and errors (n, K, n_nodes)."""
    for row in range(len(traces)):
        notice(plasticity, noticed, Moment(traces[row], errors[row], activation))


@kernel
def decide(
    plasticity: Plasticity,
    graph: Graph,
    history: UpdateHistory,
    noticed: Noticed,
    spared: Bools,
    call: int,
    rng: np.random.Generator,
) -> Decision:
    """Prune at every prune_period-th call and grow at the others -- Eq. (9); calls count from 1.

    Edges that are `spared` stay.
    """
    memory, address = noticed.growth, plasticity.growth.decide
    is_pruning = call % plasticity.numbers.prune_period == 0
    if is_pruning:
        memory, address = noticed.pruning, plasticity.pruning.decide
    if address == 0:  # a module that never decides on anything
        return Decision(GraphEdit(np.empty((0, 5), dtype=np.int64), np.empty(0)), False)
    statistics = noticed.statistics
    strain, dense_until = _strain(graph, statistics), plasticity.numbers.dense_until
    goal = goal_at(noticed.aim, graph.source.size, strain, not is_pruning, dense_until)
    evidence = gather(graph, history, statistics, memory, spared, goal, call)
    decision: Decision = decide_at(address)(evidence, plasticity.numbers, rng)
    forget(statistics)
    return decision


def none_spared(graph: Graph) -> Bools:
    """Return the flags of a graph whose edges may all be removed (n_edges,)."""
    return np.zeros(graph.n_edges, dtype=np.bool_)


@kernel
def _strain(graph: Graph, statistics: Statistics) -> float:
    """Return the mean squared error at the outputs since the last call; NaN if it is not known."""
    total, n_updates = 0.0, statistics.n_updates[0]
    if statistics.nodes.shape[1] == 0 or n_updates == 0:
        return np.nan
    for output in range(graph.n_inputs, graph.n_inputs + graph.n_outputs):
        total += statistics.nodes[STRAIN, output]
    return float(total / n_updates)


def decide_by(
    config: PlasticityConfig,
    graph: Graph,
    history: UpdateHistory,
    call: int,
    rng: np.random.Generator,
) -> Decision:
    """Make one call of the module on a graph and its update history alone, from Python."""
    with interrupts_deferred():
        noticed = start_noticed(config, graph, rng)
        return decide(Plasticity.of(config), graph, history, noticed, none_spared(graph), call, rng)


@inlined
def is_due(
    interval: int, least_updates: int, n_updates: int, last_call: int, is_last: bool
) -> bool:
    """Return whether the module is called after update `n_updates`, which may end an episode.

    An interval of 0 is a call at an episode's end, if `least_updates` were made since the last.

    >>> is_due(100, 0, 200, 100, False), is_due(0, 50, 200, 160, True)
    (True, False)
    """
    if interval > 0:
        return n_updates % interval == 0
    return is_last and n_updates - last_call >= least_updates


@inlined
def is_idle(
    plasticity: Plasticity,
    weight: Floats,
    history: UpdateHistory,
    call: int,
    first: int,
    last: int,
) -> bool:
    """Return whether `decide` is certain to find nothing and to draw nothing.

    This makes no array, so that a call at every update stays cheap.  Only the edges [first, last)
    have ever moved.
    """
    if plasticity.watches:  # statistics are of the updates since a call that read them
        return False
    is_pruning = call % plasticity.numbers.prune_period == 0
    look = plasticity.pruning.is_idle if is_pruning else plasticity.growth.is_idle
    return look != 0 and is_idle_at(look)(weight, history, plasticity.numbers, first, last)


@kernel
def carry_noticed(
    plasticity: Plasticity,
    noticed: Noticed,
    graph: Graph,
    node_origin: Ints,
    edge_origin: Ints,
    rng: np.random.Generator,
) -> Noticed:
    """Carry statistics and memories over to the graph after an edit."""
    if not plasticity.watches:
        return noticed
    numbers, growth, pruning = plasticity.numbers, noticed.growth, noticed.pruning
    if plasticity.growth.carry != 0:
        take = carry_at(plasticity.growth.carry)
        growth = take(growth, graph, node_origin, edge_origin, numbers, rng)
    if plasticity.pruning.carry != 0:
        take = carry_at(plasticity.pruning.carry)
        pruning = take(pruning, graph, node_origin, edge_origin, numbers, rng)
    pairs = named_pairs(plasticity, graph, growth)
    n_nodes = graph.node_ids.size if plasticity.keeps_nodes else 0
    sums, products = np.zeros((4, n_nodes)), np.zeros(pairs.shape[1])
    statistics = Statistics(np.zeros(1, dtype=np.int64), sums, pairs, products)
    return Noticed(statistics, growth, pruning, noticed.aim)
