"""Experts from torch modules: a plain network is read, any other module is asked."""

import sys
from typing import Any

import numpy as np

from smgrnn.experts.mlp import Expert

ACTIVATIONS = {"ReLU": "relu", "Tanh": "tanh"}
IDLE = ("Sequential", "Flatten", "Identity", "Dropout")
"""Kinds of modules that leave a flat observation as it is when the network is evaluated."""


def is_module(source: Any) -> bool:
    """Return whether an object is a torch module; it takes no torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.nn.Module)


def expert_of_module(module: Any) -> Expert | None:
    """Return an `nn.Sequential` of linear layers, ReLUs and tanhs as an expert; None for others."""
    if type(module).__name__ != "Sequential":
        return None
    parts = [part for part in module.modules() if type(part).__name__ not in IDLE]
    kinds = [type(part).__name__ for part in parts]
    is_plain = all(
        kind in ACTIVATIONS if place % 2 else kind == "Linear" and parts[place].bias is not None
        for place, kind in enumerate(kinds)
    )
    if not is_plain or len(parts) % 2 == 0:
        return None
    layers = [
        tuple(each.detach().cpu().numpy().copy() for each in (part.weight, part.bias))
        for part in parts[::2]
    ]
    activations: Any = [ACTIVATIONS[kind] for kind in kinds[1::2]]
    return Expert.from_layers(layers, activations)


class ModuleFunction:
    """Asks a module for the values of a batch of one observation, or for the largest of them."""

    def __init__(self, module: Any, *, is_choice: bool) -> None:
        self._module, self._is_choice = module, is_choice

    def __call__(self, observation: Any) -> Any:
        """Return the greedy action, or the values of a continuous one."""
        torch, module = sys.modules["torch"], self._module
        was_training = module.training
        module.eval()
        with torch.no_grad():
            row = torch.as_tensor(np.asarray(observation, dtype=np.float32))[None]
            values = module(row)[0].numpy()
        module.train(was_training)
        return int(values.argmax()) if self._is_choice else values
