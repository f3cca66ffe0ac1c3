"""The optimizer's state through an edit: every surviving edge keeps its own moments.

torch keeps one `step` counter per parameter, so a new edge joins with zero moments under the bias
correction of an old one; that counter stays as it is.
"""

import torch
from torch import Tensor, nn

from smgrnn.errors import AttachmentError
from smgrnn.nn.network import carry

# What does not start from zero, and the setting it starts from: Rprop's step sizes, Adagrad's sums.
_FRESH_FROM_GROUP = {"step_size": "lr", "sum": "initial_accumulator_value"}


def check_optimizer(optimizer: torch.optim.Optimizer, parameter: nn.Parameter) -> None:
    """Refuse an optimizer that does not train `parameter`, or not edge by edge."""
    if not any(held is parameter for group in optimizer.param_groups for held in group["params"]):
        raise AttachmentError(
            "The optimizer does not hold the network's weight; build it from net.parameters()."
        )
    if isinstance(optimizer, torch.optim.LBFGS):
        raise AttachmentError("LBFGS keeps no state per edge, so its state cannot survive an edit.")


def carry_optimizer_state(
    optimizer: torch.optim.Optimizer, parameter: nn.Parameter, n_before: int, edge_origin: Tensor
) -> None:
    """Rearrange the state of `parameter` after an edit; new edges start from zero state."""
    state = optimizer.state.get(parameter, {})
    group = next(g for g in optimizer.param_groups if any(p is parameter for p in g["params"]))
    for name, value in state.items():
        if isinstance(value, Tensor) and value.shape == (n_before,):
            fill = float(group[_FRESH_FROM_GROUP[name]]) if name in _FRESH_FROM_GROUP else 0.0
            state[name] = carry(value, edge_origin, fill)


def reset_optimizer_state(optimizer: torch.optim.Optimizer, parameter: nn.Parameter) -> None:
    """Forget the state of `parameter` alone, as if the optimizer had just been built."""
    optimizer.state.pop(parameter, None)
