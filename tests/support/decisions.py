"""Calls of the plasticity module on hand-made histories, and how uniform its choices are."""

from collections import Counter
from typing import Any

import numpy as np

from smgrnn.config import PlasticityConfig
from smgrnn.graph import Graph, GraphEdit
from smgrnn.rules import Evidence, Limits, PlasticityModule, UpdateHistory
from smgrnn.rules.module import Decision
from smgrnn.rules.size import Goal
from smgrnn.rules.statistics import Candidates

CHI_SQUARE_999 = {3: 16.3, 4: 18.5, 9: 27.9, 19: 43.8}  # by degrees of freedom, 0.1 %


def decide(
    graph: Graph,
    history: UpdateHistory,
    config: PlasticityConfig,
    number: int,
    rng: np.random.Generator,
    protected: Any = False,
) -> Decision:
    module = PlasticityModule(config, graph, 1, rng)
    module.calls = number - 1
    watched = module.start(graph)._replace(history=history)
    return module.call(graph, watched, np.zeros(graph.n_edges, np.bool_) | protected)


def evidence(graph: Graph, mean: Any = 0.0, variance: Any = 0.0, **known: Any) -> Evidence:
    """Return evidence of a graph with these statistics and full windows; the rest is zero."""
    per_edge, per_node = np.zeros(graph.n_edges), np.zeros(graph.n_nodes)
    usual: dict[str, Any] = {
        "history": UpdateHistory.start(graph.n_edges, 1),
        "is_watched": np.ones(graph.n_edges, np.bool_),
        "protected": np.zeros(graph.n_edges, np.bool_),
        "limits": Limits(10**6, 10**6),
        "goal": Goal(size=10**6, slack=0, grows=True, swaps=True, is_over=False),
        **{"call": 1, "iterations": 1, "n_updates": 100},
        **dict.fromkeys(("activity", "square", "error", "strain"), per_node),
        "absent": np.zeros((2, 0), np.int64),
        "absent_gradient": np.zeros(0),
        "candidates": Candidates.start(graph, 0, 0),
    }
    return Evidence(graph, mean=per_edge + mean, variance=per_edge + variance, **(usual | known))


def causes(edit: GraphEdit) -> Counter[str]:
    return Counter(change.cause.name for change in edit.changes())


def chi_square(counts: Counter[Any]) -> float:
    expected = counts.total() / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts.values())
