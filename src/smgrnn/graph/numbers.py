"""The settings of a network as numbers, the form in which kernels take them."""

from typing import NamedTuple, Self

from smgrnn.graph.activation import ACTIVATIONS
from smgrnn.graph.settings import NetworkConfig


class NetworkNumbers(NamedTuple):
    """The settings by which a graph is run."""

    n_inputs: int
    n_outputs: int
    iterations: int
    activation: int
    """Place in ACTIVATIONS."""
    output_activation: int
    """Place in ACTIVATIONS."""
    reads_sums: bool
    """Whether a call returns the sums before the outputs' activation."""
    carries_state: bool
    """Whether node states are carried from call to call."""

    @classmethod
    def of(cls, config: NetworkConfig) -> Self:
        """Translate the settings."""
        return cls(
            config.n_inputs,
            config.n_outputs,
            config.iterations,
            ACTIVATIONS.index(config.activation),
            ACTIVATIONS.index(config.output_activation),
            config.readout == "sum",
            config.carry_state,
        )
