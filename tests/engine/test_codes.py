"""Choices are named codes: every value of every Literal has one, and every code does something."""

import importlib
import pkgutil
from typing import Any, get_args

import numpy as np
import pytest
import torch
from numba import types

import smgrnn
from smgrnn import Learner, NetworkConfig, PlasticityConfig
from smgrnn.graph.activation import ACTIVATIONS, activate, slope
from smgrnn.graph.settings import Activation
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.learning.schedule import rate_at
from smgrnn.learning.settings import BiasCorrection, Loss, Rate
from support.flat import learning as learning_config
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


NETWORK = NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=2, density=1.0, iterations=2)


def weights(n: int = 20, **learning: Any) -> Any:
    """Return the weights after a short stream."""
    loss = learning.get("loss", "cross_entropy")
    made = Learner(NETWORK, learning_config(**learning), PlasticityConfig.static(), seed=0)
    made.progress = 0.9
    rows = stream(n)
    labels = np.tanh(rows.observations[:, :2]) if loss == "mse" else rows.labels
    made.learn_stream(rows.observations, labels)
    return made.graph.weight


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("optimizer", tuple(OPTIMIZERS)),
        ("rule", tuple(LEARNING)),
        ("loss", get_args(Loss)),
        ("bias_correction", get_args(BiasCorrection)),
        ("schedule", get_args(Rate)),
    ],
)
def test_every_choice_of_learning_moves_the_weights_in_its_own_way(
    name: str, choices: tuple[str, ...]
) -> None:
    rows = [weights(**_named(name, choice)).tolist() for choice in choices]
    assert len({tuple(row) for row in [weights(n=0).tolist(), *rows]}) == len(rows) + 1


@pytest.mark.parametrize(
    ("name", "shares"),
    [("constant", [1.0] * 6), ("falling", [1.0, 1.0, 1.0, 0.525, 0.05, 0.05])],
)
def test_every_schedule_of_the_learning_rate_is_its_share_of_it(
    name: Rate, shares: list[float]
) -> None:
    """Progress of -1 is a run of unknown length, and above 1 one that goes on for longer."""
    found = [rate_at(name, at) for at in (-1.0, 0.0, 0.5, 0.75, 1.0, 1.5)]
    assert found == pytest.approx(shares)


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


def _named(name: str, value: Any) -> dict[str, Any]:
    return {name: value}
