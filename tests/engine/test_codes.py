"""Activations are torch's, and kernels that count no references return no array."""

import importlib
import pkgutil
from typing import Any, get_args

import numpy as np
import pytest
import torch
from numba import types

import smgrnn
from smgrnn import Learner, NetworkConfig
from smgrnn.graph.activation import activate, slope
from smgrnn.graph.settings import ACTIVATIONS, Activation
from support.learners import stream


@pytest.mark.parametrize("name", get_args(Activation))
def test_every_activation_is_torchs_and_has_its_slope(name: Activation) -> None:
    code = ACTIVATIONS.index(name)
    points = torch.linspace(-3, 3, 13, dtype=torch.float64, requires_grad=True)
    expected = points * 1 if name == "identity" else getattr(torch, name)(points)
    expected.sum().backward()
    values = points.detach().numpy().reshape(1, -1).copy()
    activate(values, 0, 0, 13, code)
    np.testing.assert_allclose(values[0], expected.detach().numpy(), atol=1e-15)
    assert points.grad is not None
    slopes = [slope(value, code) for value in values[0]]
    np.testing.assert_allclose(slopes, points.grad.numpy(), atol=1e-14)


def holds_an_array(kind: Any) -> bool:
    return isinstance(kind, types.Array) or any(map(holds_an_array, getattr(kind, "types", ())))


def test_kernels_that_borrow_arrays_return_none() -> None:
    """An array that is made or returned where references are not counted would be freed twice."""
    made, rows = Learner(NetworkConfig(n_inputs=3, n_outputs=2, carry_state=False)), stream(9)
    made.learn_stream(*rows)
    made.learn(rows.observations[0], 1)
    made.end_episode()
    made.act(rows.observations)
    made.act(rows.observations[0])
    n_seen = 0
    for info in pkgutil.walk_packages(smgrnn.__path__, "smgrnn."):
        if info.name == "smgrnn.__main__":
            continue
        for value in vars(importlib.import_module(info.name)).values():
            compiled = getattr(value, "_compiled", value)
            if getattr(compiled, "targetoptions", {}).get("_nrt", True):
                continue
            for result in compiled.overloads.values():
                n_seen += 1
                assert not holds_an_array(result.signature.return_type), value
    assert n_seen >= 5
