"""What is measured of final graphs and of how they grew, by hand on the smallest examples."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from smgrnn import Graph
from smgrnn.arrays import Floats
from smgrnn.batch import Condition
from smgrnn.episodes.table import Episodes
from smgrnn.errors import MetricError
from smgrnn.runs.record import Record
from smgrnn_paper.evolution import EvolutionCondition
from smgrnn_paper.report.paper import METRICS
from smgrnn_paper.report.topology import (
    MEASURES,
    centralisation,
    feedback_edges,
    measure,
    relay_paths,
    skip_edges,
    skip_share,
    small_weight_share,
    sparsity,
    weight_range,
)
from support import fabricated
from support.fabricated import fabricate

RECORD = fabricate(Condition.distill("CartPole-v1", preset="paper", episodes=8), 0)
EVOLVED = fabricate(EvolutionCondition.evolve("CartPole-v1", rollouts=8, population=2), 0)


def graph(n_inputs: int, n_outputs: int, n_hidden: int, *pairs: tuple[int, int]) -> Graph:
    """Return a graph; nodes count from 0, inputs first and hidden ones last."""
    return Graph.from_edges(n_inputs, n_outputs, n_hidden, [(*pair, 1.0) for pair in pairs])


def grown(started: int, *sizes: int) -> Record:
    """Return a run with these nodes at the end of its episodes."""
    episodes = Episodes.start(len(sizes))
    episodes.n_nodes[:] = sizes
    return replace(RECORD, started=(started, 1), episodes=episodes)


def bred(*sizes: int, played: int = 10**9) -> Record:
    """Return an evolution whose generations had best candidates of these nodes."""
    candidates = Episodes.start(len(sizes))  # one in each generation
    candidates.n_nodes[:] = sizes
    candidates.steps[:played] = 1
    return fabricated.bred(EVOLVED, candidates, len(sizes))


RELAY = graph(1, 1, 1, (0, 1), (0, 2), (2, 1))
"""An edge from the input to the output, and a relay beside it."""


STAR = [(0, 2), (2, 1), (2, 3), (2, 4)]
RING = [(2, 3), (3, 4), (4, 2)]


@pytest.mark.parametrize(
    ("measured", "of", "expected"),
    [
        (sparsity, RELAY, 0.25),  # of 0→1, 0→2, 1→2 and 2→1 all but 1→2
        (sparsity, graph(1, 1, 1), 1.0),
        (sparsity, graph(1, 1, 1, (1, 0)), 1.0),  # an edge into an input is none that counts
        (centralisation, graph(1, 1, 3, *STAR), 1.0),
        (centralisation, graph(1, 1, 3, *STAR, (3, 2), (4, 2)), 1.0),
        (centralisation, graph(1, 1, 2, (0, 2), (2, 1), (1, 3), (3, 0)), 0.0),  # a ring
        # A path of four: degrees 1, 2, 2, 1 fall short of 2 by 2 in all; a star's by (4-1)(4-2).
        (centralisation, graph(1, 1, 2, (0, 2), (2, 3), (3, 1)), 2 / 6),
        (centralisation, graph(1, 1, 0, (0, 1)), 0.0),
        (skip_edges, graph(1, 1, 0, (0, 1)), 0),
        (skip_edges, RELAY, 1),
        (skip_edges, graph(1, 1, 1, (0, 2), (2, 1)), 0),  # a path and nothing to skip it
        (skip_edges, graph(1, 1, 2, (0, 1), (0, 2), (2, 3), (3, 1)), 1),
        (skip_edges, graph(1, 2, 0, (0, 1), (0, 2), (1, 2)), 1),  # by way of the other output
        (skip_edges, graph(2, 1, 1, (0, 2), (1, 3), (3, 2)), 0),  # the path is another input's
        (skip_edges, graph(2, 1, 1, (0, 1), (0, 3), (3, 1)), 0),  # it ends in an input
        (skip_share, graph(2, 1, 1, (0, 2), (1, 2), (0, 3), (3, 2)), 0.5),
        (feedback_edges, RELAY, 0),
        (feedback_edges, graph(1, 1, 1, (0, 2), (2, 1), (1, 2)), 2),
        (feedback_edges, graph(1, 1, 3, (0, 2), *RING, (4, 1)), 3),
        (relay_paths, RELAY, 1),
        (relay_paths, graph(1, 1, 1, (0, 2), (2, 1)), 0),  # no edge beside it
        (relay_paths, graph(1, 1, 2, (0, 1), (0, 2), (2, 1), (0, 3), (3, 1)), 2),
        (relay_paths, graph(1, 2, 0, (0, 1), (0, 2), (1, 2)), 0),  # through an output
        # A relay on an edge of a relay: 0→3→2 beside 0→2, besides 0→2→1 beside 0→1.
        (relay_paths, graph(1, 1, 2, (0, 1), (0, 2), (2, 1), (0, 3), (3, 2)), 2),
    ],
)
def test_measures_of_graphs_by_hand(
    measured: Callable[[Graph], float], of: Graph, expected: float
) -> None:
    assert measured(of) == pytest.approx(expected)


def test_skip_connections_are_a_share_of_the_possible_ones() -> None:
    """All eight that CartPole has room for were fewer than nine of LunarLander's 32."""

    def skipping(n_inputs: int, n_outputs: int, n: int) -> Graph:
        hidden = n_inputs + n_outputs
        straight = list(product(range(n_inputs), range(n_inputs, hidden)))[:n]
        around = [(i, hidden) if i < n_inputs else (hidden, i) for i in range(hidden)]
        return graph(n_inputs, n_outputs, 1, *straight, *around)

    graphs = skipping(4, 2, 8), skipping(8, 4, 9)
    assert [skip_edges(it) for it in graphs] == [8, 9]
    assert [skip_share(it) for it in graphs] == [1.0, 9 / 32]


