"""Front: return against parameters, and the area that a set of points covers."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Point(NamedTuple):
    """A return, of which more is better, and a number of parameters, of which fewer are."""

    mean_return: float
    parameters: float

    def dominates(self, other: "Point") -> bool:
        """Return whether it is nowhere worse than another point, and somewhere better."""
        is_no_worse = self.mean_return >= other.mean_return and self.parameters <= other.parameters
        return is_no_worse and self != other


def front(points: Sequence[Point]) -> list[int]:
    """Return the places of the points that no other one dominates, from the fewest parameters.

    >>> front([Point(1.0, 9), Point(2.0, 5), Point(3.0, 7)])
    [1, 2]
    """
    found = [
        place
        for place, point in enumerate(points)
        if not any(other.dominates(point) for other in points)
    ]
    return sorted(found, key=lambda place: (points[place].parameters, place))


def area(points: Iterable[Point], worst: Point) -> float:
    """Return the area (hypervolume) between a front and the worst point that counts.

    Parameters count by their decimal logarithm: from 10 to 20 is as far as from 100 to 200.

    >>> area([Point(2.0, 10), Point(3.0, 100)], Point(1.0, 1000))
    3.0
    """
    covered, best = 0.0, worst.mean_return
    for point in sorted(points, key=lambda each: each.parameters):
        if point.mean_return > best and 0 < point.parameters < worst.parameters:
            covered += (point.mean_return - best) * math.log10(worst.parameters / point.parameters)
            best = point.mean_return
    return covered


def best_few(points: Sequence[Point], n: int, beside: Sequence[Point], worst: Point) -> list[int]:
    """Return the places of the `n` points that each add most to the area of those beside them.

    They are not compared with one another: a lucky one among them must not hide the others.  Where
    none adds anything, the highest return decides, then the fewest parameters.

    >>> best_few([Point(2.0, 50), Point(3.0, 90), Point(1.0, 90)], 2, [], Point(0.0, 100))
    [0, 1]
    """
    rank = [(area([*beside, it], worst), it.mean_return, -it.parameters) for it in points]
    return sorted(sorted(range(len(points)), key=lambda place: rank[place], reverse=True)[:n])
