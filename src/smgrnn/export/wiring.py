"""Wiring: the parts of a policy that every export format writes."""

from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Ints, Singles
from smgrnn.errors import ConfigError
from smgrnn.policy import Policy


class Wiring(NamedTuple):
    """The edges that a step follows: those into outputs, then those into hidden nodes."""

    fan_in: Ints
    """Edges into each output and hidden node (n_states,)."""
    source: Ints
    """Position of the node each edge leaves (n_parameters,)."""
    target: Ints
    """Place of the state that each edge enters; 0 is the first output (n_parameters,)."""
    weight: Singles
    """Weight of each edge (n_parameters,)."""

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """Return the edges that a step follows, with weights in single precision."""
        graph = policy.graph
        is_used = graph.target >= graph.n_inputs
        target, exact = graph.target[is_used] - graph.n_inputs, graph.weight[is_used]
        if np.abs(exact).max(initial=0.0) > np.finfo(np.float32).max:
            raise ConfigError("A weight of the network is too large for single precision.")
        fan_in = np.bincount(target, minlength=graph.n_nodes - graph.n_inputs)
        return cls(fan_in, graph.source[is_used], target, exact.astype(np.float32))

    @property
    def n_states(self) -> int:
        """Output and hidden nodes, whose states a step passes to the next."""
        return self.fan_in.size


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