def test_measures_of_a_graph_go_by_its_nodes_whatever_their_ids() -> None:
    """Hidden nodes that came and went leave gaps in the ids."""
    gapped = RELAY._replace(node_ids=np.array([0, 1, 7]), next_node_id=8)
    assert (skip_edges(gapped), relay_paths(gapped), feedback_edges(gapped)) == (1, 1, 0)


def test_weights_up_to_the_threshold_are_small() -> None:
    edges = [(0, 1, 0.1), (0, 2, -0.1), (2, 1, 0.11), (1, 2, -3.0)]
    found = Graph.from_edges(1, 1, 1, edges)
    assert small_weight_share(found) == 0.5
    assert weight_range(found) == pytest.approx(3.11)  # fewer than 50 all count
    assert small_weight_share(graph(1, 1, 0)) == weight_range(graph(1, 1, 0)) == 0.0


def weighted(weights: Floats) -> Graph:
    ends = permutations(range(1, 100), 2)
    return Graph.from_edges(1, 1, 100, [(*next(ends), float(it)) for it in weights])


def test_the_range_of_weights_is_that_of_equal_numbers() -> None:
    """A thousand weights span more than sixty that are drawn alike: 6.97 and 4.29.

    Of both, 50 weights span about as much: 4.60 and 4.08.
    """
    rng = np.random.default_rng(0)
    few, many = (weighted(rng.normal(size=n)) for n in (60, 1000))
    assert [float(np.ptp(it.weight)) for it in (few, many)] == pytest.approx([4.29, 6.97], abs=0.01)
    draws = [np.ptp(rng.choice(many.weight, 50, replace=False)) for _ in range(4000)]
    assert weight_range(many) == pytest.approx(np.mean(draws), rel=0.01)
    assert weight_range(few) == pytest.approx(4.08, abs=0.01)


def having(**figures: Any) -> Record:
    """Return a run with these figures in its summary."""
    return fabricate(Condition.distill("CartPole-v1", preset="paper", episodes=8), 0, **figures)


def played(*returns: float) -> Record:
    episodes = Episodes.start(25)
    episodes.returns[: len(returns)] = returns
    return replace(RECORD, episodes=episodes)


@pytest.mark.parametrize(
    ("run", "metric", "expected"),
    [
        (played(10.0, 20.0, 60.0), "early_return", 15.0),  # over the first tenth
        (grown(6, 7, 9, 9, 9, 9, 9, 9, 12), "early_growth_nodes", 3),  # the first quarter
        (grown(6, 7), "early_growth_nodes", 1),
        # To the mean over a whole period of pruning.
        (grown(6, *(10 + np.arange(1, 201) % 30)), "early_growth_nodes", 18.5),
        (having(late_return=3), "late_return", 3.0),  # a figure of the summary
        (having(convergence_episode=None), "convergence_episode", np.inf),  # never
        (having(convergence_episode=3), "convergence_episode", 3),
        (having(convergence_episode=3), "sustained_episode", np.inf),
        (fabricated.with_graph(RECORD, RELAY), "relay_paths", 1.0),
        (grown(0, 1, 2, 3, 4, 5, 6, 7, 8), "settled_share", 0.75),  # steady
        (grown(0, 1, 2, 8, 8, 8, 8, 8, 8), "settled_share", 1.0),  # early
        (grown(0, 9, 9, 9, 9, 9, 10, 6, 5), "settled_share", 2.0),  # shrank late
        (grown(10, 9, 8, 7, 6, 6, 6, 6, 6), "settled_share", 1.0),  # shrank early
        (grown(6, 6, 6, 6, 6), "settled_share", 1.0),  # never
        (grown(6, 6, 7, 9, 6), "settled_share", np.inf),  # undone
        (grown(6, 5, 5, 5, 6), "settled_share", -np.inf),  # regrown
        (grown(6, 8), "settled_share", 0.0),
        # Both sizes are at the same phases: pruned at episode 1500, it ends 20 calls after pruning
        # and is settled.  Taken at these episodes alone, 10 and 30 nodes gave 4 / 24.
        (grown(6, *(10 + np.arange(1, 2001) % 30)), "settled_share", 1.0),
        (grown(0, *(np.arange(1, 2001))), "settled_share", 1485.5 / 1985.5),
        (bred(6, 8, 10, 12), "growth_linearity", 1.0),  # a squared correlation over generations
        (bred(6, 7, 7), "growth_linearity", 0.75),
        (bred(7, 7, 7), "growth_linearity", 0.0),
        (bred(6, 7, 8, 0, played=3), "growth_linearity", 1.0),
        (bred(0, 0, played=0), "growth_linearity", 0.0),
    ],
)
def test_measures_of_runs_by_hand(run: Record, metric: str, expected: float) -> None:
    assert measure(run, metric) == pytest.approx(expected)


def test_what_a_run_does_not_have_is_an_error() -> None:
    with pytest.raises(MetricError, match=r"^neat on CartPole-v1 has no 'churn_ratio'\.$"):
        measure(EVOLVED, "churn_ratio")
    with pytest.raises(MetricError, match="has no 'early_lost'"):
        measure(EVOLVED, "early_lost")
    with pytest.raises(MetricError, match="has no generations"):
        measure(RECORD, "growth_linearity")


def test_all_metrics_that_claims_need_are_measured() -> None:
    assert set(MEASURES) < METRICS.keys()
    for metric in MEASURES:
        assert np.isfinite(measure(EVOLVED, metric))
