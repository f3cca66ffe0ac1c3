"""What every export format writes out: a finished network, its task and its name."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from smgrnn.arrays import Ints, Singles
from smgrnn.config import NetworkConfig
from smgrnn.episodes.normalisation import Normalisation
from smgrnn.errors import ConfigError
from smgrnn.graph.state import Graph
from smgrnn.runs import Policy
from smgrnn.tasks import Task


class Wiring(NamedTuple):
    """The edges that a step follows: those into outputs, then those into hidden nodes."""

    fan_in: Ints
    """Edges into each output and hidden node (n_states,)."""
    source: Ints
    """Position of the node each edge leaves (n_parameters,)."""
    target: Ints
    """State that each edge enters: 0 is the first output (n_parameters,)."""
    weight: Singles
    """Weight of each edge (n_parameters,)."""


@dataclass(frozen=True)
class Controller:
    """A network that no longer learns, with all that a step of it needs."""

    task: Task
    network: NetworkConfig
    graph: Graph
    student: str = ""
    """The kind of student it was, if that is known."""
    normalisation: Normalisation | None = None
    """What it normalises observations by, which it takes as the task gives them."""

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """Take the network out of a policy."""
        return cls(policy.task, policy.config, policy.graph, policy.student, policy.normalisation)

    @property
    def n_biases(self) -> int:
        """Inputs beyond the observation, which are always 1."""
        return self.network.n_inputs - self.task.n_inputs

    @property
    def n_states(self) -> int:
        """Output and hidden nodes: what a step hands on to the next."""
        return self.graph.n_nodes - self.graph.n_inputs

    @property
    def n_parameters(self) -> int:
        """Weights that a step uses: all but those of edges into inputs, which are clamped."""
        return int(np.count_nonzero(self.graph.target >= self.graph.n_inputs))

    @property
    def wiring(self) -> Wiring:
        """The edges that a step follows, with weights in single precision."""
        graph = self.graph
        is_used = graph.target >= graph.n_inputs
        target, exact = graph.target[is_used] - graph.n_inputs, graph.weight[is_used]
        if np.abs(exact).max(initial=0.0) > np.finfo(np.float32).max:
            raise ConfigError("A weight of the network is too large for single precision.")
        fan_in = np.bincount(target, minlength=self.n_states)
        return Wiring(fan_in, graph.source[is_used], target, exact.astype(np.float32))

    @property
    def facts(self) -> dict[str, str | int | bool]:
        """What an exported file says about itself."""
        network = self.network
        return {
            "task": self.task.id,
            "student": self.student,
            "n_parameters": self.n_parameters,
            "n_hidden": self.graph.n_hidden,
            "iterations": network.iterations,
            "activation": network.activation,
            "output_activation": network.output_activation,
            "readout": network.readout,
            "carry_state": network.carry_state,
            "normalise": self.normalisation is not None,
        }
