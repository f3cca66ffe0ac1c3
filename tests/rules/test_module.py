"""The module: when it grows and prunes, its limits, and a user's rules.  Paper: Sec. III-C4."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from smgrnn import (
    EditDraft,
    GrowthLimitWarning,
    Learner,
    LearningConfig,
    NetworkConfig,
    PlasticityConfig,
    SMGrNN,
    StructuralPlasticity,
)
from smgrnn.errors import GraphError
from smgrnn.graph import Graph, GraphEdit, Operation, apply
from smgrnn.rules import Evidence, Frugal, UpdateHistory
from support.decisions import AT_REST, DRIFTING, RESTLESS, call, decide, remembering
from support.engines import both_engines, teach
from support.flat import rules
from support.learners import stream
from support.training import By

NETWORK = NetworkConfig(n_inputs=3, n_outputs=2, density=1.0, iterations=2)


@pytest.fixture
def lively() -> tuple[Graph, UpdateHistory]:
    """A graph on which every rule has something to do.

    0 -> 2 is unstable, 1 -> 2 is weak, 0 -> 3 -> 2 has settled, 4 is an orphan behind 1 -> 4, and
    pairs to explore are left.
    """
    edges = [(0, 2, 1.0), (1, 2, 0.01), (3, 2, 1.0), (0, 3, 1.0), (1, 4, 1.0)]
    graph = Graph.from_edges(2, 1, n_hidden=2, edges=edges)
    return graph, remembering(RESTLESS, AT_REST, DRIFTING, DRIFTING, DRIFTING)


# --- the schedule --------------------------------------------------------------------------------


@pytest.mark.parametrize("prune_period", [1, 2, 3, 30])
def test_every_prune_period_th_call_prunes_and_the_others_grow(
    prune_period: int, lively: tuple[Graph, UpdateHistory]
) -> None:
    for number in range(1, 2 * prune_period + 2):
        edit = call(*lively, number, prune_period=prune_period).edit
        removes = set(edit.rows[:, 0].tolist()) <= {Operation.REMOVE_EDGE, Operation.REMOVE_NODE}
        adds = set(edit.rows[:, 0].tolist()) <= {Operation.ADD_EDGE, Operation.ADD_NODE}
        assert (removes, adds) == ((True, False) if number % prune_period == 0 else (False, True))


def test_static_changes_nothing_and_draws_nothing(lively: tuple[Graph, UpdateHistory]) -> None:
    static, rng = PlasticityConfig.static(window=2, prune_period=3), np.random.default_rng(0)
    for number in range(1, 31):
        edit, _, is_capped = decide(*lively, static, number, rng)
        assert not edit
        assert not is_capped
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


@pytest.mark.parametrize(("least", "calls"), [(0, 8), (7, 8), (8, 4), (15, 2), (100, 0)])
def test_an_episode_that_ends_too_early_is_passed_over(least: int, calls: int) -> None:
    """Eight episodes of seven updates; the next call counts from the last one that was made."""
    config = rules(interval="episode", least_updates=least)
    at_once, by_row = (Learner(NETWORK, plasticity=config) for _ in range(2))
    module = StructuralPlasticity(SMGrNN(**NETWORK.to_dict()), config=config)
    rows = stream(60)
    at_once.learn_stream(*rows)
    for observation, label, is_last in zip(*rows, strict=True):
        by_row.learn(observation, int(label))
        module.step()
        if is_last:
            by_row.end_episode()
            module.end_episode()
    modules = at_once._module, by_row._module, module._module
    assert [each.calls for each in modules] == [calls] * 3
    assert len({each.last_call for each in modules}) == 1


# --- a rule of the user --------------------------------------------------------------------------


def relay_the_busiest(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
    """Put a relay beside the edge whose weight moved most."""
    graph, draft = evidence.graph, EditDraft(evidence.graph)
    busiest = int(evidence.variance.argmax())
    node = draft.add_node()
    draft.add_edge(int(graph.node_ids[graph.source[busiest]]), node, 0.1 * rng.normal())
    draft.add_edge(node, int(graph.node_ids[graph.target[busiest]]), 0.1 * rng.normal())
    return draft.finish()


def drop_the_smallest(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
    draft = EditDraft(evidence.graph)
    draft.remove_edges_at(np.abs(evidence.graph.weight).argsort()[:1])
    return draft.finish()


def in_both(n: int = 40, **settings: Any) -> list[Callable[[], Graph]]:
    """Return how to learn so many rows in both engines; each returns the graph it ends with."""
    config = PlasticityConfig(**{"interval": 10, "prune_period": 3, "window": 5, **settings})
    made, theirs = both_engines(NETWORK, LearningConfig(), config, 4)
    rows = stream(n)

    def compiled() -> Graph:
        made.learn_stream(*rows)
        return made.graph

    def by_torch() -> Graph:
        teach(theirs, rows)
        return theirs.net.graph

    return [compiled, by_torch]


@pytest.mark.parametrize("limits", [{"max_edges": 9}, {"max_nodes": 6}])
def test_an_edit_beyond_a_limit_is_dropped_with_a_warning(limits: dict[str, int]) -> None:
    for run in in_both(growth=By(relay_the_busiest), pruning=None, **limits):
        with pytest.warns(GrowthLimitWarning, match="Growth stopped at 3 inputs, 1 hidden") as seen:
            graph = run()
        assert len(seen) == 1
        assert (graph.n_nodes, graph.n_edges) == (6, 8)  # the first relay is the last


def write_weight(evidence: Evidence, rng: np.random.Generator) -> Any:
    evidence.graph.weight[0] = 7.0


def write_history(evidence: Evidence, rng: np.random.Generator) -> Any:
    evidence.history.slot[0] = 10**6


def bad_rows(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
    return GraphEdit(np.zeros(5, dtype=np.int64), np.zeros(1))


def drop_an_edge_twice(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
    edit = drop_the_smallest(evidence, rng)
    return GraphEdit(np.tile(edit.rows, (2, 1)), np.tile(edit.weight, 2))


@pytest.mark.parametrize(
    ("decides", "error", "words"),
    [
        (write_weight, ValueError, "read-only"),
        (write_history, ValueError, "read-only"),
        (bad_rows, GraphError, "^An edit needs five numbers and a weight per change"),
        (lambda *_: (GraphEdit.empty(), 3), GraphError, "^A rule must return candidates of"),
        (lambda *_: None, GraphError, "^A rule must return a GraphEdit. Got None instead.$"),
        (lambda *_: "more", GraphError, "^A rule must return a GraphEdit. Got 'more' instead.$"),
        (drop_an_edge_twice, GraphError, "^An edit removes one edge twice.$"),
    ],
)
def test_a_wrong_rule_is_met_by_one_sentence_and_changes_nothing(
    decides: Any, error: type[Exception], words: str
) -> None:
    for run in in_both(growth=By(decides)):
        with pytest.raises(error, match=words):
            run()


def test_a_users_rule_removes_no_protected_edge(lively: tuple[Graph, UpdateHistory]) -> None:
    config = PlasticityConfig(window=2, pruning=By(drop_the_smallest), prune_period=1)
    rng = np.random.default_rng(0)
    decide(*lively, config, 1, rng, protected=lively[0].weight > 0.5)
    with pytest.raises(GraphError, match=r"^A rule removes an edge that is protected\.$"):
        decide(*lively, config, 1, rng, protected=lively[0].weight < 0.5)


def test_a_rule_may_return_candidates_beside_its_edit() -> None:
    """A rule around ours, which asks for the same statistics and takes its candidates back."""
    inner = Frugal(n_candidates=4, candidate_sources=2)

    class Around(By):
        statistics, n_candidates, candidate_sources = inner.statistics, 4, 2

    results = [
        [run() for run in in_both(1200, interval=300, growth=growth, pruning=None)]
        for growth in (inner, Around(inner.decide))
    ]
    assert results[0] == results[1]
    assert results[0][0].n_hidden > 0


@pytest.mark.parametrize(("removed", "left"), [("edge", {(1, 3), (3, 2)}), ("node", {(1, 2)})])
def test_orphans_are_found_beside_what_a_pruning_rule_adds_and_removes(
    removed: str, left: set[tuple[int, int]]
) -> None:
    """A new edge once ended at a node that was removed as an orphan, and nodes went twice."""
    graph = Graph.from_edges(2, 1, 1, [(0, 3, 0.1), (3, 2, 1.0)])

    def rewire(evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        draft = EditDraft(evidence.graph)
        if removed == "edge":
            draft.remove_edge(1)
        else:
            draft.remove_node(3)
        draft.add_edge(1, 3 if removed == "edge" else 2, 0.5)
        return draft.finish()

    config = PlasticityConfig(window=1, pruning=By(rewire), prune_period=1)
    edit = decide(graph, UpdateHistory.start(2, 1), config, 1, np.random.default_rng(0)).edit
    after = apply(graph, edit).graph
    assert {(edge.source, edge.target) for edge in after.edges()} == left
