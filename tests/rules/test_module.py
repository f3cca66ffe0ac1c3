"""The module: when it grows and prunes, its limits, and a user's rules.  Paper: Sec. III-C4."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from smgrnn import SMGrNN, StructuralPlasticity
from smgrnn.errors import ConfigError, GraphError, GrowthLimitWarning
from smgrnn.graph import EditDraft, Graph, GraphEdit, apply
from smgrnn.rules import Evidence, Frugal, UpdateHistory
from support.decisions import decide
from support.engines import both_engines, teach
from support.flat import learner_of, network_config, plain, rules, table
from support.learners import stream
from support.training import By

ROW = np.zeros(5, dtype=np.int64)
NETWORK = network_config(n_inputs=3, n_outputs=2, density=1.0, iterations=2)


# --- the schedule --------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "calls"), [(0, 8), (7, 8), (8, 4), (15, 2), (100, 0)])
def test_an_episode_that_ends_too_early_is_passed_over(least: int, calls: int) -> None:
    """Eight episodes of seven updates; the next call counts from the last one that was made."""
    config = rules(interval="episode", least_updates=least)
    at_once, by_row = (learner_of(NETWORK, plasticity=config) for _ in range(2))
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
    config = table(**{"interval": 10, "prune_period": 3, "window": 5, **settings})
    made, theirs = both_engines(NETWORK, plain(), config, 4)
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


@pytest.mark.parametrize(
    ("decides", "error", "words"),
    [
        (lambda seen, _: seen.graph.weight.fill(7.0), ValueError, "read-only"),
        (lambda seen, _: seen.history.slot.fill(10**6), ValueError, "read-only"),
        (lambda *_: GraphEdit(ROW, np.zeros(1)), GraphError, "^An edit needs five numbers"),
        (lambda *_: (GraphEdit.empty(), 3), GraphError, "^A rule must return candidates of"),
        (lambda *_: None, GraphError, "^A rule must return a GraphEdit, as .draft.* Got None"),
        (lambda *_: "more", GraphError, "^A rule must return a GraphEdit, as .* Got 'more' "),
        (lambda *_: GraphEdit(ROW[None], np.zeros(1)), GraphError, "^New nodes must be numbered"),
    ],
)
def test_a_wrong_rule_is_met_by_one_sentence_and_changes_nothing(
    decides: Any, error: type[Exception], words: str
) -> None:
    for run in in_both(growth=By(decides)):
        with pytest.raises(error, match=words):
            run()


def test_a_rule_that_asks_for_unknown_statistics_is_refused() -> None:
    class Misspelt(By):
        statistics = ("nodes", "absent_edge")

    with pytest.raises(ConfigError, match=r"no statistics 'absent_edge' .* mean 'absent_edges'"):
        table(pruning=Misspelt(drop_the_smallest))


def test_a_users_rule_removes_no_protected_edge() -> None:
    graph = Graph.from_edges(2, 1, edges=[(0, 2, 1.0), (1, 2, 0.01)])
    config = table(window=1, pruning=By(drop_the_smallest), prune_period=1)
    history, rng = UpdateHistory.start(2, 1), np.random.default_rng(0)
    decide(graph, history, config, 1, rng, protected=graph.weight > 0.5)
    with pytest.raises(GraphError, match=r"^A rule removes an edge that is protected\.$"):
        decide(graph, history, config, 1, rng, protected=graph.weight < 0.5)


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

    config = table(window=1, pruning=By(rewire), prune_period=1)
    edit = decide(graph, UpdateHistory.start(2, 1), config, 1, np.random.default_rng(0)).edit
    after = apply(graph, edit).graph
    assert {(edge.source, edge.target) for edge in after.edges()} == left
