"""Calls of the plasticity module on hand-made histories, and how uniform its choices are."""

from collections import Counter
from typing import Any

import numpy as np
from smgrnn.plasticity import Decision, Evidence, Memory, UpdateHistory, decide_by

from smgrnn.arrays import Floats
from smgrnn.config import PlasticityConfig
from smgrnn.graph import Graph, GraphEdit
from smgrnn.rules.size import Goal
from support.flat import rules

RESTLESS, DRIFTING, AT_REST = [1.0, -1.0], [0.05, 0.05], [0.0, 0.0]  # the updates of an edge
CHI_SQUARE_999 = {3: 16.3, 9: 27.9, 19: 43.8}  # exceeded once in 1000 times, by degrees of freedom


def remembering(*updates: list[float], window: int = 2) -> UpdateHistory:
    """Return the history of edges that saw these updates, one list per edge."""
    history = UpdateHistory.start(len(updates), window)
    for update in zip(*updates, strict=True):
        history.push(np.array(update))
    return history


def call(
    graph: Graph, history: UpdateHistory, number: int = 1, *, seed: int = 0, **changes: Any
) -> Decision:
    """Make one call of the module; every third call prunes unless `changes` say otherwise."""
    config = rules(**{"window": history.window, "prune_period": 3, **changes})
    return decide(graph, history, config, number, np.random.default_rng(seed))


def decide(
    graph: Graph,
    history: UpdateHistory,
    config: PlasticityConfig,
    number: int,
    rng: np.random.Generator,
) -> Decision:
    """Make one call of the module, drawing from `rng`."""
    return decide_by(config, graph, history, number, rng)


def evidence(graph: Graph, mean: Floats, variance: Floats, counts: Any = None) -> Evidence:
    """Return what a rule reads of a graph whose edges have these statistics and full windows."""
    none = np.zeros(0)
    counts = np.full(graph.n_edges, 10**6) if counts is None else np.asarray(counts)
    history, pairs = UpdateHistory.start(graph.n_edges, 1), np.zeros((2, 0), np.int64)
    goal, per_node = Goal(10**6, 0, True, True, False), (none,) * 4
    memory, spared = Memory.none(), np.zeros(graph.n_edges, dtype=np.bool_)
    per_edge = counts, mean, variance
    return Evidence(graph, history, spared, 1, goal, *per_edge, 1, *per_node, pairs, none, memory)


def causes(edit: GraphEdit) -> Counter[str]:
    return Counter(change.cause.name for change in edit.changes())


def chi_square(counts: Counter[Any]) -> float:
    """Return how far these counts are from being equal."""
    expected = counts.total() / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts.values())
