"""Curves: many runs as one line with a band, smooth enough to read and small enough to print."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from smgrnn.arrays import Floats, Ints
from smgrnn_paper.report.figures.style import BAND_OPACITY, Look

POINTS = 50
"""Most points kept of a curve; they are closer together than the width of a moving mean."""
SMOOTHED_SHARE = 40
"""A moving mean spans the number of episodes divided by this."""

Band = Literal["std", "range"]
BANDS: dict[Band, str] = {
    "std": "one standard deviation across runs to either side",
    "range": "from the lowest to the highest run",
}
"""The range that each kind of band spans, in words."""
Bounds = tuple[float, float]
"""The least and the largest value that a quantity can have."""


class Curve(NamedTuple):
    """The mean over runs and the bounds of the band around it."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls,
        runs: Sequence[ArrayLike],
        *,
        width: int = 1,
        band: Band | None = "std",
        length: int = 0,
    ) -> Self:
        """Smooth each run by a moving mean, then take mean and band over the runs.

        Where some runs are NaN, only the others count.  Episodes count from 1, at least to
        `length`; a mean is drawn in the middle of the episodes that it is of.
        """
        padded = pad(runs, length)
        width = min(width, padded.shape[1])
        rows = np.ma.masked_invalid([moving_mean(run, width) for run in padded])
        mean = rows.mean(axis=0)
        if band == "range":
            low, high = rows.min(axis=0), rows.max(axis=0)
        else:
            std = rows.std(axis=0) if band == "std" else 0.0
            low, high = mean - std, mean + std
        kept = thin(mean.size)
        columns = (np.ma.filled(each, np.nan)[kept] for each in (mean, low, high))
        return cls(kept.astype(np.float64) + (width + 1) / 2, *columns)

    def within(self, bounds: Bounds) -> Self:
        """Return the curve with a band that stays within bounds."""
        return self._replace(low=np.clip(self.low, *bounds), high=np.clip(self.high, *bounds))


def smoothing_width(n_episodes: int, share: int = SMOOTHED_SHARE) -> int:
    """Return the number of episodes that a moving mean spans.

    >>> smoothing_width(2000), smoothing_width(10)
    (50, 1)
    """
    return max(n_episodes // share, 1)


def moving_mean(values: ArrayLike, width: int) -> Floats:
    """Return the mean over every `width` values in a row (n - width + 1).

    None is over fewer: at the ends such means would swing with the few values they are of.  NaN
    values are left out; where there is no other value, the mean is NaN.

    >>> moving_mean([0.0, 3.0, 6.0, 0.0], 3).tolist()
    [3.0, 3.0]
    """
    row = np.asarray(values, dtype=np.float64)
    is_there = np.isfinite(row)
    sums, counts = (
        np.concatenate([[0.0], np.cumsum(each)]) for each in (np.where(is_there, row, 0), is_there)
    )
    n = counts[width:] - counts[:-width]
    means = np.full(n.size, np.nan)
    np.divide(sums[width:] - sums[:-width], n, out=means, where=n > 0)
    return means


def mean_and_bar(values: Sequence[float], bounds: Bounds) -> tuple[float, Floats]:
    """Return a mean, and how far a deviation reaches below and above it within bounds (2, 1).

    >>> mean, bar = mean_and_bar([440.0, 500.0, 500.0, 500.0], (1.0, 500.0))
    >>> mean, bar.round(1).tolist()
    (485.0, [[26.0], [15.0]])
    """
    mean, std = np.mean(values), np.std(values)
    low, high = np.clip([mean - std, mean + std], *bounds)
    return float(mean), np.maximum([[mean - low], [high - mean]], 0)


def pad(runs: Sequence[ArrayLike], length: int = 0) -> Floats:
    """Return runs as rows of equal length; one that stopped early keeps its last value.

    >>> pad([[1.0, 2.0], [3.0]], 3).tolist()
    [[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]
    """
    rows = [np.asarray(run, dtype=np.float64) for run in runs]
    end = max(length, *(row.size for row in rows))
    return np.array([np.pad(row, (0, end - row.size), mode="edge") for row in rows])


def thin(n: int) -> Ints:
    """Return at most `POINTS` places out of n, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, POINTS)).round().astype(np.int64))


def plot_curve(ax: Axes, curve: Curve, look: Look, **changes: Any) -> None:
    """Draw a curve and its band."""
    style = {"color": look.colour, "linestyle": look.line, **changes}
    ax.plot(curve.x, curve.mean, **style)
    if (curve.high > curve.low).any():
        ax.fill_between(
            curve.x, curve.low, curve.high, color=look.colour, alpha=BAND_OPACITY, linewidth=0
        )
