"""Settings of a network, and the same as numbers, the form in which kernels take them."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

from smgrnn.validation import Count, NonNegative, Settings, Share, Whole

Activation = Literal["tanh", "sigmoid", "relu", "identity"]
ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)
"""Kernels know an activation by its index here."""
Readout = Literal["state", "sum"]


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(Settings):
    """The part of the network's settings that a user chooses; the task adds the rest."""

    bias: bool = True
    """Add a constant input of 1; its edges are biases."""
    n_hidden: Whole = 0
    """Hidden nodes at the start."""
    density: Share = 1.0
    """Fraction of the allowed node pairs that start connected."""
    weight_std: NonNegative | None = None
    """Standard deviation of the zero-mean Gaussian initial weights; None is 0.1 with hidden nodes,
    which would never learn from zeros, and 0 without."""
    iterations: Count = 2
    """Synchronous message-passing iterations in each call (K)."""
    activation: Activation = "relu"
    """Activation of hidden nodes (φ)."""
    output_activation: Activation = "identity"
    """Activation of output nodes (φ_out)."""
    readout: Readout | None = None
    """States of the outputs, or sums before φ_out; None is the sums for a cross-entropy."""
    carry_state: bool = False
    """Carry node states from call to call; False starts every call from zero."""

    def sized(
        self, n_inputs: int, n_outputs: int, readout: Readout = "sum", state_dim: int = 1
    ) -> "NetworkConfig":
        """Return the network of a size; the readout is for settings that have none.

        >>> NetworkSettings().sized(4, 2).readout
        'sum'
        """
        own = vars(self) | {"readout": self.readout or readout, "state_dim": state_dim}
        return NetworkConfig(n_inputs=n_inputs, n_outputs=n_outputs, **own)


@dataclass(frozen=True, kw_only=True)
class NetworkConfig(NetworkSettings):
    """The network before it learns (Sec. III-B, IV-A2).

    Examples
    --------
    >>> from smgrnn.config import NetworkConfig
    >>> NetworkConfig(n_inputs=4, n_outputs=2).activation
    'relu'
    """

    n_inputs: Count
    """Values that go in; with a bias there is one input node more."""
    n_outputs: Count
    """Output nodes, one per action."""
    state_dim: Count = 1
    """Features in the state of a node (F)."""
    readout: Readout = "sum"
    """A call returns the states of the outputs, or the weighted sums before φ_out."""

    @property
    def n_input_nodes(self) -> int:
        """Input nodes: one per value, and last the constant of a bias."""
        return self.n_inputs + self.bias


class NetworkNumbers(NamedTuple):
    """The settings by which a graph is run, as numbers; an activation is its index."""

    n_inputs: int  # input nodes, with that of a bias
    n_outputs: int
    iterations: int
    activation: int
    output_activation: int
    reads_sums: bool
    carries_state: bool

    @classmethod
    def of(cls, config: NetworkConfig) -> Self:
        """Translate the settings."""
        sizes = config.n_input_nodes, config.n_outputs, config.iterations
        hidden, output = map(ACTIVATIONS.index, (config.activation, config.output_activation))
        reads_sums = config.readout == "sum" and config.output_activation != "identity"
        return cls(*sizes, hidden, output, reads_sums, config.carry_state)
