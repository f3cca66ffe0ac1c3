"""What the compiled engine holds: settings as numbers, state as arrays."""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.graph.activation import ACTIVATIONS
from smgrnn.graph.state import Graph, row_starts
from smgrnn.kernels import kernel
from smgrnn.learning.loss import LOSSES
from smgrnn.learning.optimizers import OPTIMIZERS, WEIGHT_DECAY
from smgrnn.plasticity.history import UpdateHistory
from smgrnn.plasticity.schedule import Rules

# places in `EngineSettings.plan`
N_INPUTS, N_OUTPUTS, ACTIVATION, OUTPUT_ACTIVATION, READS_SUMS = range(5)
CARRY_STATE, OPTIMIZER, N_MOMENTS, LOSS = range(5, 9)
STEP, CALLS = 0, 1  # places in `LearnerState.clock`


class EngineSettings(NamedTuple):
    """All settings of a learner in the form kernels take."""

    plan: Ints
    """Whole numbers: sizes and choices."""
    hyper: Floats
    """The optimizer's numbers."""
    rules: Rules
    """The numbers of the plasticity rules."""
    interval: int
    """Updates between two calls of the plasticity module; 0 is at the end of each episode."""
    keeps_history: bool
    keeps_optimizer: bool

    @classmethod
    def of(
        cls, network: NetworkConfig, learning: LearningConfig, plasticity: PlasticityConfig
    ) -> Self:
        """Translate the three configurations."""
        plan = (
            network.n_inputs,
            network.n_outputs,
            ACTIVATIONS.index(network.activation),
            ACTIVATIONS.index(network.output_activation),
            network.readout == "sum",
            network.carry_state,
            OPTIMIZERS.index(learning.optimizer),
            4 if learning.bias_correction == "edge" else 2,
            LOSSES.index(learning.loss),
        )
        decay, momentum = learning.weight_decay, learning.momentum
        if decay is None:
            decay = 0.01 if learning.optimizer == "adamw" else 0.0
        if momentum is None:
            momentum = 0.9 if learning.optimizer == "sgd" else 0.0
        hyper = (
            learning.learning_rate,
            learning.beta1,
            learning.beta2,
            learning.epsilon,
            decay,
            momentum,
            learning.alpha,
        )
        return cls(
            plan=np.array(plan, dtype=np.int64),
            hyper=np.array(hyper, dtype=np.float64),
            rules=Rules.of(plasticity),
            interval=0 if plasticity.interval == "episode" else plasticity.interval,
            keeps_history=plasticity.history_on_edit == "keep",
            keeps_optimizer=plasticity.optimizer_on_edit == "keep",
        )


class LearnerState(NamedTuple):
    """Everything that changes while a network learns."""

    graph: Graph
    history: UpdateHistory
    clock: Ints
    """Steps of the optimizer and calls of the plasticity module (2,)."""
    trace: Floats
    """Node states before and after each iteration (K + 1, n_nodes)."""
    moments: Floats
    """The optimizer's memory of each edge (2 or 4, n_edges)."""
    gradient: Floats
    """dL/dw of the last step (n_edges,)."""
    delta: Floats
    """Δw of the last step (n_edges,)."""
    adjoint: Floats
    """Room for the backward pass (2, n_nodes)."""
    starts: Ints
    """Where the edges into each node start (n_nodes + 1,)."""
    span: Ints
    """First and one past the last edge that can move (2,)."""


def start_state(
    graph: Graph, settings: EngineSettings, iterations: int, window: int
) -> LearnerState:
    """Return the state of a learner that has not learned anything yet."""
    trace = np.zeros((iterations + 1, graph.n_nodes))
    history = UpdateHistory.start(graph.n_edges, window)
    clock = np.zeros(2, dtype=np.int64)
    moments = np.zeros((settings.plan[N_MOMENTS], graph.n_edges))
    return assemble(settings, graph, history, clock, trace, moments)


@kernel
def assemble(
    settings: EngineSettings,
    graph: Graph,
    history: UpdateHistory,
    clock: Ints,
    trace: Floats,
    moments: Floats,
) -> LearnerState:
    """Put a state together from what it is, adding the room to work in and the derived indices.

    With one iteration the outputs depend on edges into outputs alone, so the others have no
    gradient and do not move -- unless weight decay moves them.
    """
    n_nodes, n_edges = graph.node_ids.size, graph.source.size
    starts = row_starts(graph.target, n_nodes)
    first, last = starts[graph.n_inputs], n_edges
    if trace.shape[0] == 2:
        last = starts[graph.n_inputs + graph.n_outputs]
    if settings.hyper[WEIGHT_DECAY] != 0.0:
        first, last = 0, n_edges
    return LearnerState(
        graph,
        history,
        clock,
        trace,
        moments,
        np.zeros(n_edges),
        np.zeros(n_edges),
        np.zeros((2, n_nodes)),
        starts,
        np.array([first, last]),
    )
