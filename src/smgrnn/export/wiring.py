"""The parts of a policy that every export format writes."""

import numpy as np

from smgrnn.arrays import Ints, Singles
from smgrnn.errors import ConfigError
from smgrnn.policy import Policy
from smgrnn.storage import digest


def used_edges(policy: Policy) -> tuple[Ints, Ints, Singles]:
    """Return source, target and weight of the edges into outputs, then of those into hidden nodes.

    Targets count from the first output.  Weights are in single precision.
    """
    graph = policy.graph
    is_used = graph.target >= graph.n_inputs
    exact = graph.weight[is_used]
    if np.abs(exact).max(initial=0.0) > np.finfo(np.float32).max:
        raise ConfigError("A weight of the network is too large for single precision.")
    return graph.source[is_used], graph.target[is_used] - graph.n_inputs, exact.astype(np.float32)


def facts(policy: Policy) -> dict[str, str | int | bool]:
    """Return the facts that an exported file states about itself.

    Parameters are the weights that a step uses: edges into clamped inputs do not count.
    """
    graph = policy.graph
    settings = ("iterations", "activation", "output_activation", "readout", "carry_state")
    return {
        "task": policy.task.id,
        "student": policy.student,
        "n_parameters": int(np.count_nonzero(graph.target >= graph.n_inputs)),
        "n_hidden": graph.n_hidden,
        **{name: getattr(policy.config, name) for name in settings},
        "normalise": policy.normalisation is not None,
    }


def network_digest(policy: Policy) -> str:
    """Return a short SHA-256 of the network: its nodes, weights and settings."""
    graph, scales = policy.graph, policy.normalisation
    arrays = {"source": graph.source, "target": graph.target, "weight": graph.weight}
    arrays |= {} if scales is None else scales._asdict()
    nodes = [graph.n_inputs, graph.n_outputs, graph.n_nodes]
    return digest("network", [facts(policy), nodes], arrays)[:12]
