"""Pruning by contribution: the edges that carry least, and what does nothing without them."""

from typing import Any

import numpy as np
import pytest
from smgrnn.plasticity import Evidence, UpdateHistory
from smgrnn.plasticity.contribution import RULE as CONTRIBUTION
from smgrnn.plasticity.contribution import contributions, release, weakest
from smgrnn.plasticity.numbers import RuleNumbers

from smgrnn import Learner, NetworkConfig
from smgrnn.graph import Graph, GraphEdit
from smgrnn.rules.history import TOTAL
from smgrnn.rules.size import Goal
from support.decisions import causes, evidence
from support.flat import rules
from support.frugal import lessons, rules_of

# Inputs 0 and 1, outputs 2 and 3, hidden 4 and 5.
EDGES = [(0, 4, 0.5), (1, 4, 0.1), (0, 5, 0.2), (4, 2, 0.9), (5, 3, 0.8), (1, 2, 0.3)]
GRAPH = Graph.from_edges(2, 2, 2, EDGES)
NUMBERS = RuleNumbers.of(rules())


def seen(
    square: Any, activity: Any = 0.0, *, born: Any = 0, size: int = 0, n_updates: int = 100
) -> Evidence:
    """Return the evidence of GRAPH after 1500 updates, with these statistics of its nodes."""
    none, per_edge = np.zeros(GRAPH.n_nodes), np.zeros(GRAPH.n_edges)
    history = UpdateHistory.start(GRAPH.n_edges, 1)
    history.clock[TOTAL] = 1500
    history.born[:] = born
    return evidence(GRAPH, per_edge, per_edge)._replace(
        history=history,
        goal=Goal(size, 0, False, False, False),
        n_updates=n_updates,
        square=none + square,
        activity=none + activity,
    )


def decided(of: Evidence) -> GraphEdit:
    """Return the edit that the rule decides on."""
    return CONTRIBUTION.decide(of, NUMBERS, np.random.default_rng(0)).edit


def pruned(of: Evidence) -> list[tuple[int, int]]:
    """Return the ends of the edges that the rule removes."""
    changes = decided(of).changes()
    return sorted((c.source, c.target) for c in changes if c.operation.name == "REMOVE_EDGE")


def place(source: int, target: int) -> int:
    """Return the position of an edge of GRAPH."""
    return [(e.source, e.target) for e in GRAPH.edges()].index((source, target))


EVERY = np.ones(GRAPH.n_edges, dtype=np.bool_)


def test_an_edge_carries_its_weight_times_the_strength_of_its_source() -> None:
    carried = contributions(seen([4.0, 1.0, 0, 0, 0.25, 1.0]))
    expected = {(0, 4): 1.0, (1, 4): 0.1, (0, 5): 0.4, (4, 2): 0.45, (5, 3): 0.8, (1, 2): 0.3}
    assert {(e.source, e.target): c for e, c in zip(GRAPH.edges(), carried, strict=True)} == (
        pytest.approx(expected)
    )


def test_the_young_are_spared_while_there_is_another_to_take() -> None:
    born = np.zeros(GRAPH.n_edges, dtype=np.int64)
    born[place(1, 4)] = 501  # 999 updates ago
    carried = contributions(seen(1.0))
    assert weakest(seen(1.0, born=born), carried, EVERY) == place(0, 5)
    born[place(1, 4)] = 500
    assert weakest(seen(1.0, born=born), carried, EVERY) == place(1, 4)
    assert weakest(seen(1.0, born=1000), carried, EVERY) == place(1, 4)  # all are young
    stays = EVERY.copy()
    stays[place(1, 4)] = False
    assert weakest(seen(1.0, born=1000), carried, stays) == place(0, 5)
    assert weakest(seen(1.0), carried, ~EVERY) == -1


def test_an_old_edge_goes_before_a_young_one_that_carries_less_in_either_order() -> None:
    for young in range(GRAPH.n_edges):
        born = np.zeros(GRAPH.n_edges, dtype=np.int64)
        born[young] = 1500
        carried = contributions(seen(1.0))
        expected = min((k for k in range(GRAPH.n_edges) if k != young), key=carried.__getitem__)
        assert weakest(seen(1.0, born=born), carried, EVERY) == expected


def test_a_node_that_hears_only_constants_is_released_with_its_edges() -> None:
    """Input 0 is always 1, as a bias is, so node 5 does nothing, and node 4 only by input 1."""
    of = seen(1.0, activity=[1.0, 0, 0, 0, 0, 0])
    stays = EVERY.copy()
    assert release(of, stays) == 4
    assert not stays[[place(0, 5), place(5, 3)]].any()
    stays = EVERY.copy()
    stays[place(1, 4)] = False
    assert release(of, stays) == 1
    assert stays.nonzero()[0].tolist() == [place(1, 2)]


def test_an_output_may_hear_constants() -> None:
    of = seen(1.0, activity=[0, 1.0, 0, 0, 0, 0])
    stays = EVERY.copy()
    release(of, stays)
    assert stays[place(1, 2)]


def test_a_node_at_zero_is_constant() -> None:
    stays = EVERY.copy()
    assert release(seen([0.0, 1.0, 1, 1, 1, 1]), stays) == 4
    assert not stays[place(5, 3)]


def test_one_update_does_not_say_that_a_state_is_constant() -> None:
    """Every mean square is the square of the mean then; all hidden nodes were once released."""
    of = seen(1.0, activity=1.0, n_updates=1)
    assert release(of, EVERY.copy()) == GRAPH.n_edges
    assert release(of._replace(n_updates=2), EVERY.copy()) == 1


def test_edges_go_until_the_size_is_right_and_orphans_go_with_them() -> None:
    assert pruned(seen(1.0, size=6)) == []
    assert pruned(seen(1.0, size=5)) == [(1, 4)]
    assert pruned(seen(1.0, size=4)) == [(0, 5), (1, 4), (5, 3)]  # three are left, not four
    assert pruned(seen(1.0, size=0)) == sorted((u, v) for u, v, _ in EDGES)
    assert causes(decided(seen(1.0, size=4))) == {"CONTRIBUTION": 3, "ORPHAN": 1}


def test_the_weight_alone_decides_when_nothing_was_seen() -> None:
    """A call without an update since the last was once told that all edges carry nothing."""
    assert pruned(seen(0.0, size=5, n_updates=0)) == [(1, 4)]


@pytest.mark.parametrize("interval", [1, "episode"])
def test_a_call_after_every_update_leaves_hidden_nodes_alone(interval: Any) -> None:
    rules = rules_of(growth="none", interval=interval, prune_period=1, size=20)
    network = NetworkConfig(n_inputs=4, n_outputs=3, n_hidden=3, density=0.6, iterations=2)
    made = Learner(network, plasticity=rules, seed=1)
    assert made.graph.n_edges > 20
    for observation, label, _ in zip(*lessons(5, 0), strict=True):
        made.learn(observation, int(label))
        made.end_episode()
    made.end_episode()  # twice, which makes a call without any update
    assert 15 < made.graph.n_edges <= 20
    assert made.graph.n_hidden == 2
