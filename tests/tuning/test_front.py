"""The front, and the area that it covers, by points whose areas are counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smgrnn.tuning.front import Point, area, best_few, front

WORST = Point(0.0, 1000.0)
POINTS = st.lists(
    st.builds(Point, st.integers(0, 9).map(float), st.integers(1, 1200).map(float)), min_size=1
)


def test_the_front_is_what_nothing_dominates_from_the_fewest_parameters() -> None:
    points = [Point(5.0, 100), Point(3.0, 10), Point(2.0, 20), Point(5.0, 50), Point(3.0, 10)]
    assert front(points) == [1, 4, 3]


def test_the_area_is_that_of_a_staircase() -> None:
    # two decades at a return of 1, and one more point of return over one decade
    assert area([Point(1.0, 10.0), Point(2.0, 100.0)], WORST) == pytest.approx(2.0 + 1.0)


def test_what_is_worse_than_the_worst_covers_nothing() -> None:
    assert area([Point(-1.0, 10.0), Point(5.0, 2000.0)], WORST) == 0.0


@given(POINTS, POINTS)
def test_more_points_never_cover_less(some: list[Point], others: list[Point]) -> None:
    assert area([*some, *others], WORST) >= area(some, WORST) - 1e-9


@given(POINTS)
def test_the_front_alone_covers_what_all_points_do(points: list[Point]) -> None:
    chosen = [points[place] for place in front(points)]
    assert area(chosen, WORST) == pytest.approx(area(points, WORST))


def test_the_few_are_those_that_add_most_beside_what_is_known() -> None:
    points = [Point(9.0, 900.0), Point(4.0, 10.0), Point(4.0, 11.0)]
    assert best_few(points, 1, [], WORST) == [1]
    assert best_few(points, 1, [Point(4.0, 9.0)], WORST) == [0]


def test_a_point_that_another_of_them_dominates_still_counts() -> None:
    """A network of 6 parameters, lucky with its first seed, hid a good one of 23 beside it."""
    points = [Point(9.0, 900.0), Point(4.0, 10.0), Point(4.0, 11.0)]
    assert best_few(points, 2, [], WORST) == [1, 2]


def test_where_nothing_adds_anything_return_decides_and_then_size() -> None:
    points = [Point(1.0, 50.0), Point(2.0, 50.0), Point(2.0, 40.0)]
    assert best_few(points, 1, [Point(3.0, 1.0)], WORST) == [2]
