"""Students: what a run trains, as it is before its first episode.  Paper: Sec. IV-A2, IV-A4."""

from dataclasses import replace

from smgrnn.baselines.mlp import find_budget, mlp_graph, mlp_width
from smgrnn.config import Loss, NetworkConfig, PlasticityConfig, Readout, RunConfig
from smgrnn.engine import Learner
from smgrnn.errors import ConfigError
from smgrnn.graph.state import Graph
from smgrnn.seeding import stream
from smgrnn.tasks import Task

STUDENTS = {
    "smgrnn": "grows and prunes while it learns",
    "static": "the same initial graph, kept as it is",
    "growth-only": "grows and never prunes",
    "mlp-100": "one hidden layer, with as many parameters as the growing network takes",
    "mlp-200": "one hidden layer, with twice as many",
}
"""The students of a distillation by name."""
MLP_SHARES = {"mlp-100": 1, "mlp-200": 2}
"""Parameters of an MLP as a multiple of the budget."""


def new_learner(config: RunConfig, task: Task, graph: Graph | None = None) -> Learner:
    """Return the student of a run, by default with the graph that it starts from.

    The growing student and its ablations start from the same graph.
    """
    network = student_network(config, task)
    if graph is None and config.student in MLP_SHARES:
        graph = _start_mlp(config, task)
    loss: Loss = "cross_entropy" if task.is_discrete else "mse"
    learning = replace(config.learning, loss=loss)
    learner = Learner(network, learning, student_rules(config), graph=graph, seed=config.seed)
    if config.max_parameters is not None and learner.graph.n_edges > config.max_parameters:
        raise ConfigError(
            f"The network starts with {learner.graph.n_edges} edges, more than "
            f"max_parameters={config.max_parameters}; lower the density."
        )
    return learner


def student_network(config: RunConfig, task: Task) -> NetworkConfig:
    """Return what the student of a run is; an MLP is two iterations of a layered graph."""
    readout: Readout = "sum" if task.is_discrete else "state"
    network = NetworkConfig(
        n_inputs=task.n_inputs + config.bias,
        n_outputs=task.n_outputs,
        n_hidden=config.n_hidden,
        density=config.density,
        weight_std=config.weight_std,
        iterations=config.iterations,
        activation=config.activation,
        output_activation=config.output_activation,
        readout=config.readout or readout,
        carry_state=config.carry_state,
    )
    if config.student not in MLP_SHARES:
        return network
    return replace(
        network,
        n_inputs=task.n_inputs + 1,
        iterations=2,
        output_activation="identity",
        carry_state=False,
    )


def student_rules(config: RunConfig) -> PlasticityConfig:
    """Return the plasticity settings of a kind of student."""
    rules = config.plasticity
    if config.max_parameters is not None:
        rules = replace(rules, max_edges=min(config.max_parameters, rules.max_edges))
    if config.student == "smgrnn":
        return rules
    rules = replace(rules, pruning="none", orphan_removal=False)
    if config.student == "growth-only":
        return rules
    return replace(rules, growth="none")


def _start_mlp(config: RunConfig, task: Task) -> Graph:
    budget = find_budget(task.id) if config.budget is None else config.budget
    share = MLP_SHARES[config.student]
    n_hidden = mlp_width(task.n_inputs, task.n_outputs, share * budget)
    return mlp_graph(task.n_inputs, n_hidden, task.n_outputs, stream(config.seed, "init"))
