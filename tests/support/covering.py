"""Choices that meet: a few combinations of settings instead of all."""

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def every_three(*settings: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations in which any choices of any three settings meet.

    >>> len(every_three("abcd", (1, 3), "xyz", (True, False), (True, False)))
    27
    """
    rows = list(product(*settings))
    chosen: list[tuple[Any, ...]] = []
    missing = {three for row in rows for three in _threes(row)}
    while missing:
        best = max(rows, key=lambda row: len(missing & _threes(row)))
        missing -= _threes(best)
        chosen.append(best)
    return chosen


def _threes(row: tuple[Any, ...]) -> set[tuple[tuple[int, Any], ...]]:
    return set(combinations(enumerate(row), 3))
