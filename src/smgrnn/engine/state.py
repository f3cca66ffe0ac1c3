"""Everything that the compiled engine holds: settings as numbers, state as arrays."""

from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from smgrnn.arrays import Floats, Ints
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.graph.numbers import NetworkNumbers
from smgrnn.graph.state import Graph, row_starts
from smgrnn.kernels import as_python, kernel
from smgrnn.learning.numbers import LearningNumbers
from smgrnn.learning.rules import LEARNING
from smgrnn.learning.through_time import Past
from smgrnn.plasticity.evidence import Memory, Statistics
from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.schedule import Noticed, Plasticity, start_noticed
from smgrnn.plasticity.size import start_aim

STEP, CALLS, CALLED = 0, 1, 2  # places in `LearnerState.clock`


class EngineSettings(NamedTuple):
    """All settings of a learner in the form kernels take."""

    network: NetworkNumbers
    learning: LearningNumbers
    plasticity: Plasticity
    interval: int
    """Updates between two calls of the plasticity module; 0 is at the end of each episode."""
    least_updates: int
    """Fewest updates between two calls at the end of episodes."""
    restructure: int
    """Address of the function that makes one call of the module and applies what it decides; 0 if
    it never decides on anything."""
    keeps_history: bool
    """Whether surviving edges keep their update history through an edit."""
    keeps_optimizer: bool
    """Whether surviving edges keep their optimizer state through an edit."""


class Room(NamedTuple):
    """Working arrays, and values that follow from the graph; made anew after every edit."""

    gradient: Floats
    """dL/dw of the last step (n_edges,)."""
    delta: Floats
    """Δw of the last step (n_edges,)."""
    adjoint: Floats
    """Room for the backward pass (2, n_nodes)."""
    errors: Floats
    """dL/d(sum into each node) by iteration (K, n_nodes); without columns if nobody reads them."""
    starts: Ints
    """Where the edges into each node start (n_nodes + 1,)."""
    first: int
    """First edge that can move."""
    last: int
    """One past the last edge that can move."""


class LearnerState(NamedTuple):
    """Everything that changes while a network learns."""

    graph: Graph
    history: UpdateHistory
    noticed: Noticed
    """Statistics and memories that the rules of growth and pruning read."""
    clock: Ints
    """Steps of the optimizer, calls of the plasticity module, and updates before the last (3,)."""
    trace: Floats
    """Node states before and after each iteration (K + 1, n_nodes)."""
    moments: Floats
    """The optimizer's memory of each edge (2 or 4, n_edges)."""
    credit: Floats
    """The learning rule's memory of each edge (rows, n_edges)."""
    feedback: Floats
    """Fixed random weights from outputs to nodes; without rows unless the learning rule draws them
    (n_outputs, n_nodes)."""
    average: Floats
    """Running mean and age of each weight; without columns if it is not kept (2, n_edges)."""
    past: Past
    """The calls that gradients flow back through."""
    protection: Floats
    """Share by which updates of each edge are held back; without rows if none are (1, n_edges)."""
    room: Room


def start_state(
    graph: Graph,
    settings: EngineSettings,
    learning: LearningConfig,
    plasticity: PlasticityConfig,
    rng: np.random.Generator,
    seed: int,
) -> LearnerState:
    """Return the state of a learner that has not learned anything yet."""
    n_edges, iterations = graph.n_edges, settings.network.iterations
    rule = LEARNING[learning.rule]
    return LearnerState(
        graph=graph,
        history=UpdateHistory.start(n_edges, plasticity.window),
        noticed=start_noticed(plasticity, graph, rng),
        clock=np.zeros(3, dtype=np.int64),
        trace=np.zeros((iterations + 1, graph.n_nodes)),
        moments=np.zeros((settings.learning.n_moments, n_edges)),
        credit=np.zeros((rule.n_rows, n_edges)),
        feedback=rule.start_feedback(graph, seed),
        average=np.zeros((2, n_edges if learning.averaging else 0)),
        past=Past.start(learning.through_time, iterations, graph.n_nodes, n_edges),
        protection=np.zeros((0, n_edges)),
        room=as_python(new_room)(settings, graph, iterations),
    )


NO_ROOM = Room(
    np.zeros(0), np.zeros(0), np.zeros((2, 0)), np.zeros((0, 0)), np.zeros(1, np.int64), 0, 0
)
"""No room, before `new_room` makes some."""


@kernel
def new_room(settings: EngineSettings, graph: Graph, iterations: int) -> Room:
    """Return room that fits a graph.

    With one iteration the outputs depend on edges into outputs alone, so under backpropagation the
    others have no gradient and do not move -- unless it goes back through earlier calls, or weight
    decay moves them.
    """
    n_nodes, n_edges = graph.node_ids.size, graph.source.size
    starts = row_starts(graph.target, n_nodes)
    first, last = starts[graph.n_inputs], n_edges
    learning = settings.learning
    if iterations == 1 and learning.credit == 0 and learning.through_time == 0:
        last = starts[graph.n_inputs + graph.n_outputs]
    if learning.weight_decay != 0.0:
        first, last = 0, n_edges
    n_watched = n_nodes if settings.plasticity.watches else 0
    return Room(
        np.zeros(n_edges),
        np.zeros(n_edges),
        np.zeros((2, n_nodes)),
        np.zeros((iterations, n_watched)),
        starts,
        first,
        last,
    )


def _types() -> tuple[Any, Any]:
    """Return the Numba types of a state and of settings, read off the smallest examples."""
    graph, rows = Graph.from_edges(1, 1, edges=[(0, 1, 1.0)]), np.zeros((2, 1))
    statistics = Statistics.start(0, np.zeros((2, 0), np.int64))
    noticed = Noticed(statistics, Memory.none(), Memory.none(), start_aim(None, 0))
    clock, history = np.zeros(3, np.int64), UpdateHistory.start(1, 1)
    past = Past.start(0, 1, 2, 1)
    state = LearnerState(graph, history, noticed, clock, *(rows,) * 5, past, rows, NO_ROOM)
    settings = EngineSettings(
        NetworkNumbers.of(NetworkConfig(n_inputs=1, n_outputs=1)),
        LearningNumbers.of(LearningConfig()),
        Plasticity.of(PlasticityConfig.static()),
        interval=0,
        least_updates=0,
        restructure=0,
        keeps_history=True,
        keeps_optimizer=True,
    )
    return typeof(state), typeof(settings)


STATE_TYPE, SETTINGS_TYPE = _types()
"""The Numba types of a state and of settings."""
