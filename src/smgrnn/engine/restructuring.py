"""One call of the plasticity module: decide, apply, and carry the learner's state over.

Compiled once, as a part that loops call by its address.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from smgrnn.arrays import Ints
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.engine.handle import Handle, View, empty_handle, held_by, hold, whole
from smgrnn.engine.protection import spared_edges
from smgrnn.engine.state import (
    CALLED,
    CALLS,
    SETTINGS_TYPE,
    STATE_TYPE,
    STEP,
    EngineSettings,
    LearnerState,
    new_room,
)
from smgrnn.graph.edit import apply_edit, carry
from smgrnn.graph.log import EditLog, append_edit
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.graph.state import Graph
from smgrnn.kernels import Part, kernel, part_at
from smgrnn.learning.numbers import LearningNumbers
from smgrnn.learning.rule import carry_feedback
from smgrnn.learning.through_time import Past
from smgrnn.plasticity.history import TOTAL, carry_history, reset_history
from smgrnn.plasticity.schedule import Plasticity, carry_noticed, decide


class Restructured(NamedTuple):
    """The log after a call of the plasticity module, and whether a limit bound growth."""

    log: EditLog
    is_capped: bool


def _restructure(handle: Handle, log: EditLog, rng: np.random.Generator) -> Restructured:
    """Call the plasticity module once, apply what it decides, and log it."""
    held = held_by(handle)
    state, settings = held.state, held.settings
    state.clock[CALLS] += 1
    call, update = state.clock[CALLS], state.history.clock[TOTAL]
    state.clock[CALLED] = update
    rules, spared = settings.plasticity, spared_edges(state.protection)
    edit, is_capped = decide(rules, state.graph, state.history, state.noticed, spared, call, rng)
    if edit.weight.size == 0:
        return Restructured(log, is_capped)
    graph, node_origin, edge_origin = apply_edit(state.graph, edit)
    edited = carry_state(state, settings, graph, node_origin, edge_origin, rng)
    hold(handle, edited, whole(settings))
    return Restructured(append_edit(log, update, call, edit), is_capped)


@kernel
def carry_state(
    state: LearnerState,
    settings: EngineSettings,
    graph: Graph,
    node_origin: Ints,
    edge_origin: Ints,
    rng: np.random.Generator,
) -> LearnerState:
    """Carry everything that belongs to nodes and edges over to the graph after an edit.

    The calls that gradients flow back through were those of another graph, and are let go.
    """
    if settings.keeps_optimizer:
        moments = carry(state.moments, edge_origin)
    else:
        moments = np.zeros((state.moments.shape[0], edge_origin.size))
        state.clock[STEP] = 0
    if settings.keeps_history:
        history = carry_history(state.history, edge_origin)
    else:
        history = reset_history(state.history, edge_origin.size)
    feedback = carry_feedback(state.feedback, node_origin, rng)
    noticed = carry_noticed(
        settings.plasticity, state.noticed, graph, node_origin, edge_origin, rng
    )
    n_past, n_rows, _ = state.past.traces.shape
    past = Past(
        np.zeros((n_past, n_rows, node_origin.size)),
        np.zeros((n_past, edge_origin.size)),
        np.zeros(2, dtype=np.int64),
    )
    return LearnerState(
        graph,
        history,
        noticed,
        state.clock,
        carry(state.trace, node_origin),
        moments,
        carry(state.credit, edge_origin),
        feedback,
        carry(state.average, edge_origin) if settings.learning.averaging > 0.0 else state.average,
        past,
        carry(state.protection, edge_origin),
        new_room(settings, graph, state.trace.shape[0] - 1),
    )


_HANDLE, _LOG = typeof(empty_handle()), typeof(EditLog.start())
_RNG = typeof(np.random.default_rng(0))
_RESTRUCTURED = types.NamedTuple((_LOG, types.boolean), Restructured)
RESTRUCTURE = Part(_restructure, _RESTRUCTURED(_HANDLE, _LOG, _RNG))
_restructure_at = part_at(RESTRUCTURE.signature)


def compile_carrying() -> None:
    """Compile `carry_state` as `RESTRUCTURE` calls it, which takes a sixth of all there is."""
    carrying: Any = carry_state
    graph, origin = STATE_TYPE.types[0], types.int64[::1]
    carrying.inner.compile((View(STATE_TYPE), View(SETTINGS_TYPE), graph, origin, origin, _RNG))


@kernel
def restructure(handle: Handle, log: EditLog, rng: np.random.Generator) -> Restructured:
    """Make one call of the plasticity module."""
    address = held_by(handle).settings.restructure
    done: Restructured = _restructure_at(address)(handle, log, rng)
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
        least_updates=plasticity.least_updates,
        restructure=0 if plasticity.is_static else RESTRUCTURE.address,
        keeps_history=plasticity.history_on_edit == "keep",
        keeps_optimizer=plasticity.optimizer_on_edit == "keep",
    )
