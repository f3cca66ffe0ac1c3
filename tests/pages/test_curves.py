"""Curves over episodes, and figures as pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from smgrnn.pages.figure import POINTS, Curve, moving_mean, take_picture


def scribble() -> Figure:
    figure = Figure(figsize=(4, 2))
    figure.subplots().plot([1, 2])
    return figure


def test_a_figure_of_too_many_lines_becomes_dots() -> None:
    lines = take_picture(scribble())
    assert lines.suffix == "svg"
    assert lines.data == take_picture(scribble()).data
    dots = take_picture(scribble(), limit=len(lines.data) - 1)
    assert (dots.suffix, dots.data[:4]) == ("png", b"\x89PNG")


@given(
    st.lists(st.floats(-100, 100) | st.just(float("nan")), min_size=1, max_size=30),
    st.integers(1, 12),
)
def test_a_moving_mean_is_over_whole_windows(values: list[float], width: int) -> None:
    smooth = moving_mean(values, width)
    assert smooth.size == max(len(values) - width + 1, 0)
    for place, mean in enumerate(smooth):
        there = [value for value in values[place : place + width] if not np.isnan(value)]
        expected = np.mean(there) if there else np.nan
        assert mean == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_smoothing_makes_no_spikes_at_the_ends() -> None:
    """Means over half a window, at both ends, had growth in them without the pruning after it."""
    straight = Curve.of([np.arange(1.0, 41.0)], width=7)
    assert straight.mean == pytest.approx(straight.x)
    sawtooth = Curve.of([[1.0, 1.0, 1.0, -3.0] * 10], width=8)
    assert sawtooth.mean == pytest.approx(0)
    assert (sawtooth.x[0], sawtooth.x[-1]) == (4.5, 36.5)


def test_a_band_stays_within_bounds() -> None:
    curve = Curve.of([[460.0, 10.0], [500.0, 480.0]]).within((1.0, 490.0))
    assert curve.mean.tolist() == [480.0, 245.0]
    assert curve.high.tolist() == [490.0, 480.0]
    assert curve.low.tolist() == [460.0, 10.0]


def test_a_curve_is_mean_and_band_over_runs() -> None:
    runs = [[1.0, 1.0], [3.0, 5.0], [8.0, np.nan]]
    curve = Curve.of(runs, band="range")
    assert curve.x.tolist() == [1, 2]
    assert curve.mean.tolist() == [4.0, 3.0]
    assert (curve.low.tolist(), curve.high.tolist()) == ([1.0, 1.0], [8.0, 5.0])
    std = Curve.of(runs, band="std")
    assert std.high[1] - std.mean[1] == std.mean[1] - std.low[1] == 2.0  # over n, not n - 1
    bare = Curve.of(runs, band="")
    assert bare.low.tolist() == bare.mean.tolist() == bare.high.tolist()


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    kept = Curve.of([np.arange(2000.0)])
    assert (kept.x[0], kept.x[-1], kept.x.size) == (1, 2000, POINTS)
    assert Curve.of([np.arange(3.0)]).x.tolist() == [1, 2, 3]
    assert Curve.of([[7.0]]).x.tolist() == [1]
    assert Curve.of([[1.0, 3.0]], width=5).mean.tolist() == [2.0]  # shorter than the smoothing
    stopped = Curve.of([[1, 2], [3]], length=3, band="")  # a run keeps its last value
    assert stopped.mean.tolist() == [2.0, 2.5, 2.5]
