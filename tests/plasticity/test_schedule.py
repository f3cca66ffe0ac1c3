"""When the module grows and prunes, its switches and its limits.  Paper: Sec. III-C4, Eq. (9)."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from smgrnn import Learner, NetworkConfig, SMGrNN, StructuralPlasticity
from smgrnn.config import PlasticityConfig
from smgrnn.engine.state import CALLED, CALLS
from smgrnn.graph import Cause, Graph, Operation, apply
from smgrnn.rules import UpdateHistory
from smgrnn.rules.history import carry_history
from support.decisions import AT_REST, DRIFTING, RESTLESS, call, causes, decide, remembering
from support.flat import growing_rules, rules
from support.learners import stream


@pytest.fixture
def lively() -> tuple[Graph, UpdateHistory]:
    """A graph on which every rule has something to do.

    0 -> 2 is unstable, 1 -> 2 is weak, 0 -> 3 -> 2 has settled, 4 is an orphan behind 1 -> 4, and
    pairs to explore are left.
    """
    edges = [(0, 2, 1.0), (1, 2, 0.01), (3, 2, 1.0), (0, 3, 1.0), (1, 4, 1.0)]
    graph = Graph.from_edges(2, 1, n_hidden=2, edges=edges)
    return graph, remembering(RESTLESS, AT_REST, DRIFTING, DRIFTING, DRIFTING)


@pytest.mark.parametrize("prune_period", [1, 2, 3, 30])
def test_every_prune_period_th_call_prunes_and_the_others_grow(
    prune_period: int, lively: tuple[Graph, UpdateHistory]
) -> None:
    for number in range(1, 2 * prune_period + 2):
        edit = call(*lively, number, prune_period=prune_period).edit
        operations = {change.operation for change in edit.changes()}
        removes = bool(operations & {Operation.REMOVE_EDGE, Operation.REMOVE_NODE})
        adds = bool(operations & {Operation.ADD_EDGE, Operation.ADD_NODE})
        assert (removes, adds) == ((True, False) if number % prune_period == 0 else (False, True))


@pytest.mark.parametrize(
    ("changes", "silenced"),
    [
        ({}, None),
        ({"growth": "exploration"}, "RELAY"),
        ({"growth": "relay-alone"}, "EXPLORATION"),
        ({"pruning": "none"}, "WEAK_EDGE"),
        ({"orphan_removal": False}, "ORPHAN"),
    ],
)
def test_each_switch_turns_off_its_own_mechanism_and_no_other(
    changes: dict[str, Any], silenced: str | None, lively: tuple[Graph, UpdateHistory]
) -> None:
    grown = call(*lively, 1, explore_probability=1.0, **changes).edit
    pruned = call(*lively, 3, explore_probability=1.0, **changes).edit
    expected = Counter(RELAY=3, EXPLORATION=1, WEAK_EDGE=1, ORPHAN=2)
    expected.pop(silenced or "", None)
    assert causes(grown) + causes(pruned) == expected


def test_static_changes_nothing_and_draws_nothing(lively: tuple[Graph, UpdateHistory]) -> None:
    rules = PlasticityConfig.static(window=2, prune_period=3)
    rng = np.random.default_rng(0)
    for number in range(1, 31):
        edit, is_capped = decide(*lively, rules, number, rng)
        assert not edit
        assert not is_capped
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_growth_only_grows_as_usual_and_never_removes(lively: tuple[Graph, UpdateHistory]) -> None:
    growth_only = growing_rules(window=2, prune_period=3)
    standard = rules(window=2, prune_period=3)
    for number in range(1, 31):
        edit = decide(*lively, growth_only, number, np.random.default_rng(number)).edit
        usual = decide(*lively, standard, number, np.random.default_rng(number)).edit
        if number % 3 == 0:
            assert usual
            assert not edit
        else:
            assert list(edit.changes()) == list(usual.changes())


@pytest.mark.parametrize(
    ("limits", "n_relays", "n_explored", "capped"),
    [
        ({}, 1, 1, False),
        ({"max_nodes": 6, "max_edges": 8}, 1, 1, False),  # exactly enough: 5 + 1 and 5 + 2 + 1
        ({"max_nodes": 5}, 0, 1, True),
        ({"max_edges": 7}, 1, 0, True),
        ({"max_edges": 6}, 0, 1, True),
        ({"max_edges": 5}, 0, 0, True),
        ({"max_nodes": 1, "max_edges": 1}, 0, 0, True),  # already beyond both
        ({"max_nodes": 5, "growth": "exploration"}, 0, 1, False),  # nothing was held back
        ({"max_edges": 7, "growth": "relay-alone"}, 1, 0, False),
    ],
)
def test_limits_stop_growth_and_say_so(
    limits: dict[str, Any],
    n_relays: int,
    n_explored: int,
    capped: bool,
    lively: tuple[Graph, UpdateHistory],
) -> None:
    edit, is_capped = call(*lively, explore_probability=1.0, **limits)
    assert edit.count(Operation.ADD_NODE, Cause.RELAY) == n_relays
    assert edit.count(Operation.ADD_EDGE, Cause.RELAY) == 2 * n_relays
    assert edit.count(Operation.ADD_EDGE, Cause.EXPLORATION) == n_explored
    assert is_capped == capped


def test_limits_do_not_stop_pruning(lively: tuple[Graph, UpdateHistory]) -> None:
    edit, is_capped = call(*lively, 3, max_nodes=1, max_edges=1)
    assert causes(edit) == Counter(WEAK_EDGE=1, ORPHAN=2)
    assert not is_capped


def test_growth_under_constant_unrest_reaches_its_limits_and_no_further() -> None:
    graph = Graph.from_edges(2, 2, edges=[(0, 2, 1.0)])
    history = remembering(RESTLESS)
    config = rules(window=2, max_nodes=20, max_edges=70, explore_ratio=0.2)
    rules, rng = config, np.random.default_rng(0)
    capped = []
    for _ in range(60):
        edit, is_capped = decide(graph, history, rules, 1, rng)
        applied = apply(graph, edit)
        graph, history = applied.graph, carry_history(history, applied.edge_origin)
        for sign in (1.0, -1.0):
            history.push(np.full(graph.n_edges, sign))
        assert graph.n_nodes <= 20
        assert graph.n_edges <= 70
        capped.append(is_capped)
    assert (graph.n_nodes, graph.n_edges) == (20, 70)
    assert not capped[0]
    assert capped[-1]


@pytest.mark.parametrize(("least", "calls"), [(0, 8), (7, 8), (8, 4), (15, 2), (100, 0)])
def test_an_episode_that_ends_too_early_is_passed_over(least: int, calls: int) -> None:
    """Eight episodes of seven updates; the next call counts from the last one that was made."""
    rules = rules(interval="episode", least_updates=least)
    network = NetworkConfig(n_inputs=3, n_outputs=2, iterations=2)
    at_once, by_row = (Learner(network, plasticity=rules) for _ in range(2))
    net = SMGrNN(**network.to_dict())
    module = StructuralPlasticity(net, config=rules)
    rows = stream(60)
    at_once.learn_stream(*rows)
    for observation, label, is_last in zip(*rows, strict=True):
        by_row.learn(observation, int(label))
        module.step()
        if is_last:
            by_row.end_episode()
            module.end_episode()
    assert at_once._state.clock[CALLS] == by_row._state.clock[CALLS] == module.calls == calls
    n_last = module._last_call
    assert at_once._state.clock[CALLED] == by_row._state.clock[CALLED] == n_last
