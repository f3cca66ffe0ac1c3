"""Settings of a network, and the names of its parts."""

from dataclasses import dataclass
from typing import Literal

from smgrnn.validation import Count, NonNegative, Settings, Share, Whole

Activation = Literal["tanh", "sigmoid", "relu", "identity"]
Readout = Literal["state", "sum"]


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(Settings):
    """The part of the network's settings that a user chooses; the task adds the rest."""

    n_hidden: Whole = 0
    """Hidden nodes at the start."""
    density: Share = 0.8
    """Fraction of the allowed node pairs that start connected."""
    weight_std: NonNegative = 0.1
    """Standard deviation of the zero-mean Gaussian initial weights."""
    iterations: Count = 1
    """Synchronous message-passing iterations in each call (K)."""
    activation: Activation = "tanh"
    """Activation of hidden nodes (φ)."""
    output_activation: Activation = "tanh"
    """Activation of output nodes (φ_out)."""
    readout: Readout | None = None
    """The states of the outputs, or the weighted sums before φ_out; None is the sums where they are
    the logits of a cross-entropy, and the states elsewhere."""
    carry_state: bool = True
    """Carry node states from call to call; False starts every call from zero."""


@dataclass(frozen=True, kw_only=True)
class NetworkConfig(NetworkSettings):
    """The network before it learns (Sec. III-B, IV-A2).

    Examples
    --------
    >>> from smgrnn import NetworkConfig
    >>> NetworkConfig(n_inputs=4, n_outputs=2, iterations=2).activation
    'tanh'
    """

    n_inputs: Count
    """Input nodes, one per observation value."""
    n_outputs: Count
    """Output nodes, one per action."""
    state_dim: Count = 1
    """Features in the state of a node (F)."""
    readout: Readout = "state"
    """A call returns the states of the outputs, or the weighted sums before φ_out."""
