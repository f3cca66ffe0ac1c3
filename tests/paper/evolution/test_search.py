"""A search asks and is told, keeps its budget and knows its champion."""

import random
from typing import Any

import numpy as np
import pytest

from smgrnn.arrays import Bools, Floats
from smgrnn.errors import ConfigError, NonFiniteError, ShapeError
from smgrnn.graph.state import Graph
from smgrnn.policy import Policy
from smgrnn.tasks import Task
from smgrnn_paper.evolution.ndp import NDPSearch
from smgrnn_paper.evolution.neat import NEATSearch
from smgrnn_paper.evolution.search import Candidate, Search, TooSmall
from support.flat import network_config

TASK = Task(id="toy", n_inputs=1, n_outputs=2, is_discrete=True)


def policy(weight: float) -> Policy:
    graph = Graph.from_edges(1, 2, edges=[(0, 1, weight)])
    return Policy(graph, network_config(n_inputs=1, n_outputs=2), TASK)


class Scripted(Search):
    """Breeds the candidates it is given, generation by generation."""

    def __init__(self, *script: list[Candidate]) -> None:
        super().__init__(TASK, len(script[0]), len(script))
        self.script = list(script)
        self.bred: list[list[float]] = []

    def _draw(self) -> list[Candidate]:
        return self.script[self.generation]

    def _breed(self, scores: Floats, is_small: Bools) -> None:
        self.bred.append(scores.tolist())


def test_the_champion_is_the_best_of_all_generations_and_best_that_of_the_last() -> None:
    one, two, three, four = map(policy, (1.0, 2.0, 3.0, 4.0))
    search = Scripted([one, two], [three, four])
    search.tell([5.0, 7.0])
    assert search.best == search.champion == (two, 7.0, 1)
    search.tell([3.0, 6.0])
    assert search.best == (four, 6.0, 2)
    assert search.champion == (two, 7.0, 1)
    search = Scripted([one, two], [three, four])  # of equals the later, and in it the first
    search.tell([7.0, 7.0])
    assert search.champion == (one, 7.0, 1)
    search.tell([7.0, 7.0])
    assert search.champion == (three, 7.0, 2)


def test_a_candidate_that_cannot_play_is_never_champion() -> None:
    player = policy(1.0)
    search = Scripted([TooSmall(-1.0), TooSmall(-2.0)], [TooSmall(-1.0), player])
    search.tell([-1.0, -2.0])
    assert search.best is search.champion is None
    search.tell([-1.0, -500.0])
    assert search.best == search.champion == (player, -500.0, 2)


def test_candidates_stay_until_they_are_told_and_nothing_is_bred_after_the_last() -> None:
    later: list[Candidate] = [policy(2.0)] * 2
    search = Scripted([policy(1.0)] * 2, later)
    assert search.ask() is search.ask()
    search.tell([1.0, 2.0])
    assert search.ask() == later
    search.tell([3.0, 4.0])
    assert search.bred == [[1.0, 2.0]]
    with pytest.raises(ConfigError, match=r"^The search is over after its 2 generations\.$"):
        search.ask()


def test_every_candidate_needs_one_finite_return() -> None:
    search = Scripted([policy(1.0)] * 2)
    with pytest.raises(ShapeError, match=r"^Expected 2 returns, one per candidate\. Got shape"):
        search.tell([1.0])
    with pytest.raises(NonFiniteError, match=r"^A return of generation 1 is not finite\.$"):
        search.tell([1.0, np.nan])
    assert search.generation == 0


def advance(search: Search) -> list[Any]:
    """Return the graphs of a generation, judged by something that needs no task."""
    found = [c.graph if isinstance(c, Policy) else c for c in search.ask()]
    search.tell([c.score if isinstance(c, TooSmall) else c.weight.sum() for c in found])
    return found


@pytest.mark.parametrize("kind", [NEATSearch, NDPSearch])
def test_a_seed_determines_a_search_whatever_else_is_drawn(kind: Any) -> None:
    """Neither another search in turns nor the caller disturbs it, nor it the caller."""

    def new(seed: int) -> Any:
        return kind(TASK, population=8, generations=5, seed=seed)

    alone = [[advance(each) for _ in range(5)] for each in (new(0), new(1))]
    assert alone[0] != alone[1]
    random.seed(5)
    before = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    expected = [random.random() for _ in range(5)]
    random.seed(5)
    searches, drawn = (new(0), new(1)), list[float]()
    seen: tuple[list[Any], ...] = ([], [])
    for _ in range(5):
        for search, generations in zip(searches, seen, strict=True):
            generations.append(advance(search))
        drawn.append(random.random())
    assert list(seen) == alone
    assert drawn == expected
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]  # noqa: NPY002
