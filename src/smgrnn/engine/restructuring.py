"""One call of the plasticity module: decide, apply, and carry the learner's state over.

Compiled once, as a part that loops call by its address.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from smgrnn.arrays import Floats, Ints
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.engine.state import (
    CALLS,
    NO_ROOM,
    STEP,
    EngineSettings,
    LearnerState,
    furnish,
)
from smgrnn.graph.edit import apply_edit
from smgrnn.graph.log import EditLog, append_edit
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.graph.state import Graph
from smgrnn.kernels import Part, kernel, part_at
from smgrnn.learning.numbers import LearningNumbers
from smgrnn.plasticity.evidence import Memory, Statistics
from smgrnn.plasticity.history import TOTAL, UpdateHistory, carry_history, reset_history
from smgrnn.plasticity.numbers import RuleNumbers
from smgrnn.plasticity.rule import RuleParts
from smgrnn.plasticity.schedule import Noticed, Plasticity, carry_noticed, decide


class Restructured(NamedTuple):
    """What one call of the plasticity module led to."""

    state: LearnerState
    log: EditLog
    is_capped: bool


@kernel
def carry(values: Floats, origin: Ints) -> Floats:
    """Rearrange the columns by `origin`; those that were nowhere before (-1) become 0."""
    carried = np.zeros((values.shape[0], origin.size))
    for row in range(values.shape[0]):
        for column in range(origin.size):
            if origin[column] >= 0:
                carried[row, column] = values[row, origin[column]]
    return carried


def _restructure(
    state: LearnerState, settings: EngineSettings, log: EditLog, rng: np.random.Generator
) -> Restructured:
    """Call the plasticity module once, apply what it decides, and log it."""
    state.clock[CALLS] += 1
    call, update = state.clock[CALLS], state.history.clock[TOTAL]
    edit, is_capped = decide(
        settings.plasticity, state.graph, state.history, state.noticed, call, rng
    )
    if edit.weight.size == 0:
        return Restructured(state, log, is_capped)
    graph, node_origin, edge_origin = apply_edit(state.graph, edit)
    edited = carry_state(state, settings, graph, node_origin, edge_origin, rng)
    return Restructured(edited, append_edit(log, update, call, edit), is_capped)


@kernel
def carry_state(
    state: LearnerState,
    settings: EngineSettings,
    graph: Graph,
    node_origin: Ints,
    edge_origin: Ints,
    rng: np.random.Generator,
) -> LearnerState:
    """Take everything that belongs to nodes and edges through an edit, to the new graph."""
    if settings.keeps_optimizer:
        moments = carry(state.moments, edge_origin)
    else:
        moments = np.zeros((state.moments.shape[0], edge_origin.size))
        state.clock[STEP] = 0
    if settings.keeps_history:
        history = carry_history(state.history, edge_origin)
    else:
        history = reset_history(state.history, edge_origin.size)
    noticed = carry_noticed(
        settings.plasticity, state.noticed, graph, node_origin, edge_origin, rng
    )
    carried = LearnerState(
        graph,
        history,
        noticed,
        state.clock,
        carry(state.trace, node_origin),
        moments,
        carry(state.credit, edge_origin),
        state.room,
    )
    return furnish(settings, carried)


def _signature() -> Any:
    """The types of what `_restructure` takes and gives, read off the smallest examples."""
    graph, rows = Graph.from_edges(1, 1, edges=[(0, 1, 1.0)]), np.zeros((2, 1))
    noticed = Noticed(Statistics.start(0, np.zeros((2, 0), np.int64)), Memory.none(), Memory.none())
    clock, history, log = np.zeros(2, np.int64), UpdateHistory.start(1, 1), EditLog.start()
    state = LearnerState(graph, history, noticed, clock, rows, rows, rows, NO_ROOM)
    parts = RuleParts(*(0 for _ in RuleParts._fields))
    numbers = RuleNumbers.of(PlasticityConfig())
    settings = EngineSettings(
        NetworkNumbers.of(NetworkConfig(n_inputs=1, n_outputs=1)),
        LearningNumbers.of(LearningConfig()),
        Plasticity(numbers, parts, parts, keeps_nodes=False, watches=False),
        interval=0,
        restructure=0,
        keeps_history=True,
        keeps_optimizer=True,
    )
    taken = (typeof(each) for each in (state, settings, log, np.random.default_rng(0)))
    return typeof(Restructured(state, log, is_capped=False))(*taken)


RESTRUCTURE = Part(_restructure, _signature())
restructure_at = part_at(RESTRUCTURE.signature)


@kernel
def restructure(
    state: LearnerState, settings: EngineSettings, log: EditLog, rng: np.random.Generator
) -> Restructured:
    """Make one call of the plasticity module."""
    done: Restructured = restructure_at(settings.restructure)(state, settings, log, rng)
    return done


def engine_settings(
    network: NetworkConfig, learning: LearningConfig, plasticity: PlasticityConfig
) -> EngineSettings:
    """Translate the three configurations."""
    return EngineSettings(
        NetworkNumbers.of(network),
        LearningNumbers.of(learning),
        Plasticity.of(plasticity),
        interval=0 if plasticity.interval == "episode" else plasticity.interval,
        restructure=RESTRUCTURE.address,
        keeps_history=plasticity.history_on_edit == "keep",
        keeps_optimizer=plasticity.optimizer_on_edit == "keep",
    )
