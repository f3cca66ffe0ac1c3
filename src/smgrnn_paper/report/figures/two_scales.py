"""Two scales on one axis: the values that matter at full height, and those far below them.

A few poor students would press all others into one line.  The axis does not break, so that every
curve is drawn whole: below a value it is only shorter.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from smgrnn_paper.report.figures.style import GREY

SHARE = 0.62
"""Share of the height that values have above the change of scale."""
MARGIN = 0.05
"""Room at either end and at the change of scale, as a share of what is beside it."""
CLEAR = 0.07
"""Share of the height that is free of numbers on either side of it."""
STROKE: Any = {"marker": [(-1, -0.5), (1, 0.5)], "markersize": 7, "linestyle": "", "color": "black"}
"""Two strokes through the axis, the sign of a scale that changes."""


def shorten_below(ax: Axes, value: float) -> bool:
    """Leave `SHARE` of an axis to what is above a value; return whether it had less before."""
    data = [each.dataLim.intervaly for each in ax.get_shared_y_axes().get_siblings(ax)]
    low, high = np.min(data), np.max(data)
    if not low < value < high or (high - value) / (high - low) >= SHARE:
        return False
    value, high = value - MARGIN * (high - value), high + MARGIN * (high - value)
    low -= MARGIN * (value - low)
    ratio = (1 / SHARE - 1) * (high - value) / (value - low)

    def forward(y: Any) -> Any:
        return np.maximum(y - value, 0) + ratio * np.minimum(y - value, 0)

    def backward(height: Any) -> Any:
        return value + np.maximum(height, 0) + np.minimum(height, 0) / ratio

    ax.set_yscale("function", functions=(forward, backward))
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(FixedLocator(_ticks(low, value, high)))
    ax.axhspan(low, value, color=GREY, alpha=0.07, linewidth=0, zorder=0)
    heights = [1 - SHARE - 0.012, 1 - SHARE + 0.012]
    ax.plot([0, 0], heights, transform=ax.transAxes, clip_on=False, zorder=3, **STROKE)
    return True


def _ticks(low: float, value: float, high: float) -> list[float]:
    """Return round numbers below and above the change of scale, and none close to it."""
    room_below, room_above = CLEAR / (1 - SHARE) * (value - low), CLEAR / SHARE * (high - value)
    below = _round_numbers(low, value - room_below, 3)
    return below + _round_numbers(value + room_above, high, 4)


def _round_numbers(low: float, high: float, n: int) -> list[float]:
    numbers = MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [number for number in numbers if low <= number <= high]
