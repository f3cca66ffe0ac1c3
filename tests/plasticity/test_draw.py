"""The random draws of the rules: distinct, uniform, and numpy's own."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smgrnn.plasticity.draw import bernoulli, gaussian, subset

from smgrnn.graph import Graph
from smgrnn.rules import UpdateHistory
from support.decisions import CHI_SQUARE_999, call, chi_square


@settings(max_examples=200, deadline=None, derandomize=True)
@given(n=st.integers(0, 40), share=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_a_subset_is_distinct_numbers_in_range_ascending(n: int, share: float, seed: int) -> None:
    size = int(share * n)
    chosen = subset(np.random.default_rng(seed), n, size).tolist()
    assert chosen == sorted(set(chosen))
    assert len(chosen) == size
    assert all(0 <= number < n for number in chosen)


@pytest.mark.parametrize(("n", "size", "n_sets"), [(4, 1, 4), (5, 2, 10), (5, 3, 10), (6, 3, 20)])
def test_every_subset_is_equally_likely(n: int, size: int, n_sets: int) -> None:
    rng = np.random.default_rng(0)
    counts = Counter(tuple(subset(rng, n, size).tolist()) for _ in range(10_000))
    assert len(counts) == n_sets
    assert chi_square(counts) < CHI_SQUARE_999[n_sets - 1]


def test_a_subset_of_everything_or_nothing_draws_nothing() -> None:
    rng = np.random.default_rng(0)
    assert subset(rng, 7, 7).tolist() == list(range(7))
    assert subset(rng, 7, 0).tolist() == []
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_bernoulli_and_gaussian_draw_what_numpy_draws() -> None:
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(100):
        assert bernoulli(ours, 0.3) == (theirs.random() < 0.3)
        assert gaussian(ours, 0.01) == 0.01 * theirs.standard_normal()


def test_new_weights_are_gaussian_with_the_initial_weight_as_deviation() -> None:
    graph = Graph.from_edges(40, 40, edges=[])
    for std in (0.0, 0.01, 0.5):
        edit = call(graph, UpdateHistory.start(0, 2), explore_ratio=1.0, initial_weight=std).edit
        assert edit.weight.size == 80
        assert edit.weight.std() == pytest.approx(std, rel=0.2)
        assert abs(edit.weight.mean()) <= 4 * std / np.sqrt(80)


def test_new_weights_can_have_a_random_sign_and_nothing_else() -> None:
    graph = Graph.from_edges(40, 40, edges=[])
    history = UpdateHistory.start(0, 2)
    edit = call(graph, history, explore_ratio=1.0, initial_weight=0.05, new_weights="sign").edit
    assert set(edit.weight.tolist()) == {0.05, -0.05}
    assert 20 <= (edit.weight > 0).sum() <= 60
