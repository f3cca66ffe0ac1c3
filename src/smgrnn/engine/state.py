"""Everything that the compiled engine holds: settings as numbers, state as arrays."""

from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats, Ints
from smgrnn.graph.edit import Applied, carry
from smgrnn.graph.settings import NetworkConfig, NetworkNumbers
from smgrnn.graph.state import Graph, row_starts
from smgrnn.kernels import make_handles
from smgrnn.learning.credit import Past, carry_feedback, start_feedback
from smgrnn.learning.settings import LearningConfig, LearningNumbers
from smgrnn.rules import PlasticityConfig, PlasticityModule
from smgrnn.rules.statistics import Watched

LEARNED, PENDING = 0, 1  # indices into `LearnerState.examples`


class EngineSettings(NamedTuple):
    """The settings of a learner as numbers, the form in which kernels take them."""

    network: NetworkNumbers
    learning: LearningNumbers
    watches: bool  # whether rules ask for statistics beside the update history


class Workspace(NamedTuple):
    """Working arrays, and values that follow from the graph; made again after every edit."""

    gradient: Floats  # dL/dw of the last step (n_edges,)
    delta: Floats  # Δw of the last step (n_edges,)
    adjoint: Floats  # adjoints of the backward pass (2, n_nodes)
    errors: Floats  # dL/d(sum into each node) (K, n_nodes); without columns if nobody reads them
    starts: Ints  # where the edges into each node start (n_nodes + 1,)
    first: int  # first edge that can move
    last: int  # one past the last edge that can move


class LearnerState(NamedTuple):
    """Everything that changes while a network learns."""

    graph: Graph
    watched: Watched  # the update history, and the statistics that rules ask for
    step: Ints  # steps of the optimizer (1,)
    rate: Floats  # fraction of the learning rate that applies now (1,)
    trace: Floats  # node states before and after each iteration (K + 1, n_nodes)
    moments: Floats  # the optimizer's memory of each edge (2 or 4, n_edges)
    examples: Ints  # examples learned so far, and those since the last update (2,)
    pending: Floats  # sum of the gradients since the last update (1, n_edges); or (0, n_edges)
    credit: Floats  # the learning rule's memory of each edge (rows, n_edges)
    feedback: Floats  # fixed random weights from outputs to nodes (n_outputs, n_nodes); or no rows
    average: Floats  # running mean and age of each weight (2, n_edges); without columns if not kept
    past: Past  # the calls that gradients flow back through
    protection: Floats  # fraction of each edge's updates held back (1, n_edges); or no rows
    workspace: Workspace
    settings: EngineSettings


def start_state(
    graph: Graph,
    network: NetworkConfig,
    learning: LearningConfig,
    module: PlasticityModule,
    seed: int = 0,
) -> LearnerState:
    """Return the state of a learner that has not learned anything yet."""
    numbers = NetworkNumbers.of(network), LearningNumbers.of(learning)
    settings = EngineSettings(*numbers, module.watches)
    n_edges, iterations = graph.n_edges, network.iterations
    return LearnerState(
        graph=graph,
        watched=module.start(graph),
        step=np.zeros(1, dtype=np.int64),
        rate=np.ones(1),
        trace=np.zeros((iterations + 1, graph.n_nodes)),
        moments=np.zeros((settings.learning.n_moments, n_edges)),
        examples=np.zeros(2, dtype=np.int64),
        pending=np.zeros((int(settings.learning.update != 1), n_edges)),
        credit=np.zeros((learning.rule.n_rows, n_edges)),
        feedback=start_feedback(learning.rule, graph, seed),
        average=np.zeros((2, n_edges if learning.averaging else 0)),
        past=Past.start(learning.through_time, iterations, graph.n_nodes, n_edges),
        protection=np.zeros((0, n_edges)),
        workspace=new_workspace(settings, graph),
        settings=settings,
    )


def new_workspace(settings: EngineSettings, graph: Graph) -> Workspace:
    """Return a workspace that fits a graph.

    With one iteration the outputs depend on edges into outputs alone, so under backpropagation the
    others have no gradient and do not move -- unless it goes back through earlier calls, or weight
    decay moves them.
    """
    iterations, learning = settings.network.iterations, settings.learning
    starts = row_starts(graph.target, graph.n_nodes)
    first, last = int(starts[graph.n_inputs]), graph.n_edges
    if iterations == 1 and learning.credit == 0 and learning.through_time == 0:
        last = int(starts[graph.n_inputs + graph.n_outputs])
    if learning.weight_decay != 0.0:
        first, last = 0, graph.n_edges
    return Workspace(
        gradient=np.zeros(graph.n_edges),
        delta=np.zeros(graph.n_edges),
        adjoint=np.zeros((2, graph.n_nodes)),
        errors=np.zeros((iterations, graph.n_nodes if settings.watches else 0)),
        starts=starts,
        first=first,
        last=last,
    )


def carry_state(state: LearnerState, module: PlasticityModule, applied: Applied) -> LearnerState:
    """Carry everything over to the graph after an edit but the window of earlier calls."""
    graph, node_origin, edge_origin = applied
    step, moments, average = state.step, state.moments, state.average
    if module.config.optimizer_on_edit == "reset":
        step, moments = np.zeros_like(step), np.zeros_like(moments)
    if state.settings.learning.averaging > 0.0:
        average = carry(average, edge_origin)
    n_past, n_rows, _ = state.past.traces.shape
    return state._replace(
        graph=graph,
        watched=module.carry(state.watched, graph, node_origin, edge_origin),
        step=step,
        trace=carry(state.trace, node_origin),
        moments=carry(moments, edge_origin),
        pending=carry(state.pending, edge_origin),
        credit=carry(state.credit, edge_origin),
        feedback=carry_feedback(state.feedback, node_origin, module.rng),
        average=average,
        past=Past.start(n_past, n_rows - 1, graph.n_nodes, graph.n_edges),
        protection=carry(state.protection, edge_origin),
        workspace=new_workspace(state.settings, graph),
    )


# The smallest state there is, off which the Numba type of all is read.
_graph = Graph.from_edges(1, 1, edges=[(0, 1, 1.0)])
_module = PlasticityModule(PlasticityConfig.static(), _graph, 1, np.random.default_rng(0))
_config = NetworkConfig(n_inputs=1, n_outputs=1, bias=False)
_example = start_state(_graph, _config, LearningConfig(), _module)
make_handle, state_of = make_handles(_example, EngineSettings)
"""Make a handle of a `LearnerState`, and read it in a lean kernel."""
