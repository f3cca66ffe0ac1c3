"""The compiled activation functions against numpy's."""

import numpy as np
import pytest

from smgrnn.arrays import Floats
from smgrnn.graph.activation import activate, slope
from smgrnn.graph.settings import ACTIVATIONS
from smgrnn.kernels import kernel


@kernel
def activate_row(values: Floats, first: int, last: int, activation: int) -> None:
    activate(values, 0, first, last, activation)


def magnitudes() -> Floats:
    """Both signs of numbers of every size, dense where tanh bends and where it becomes flat."""
    rng = np.random.default_rng(0)
    spread = 10.0 ** rng.uniform(-320, 308, 100_000)  # the smallest of them are subnormal
    sizes = np.concatenate(
        [
            spread,
            10.0 ** rng.uniform(-10, 2, 200_000),
            rng.uniform(0, 25, 200_000),
            np.arange(1, 200) * np.log(2) / 4,  # where the reduction by powers of 2 switches
            [0.0, 5e-324, 2.3e-308, 1e-17, 18.9, 19.06, 19.1, 20.0, 20.1, 1e300, np.inf],
        ]
    )
    return np.concatenate([sizes, -sizes])


def activated(values: Floats, name: str) -> Floats:
    """Apply an activation to an array, between two neighbours it must leave alone."""
    padded = np.concatenate([[7.0], values, [7.0]])[None]
    activate_row(padded, 1, values.size + 1, ACTIVATIONS.index(name))
    assert padded[0, 0] == padded[0, -1] == 7.0
    return padded[0, 1:-1]


def test_tanh_is_within_four_units_in_the_last_place_of_numpys() -> None:
    x = magnitudes()
    expected, found = np.tanh(x), activated(x, "tanh")
    distance = np.abs(found.view(np.int64) - expected.view(np.int64))  # signs agree: see below
    assert np.array_equal(np.signbit(found), np.signbit(x))
    assert distance.max() <= 4
    assert np.abs(found).max() == 1.0


def test_tanh_keeps_the_sign_of_zero_and_what_is_not_a_number() -> None:
    found = activated(np.array([0.0, -0.0, np.nan, np.inf, -np.inf]), "tanh")
    assert np.signbit(found[:2]).tolist() == [False, True]
    assert found[:2].tolist() == [0.0, 0.0]
    assert np.isnan(found[2])
    assert found[3:].tolist() == [1.0, -1.0]


def test_tanh_is_odd_and_never_falls() -> None:
    x = np.sort(magnitudes())
    found = activated(x, "tanh")
    np.testing.assert_array_equal(found, -activated(-x, "tanh"))
    steps = np.diff(found)
    assert steps.min() >= -4 * np.finfo(float).eps


@pytest.mark.parametrize("name", ["sigmoid", "relu", "identity"])
def test_the_other_activations_are_numpys(name: str) -> None:
    x = magnitudes()
    with np.errstate(over="ignore"):
        sigmoid = 1 / (1 + np.exp(-x))
    expected = {"sigmoid": sigmoid, "relu": np.maximum(x, 0), "identity": x}[name]
    np.testing.assert_allclose(activated(x, name), expected, rtol=1e-15)
    assert np.isnan(activated(np.array([np.nan]), name)[0])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_slope_is_the_derivative_where_the_activation_takes_the_value(name: str) -> None:
    x, step = np.linspace(-3, 3, 20), 1e-6
    above, below = activated(x + step, name), activated(x - step, name)
    found = [slope(value, ACTIVATIONS.index(name)) for value in activated(x, name)]
    np.testing.assert_allclose(found, (above - below) / (2 * step), atol=1e-8)
