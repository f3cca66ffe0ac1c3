"""Choices are named codes: every value of every Literal has one, and every code does something."""

import importlib
import pkgutil
from typing import Any, get_args

import numpy as np
import pytest
import torch
from numba import types
from smgrnn.plasticity.numbers import NEW_WEIGHTS, SCALES

import smgrnn
from smgrnn import Learner, NetworkConfig, PlasticityConfig
from smgrnn.config import (
    Activation,
    BiasCorrection,
    Loss,
    NewWeights,
    OnEdit,
    Optimizer,
    Rate,
    Readout,
    Scale,
)
from smgrnn.graph.activation import ACTIVATIONS, activate, slope
from smgrnn.learning.numbers import LOSSES, OPTIMIZERS, RATES
from smgrnn.learning.schedule import rate_at
from support.flat import learning as learning_config
from support.flat import rules
from support.learners import stream


def test_the_codes_are_the_places_in_the_literals() -> None:
    assert get_args(Activation) == ACTIVATIONS
    assert get_args(Loss) == LOSSES
    assert get_args(Optimizer) == OPTIMIZERS
    assert get_args(Rate) == RATES
    assert get_args(Scale) == SCALES
    assert get_args(NewWeights) == NEW_WEIGHTS


@pytest.mark.parametrize("name", get_args(Activation))
def test_every_activation_is_torchs_and_has_its_slope(name: str) -> None:
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


def test_an_unknown_activation_is_no_activation_at_all() -> None:
    assert np.isnan(slope(0.5, len(ACTIVATIONS)))


def weights(**learning: Any) -> Any:
    """Return the weights after a short stream."""
    loss = learning.get("loss", "cross_entropy")
    network = NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=2, density=1.0, iterations=2)
    made = Learner(network, learning_config(**learning), PlasticityConfig.static(), seed=0)
    made.progress = 0.9
    rows = stream(20)
    labels = np.tanh(rows.observations[:, :2]) if loss == "mse" else rows.labels
    made.learn_stream(rows.observations, labels)
    return made.graph.weight


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("optimizer", get_args(Optimizer)),
        ("loss", get_args(Loss)),
        ("bias_correction", get_args(BiasCorrection)),
        ("schedule", get_args(Rate)),
    ],
)
def test_every_choice_of_learning_moves_the_weights_in_its_own_way(
    name: str, choices: tuple[str, ...]
) -> None:
    rows = [weights(**{name: choice}).tolist() for choice in choices]
    start = Learner(
        NetworkConfig(n_inputs=3, n_outputs=2, n_hidden=2, density=1.0, iterations=2), seed=0
    ).graph.weight.tolist()
    distinct = {tuple(row) for row in [start, *rows]}
    assert len(distinct) == len(rows) + 1


@pytest.mark.parametrize(
    ("name", "shares"),
    [("constant", [1.0] * 6), ("falling", [1.0, 1.0, 1.0, 0.525, 0.05, 0.05])],
)
def test_every_schedule_of_the_learning_rate_is_its_share_of_it(
    name: Rate, shares: list[float]
) -> None:
    """Progress of -1 is a run of unknown length, and above 1 one that goes on for longer."""
    found = [rate_at(RATES.index(name), at) for at in (-1.0, 0.0, 0.5, 0.75, 1.0, 1.5)]
    assert found == pytest.approx(shares)


def test_an_unknown_schedule_is_no_schedule_at_all() -> None:
    assert np.isnan(rate_at(len(RATES), 0.9))


@pytest.mark.parametrize("readout", get_args(Readout))
@pytest.mark.parametrize("on_edit", get_args(OnEdit))
@pytest.mark.parametrize("scale", get_args(Scale))
def test_every_choice_of_network_and_plasticity_learns(
    readout: Any, on_edit: Any, scale: Any
) -> None:
    rules = rules(
        scale=scale, history_on_edit=on_edit, optimizer_on_edit=on_edit, interval=5, window=5
    )
    network = NetworkConfig(n_inputs=3, n_outputs=2, readout=readout)
    made = Learner(network, plasticity=rules, seed=0)
    made.learn_stream(*stream(60))
    assert made.n_updates == 60


def holds_an_array(kind: Any) -> bool:
    return isinstance(kind, types.Array) or any(map(holds_an_array, getattr(kind, "types", ())))


def test_kernels_that_borrow_arrays_return_none() -> None:
    """An array that is made or returned where references are not counted would be freed twice."""
    Learner(NetworkConfig(n_inputs=3, n_outputs=2)).learn_stream(*stream(150))
    n_seen = 0
    for info in pkgutil.walk_packages(smgrnn.__path__, "smgrnn."):
        if info.name == "smgrnn.__main__":
            continue
        for value in vars(importlib.import_module(info.name)).values():
            if getattr(value, "targetoptions", {}).get("_nrt", True):
                continue
            for result in (*value.overloads.values(), *value.inner.overloads.values()):
                n_seen += 1
                assert not holds_an_array(result.signature.return_type), value
    assert n_seen > 10
