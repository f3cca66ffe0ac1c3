"""Networks that learn outside of runs, whose numbers are frozen too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from frozen.runs import BUSY
from frozen.values import CHOICES, ROWS, TARGETS, kept, values_of_edits, values_of_graph
from smgrnn import GraphEdit, StructuralPlasticity
from smgrnn.config import LearningConfig as Learning
from smgrnn.config import PlasticityConfig as Rules
from smgrnn.graph import EditDraft
from smgrnn.rules import Evidence
from smgrnn.sklearn import GrowingClassifier, GrowingRegressor
from support.flat import learner_of, network_config, paper_net, plain, rules, table

NETWORK: dict[str, Any] = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 3, "iterations": 2}
SQUARED = plain(loss="mse")
ENDS = np.arange(1, 601) % 7 == 0
FRUGAL = Rules(interval=20)


class OwnRule:
    """Adds a relay between an input and an output at random; removes the edge that moved least."""

    def decide(self, evidence: Evidence, rng: np.random.Generator) -> GraphEdit:
        graph = evidence.graph
        draft = EditDraft(graph)
        draft.remove_edge(int(graph.edge_ids[np.abs(evidence.mean).argmin()]))
        node = draft.add_node()
        draft.add_edge(int(rng.integers(graph.n_inputs)), node, 0.3)
        draft.add_edge(node, graph.n_inputs + int(rng.integers(graph.n_outputs)), -0.2)
        return draft.finish()


OWN: dict[str, Any] = {"growth": OwnRule(), "pruning": OwnRule(), "orphan_removal": False}


def learned(
    plasticity: Rules,
    learning: Learning | None = None,
    *,
    size: int | None = None,
    one_by_one: bool = False,
) -> dict[str, Any]:
    """Return what is kept of a learner; with a size it settles in the end."""
    learner = learner_of(network_config(**NETWORK), learning, plasticity, seed=1)
    labels = TARGETS if learner.learning.loss == "mse" else CHOICES
    values: list[Any] = []
    if one_by_one:
        for row, label, is_last in zip(ROWS, labels, ENDS, strict=True):
            values += [learner.learn(row, label), learner.loss]
            if is_last:
                learner.end_episode()
    else:
        values += learner.learn_stream(ROWS, labels, ENDS)
    if size is not None:
        learner.size = size
        learner.settle()
    values += [*values_of_graph(learner.graph), *values_of_graph(learner.averaged_graph)]
    log = learner.log.columns
    values += values_of_edits(log)
    values += [learner.n_updates, *(learner.act(row) for row in ROWS[:20])]
    return kept(values, log.rows[:, 0])


def trained_by_torch(rules: Rules, averaging: float = 0.0) -> dict[str, Any]:
    """Return what is kept of an SMGrNN that torch trains for 300 updates, to nine digits.

    The last bits of torch's tanh and square root differ between processors.
    """
    network = paper_net(3, 2, n_hidden=3, iterations=2, seed=1, dtype=torch.float64)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    plasticity = StructuralPlasticity(network, optimizer, rules, seed=1, averaging=averaging)
    values: list[Any] = []
    kinds: list[int] = []
    for row, target, is_last in zip(ROWS[:300], TARGETS, ENDS, strict=False):
        optimizer.zero_grad()
        loss = (network(torch.from_numpy(row)) - torch.from_numpy(target)).square().sum()
        loss.backward()
        optimizer.step()
        edit = plasticity.step()
        values += [loss.item(), edit.rows, edit.weight]
        kinds += edit.rows[:, 0].tolist()
        if is_last:
            network.reset_state()
    values += [*values_of_graph(network.graph), *values_of_graph(plasticity.averaged_graph)]
    return kept((np.round(value, 9) for value in values), kinds)


def fitted(estimator: Any, labels: Any) -> dict[str, Any]:
    """Return what is kept of an estimator; it does not tell its edits."""
    estimator.fit(ROWS, labels)
    values = [*values_of_graph(estimator.graph_), estimator.predict(ROWS)]
    return kept(values, [])


RULES = rules(**BUSY)
BARE: dict[str, Callable[[], dict[str, Any]]] = {
    "learner, choices": lambda: learned(RULES),
    "learner, one by one": lambda: learned(RULES, one_by_one=True),
    "learner, mse": lambda: learned(RULES, SQUARED),
    "learner, mse, one by one": lambda: learned(RULES, SQUARED, one_by_one=True),
    "learner, frugal": lambda: learned(FRUGAL, plain(averaging=0.01)),
    "learner, frugal, mse": lambda: learned(FRUGAL, SQUARED),
    "learner, settled at 8": lambda: learned(FRUGAL, size=8),
    "learner, own rule": lambda: learned(table(interval=50, **OWN)),
    "learner, own rule an episode": lambda: learned(Rules.paper(**OWN)),
    "torch, paper": lambda: trained_by_torch(RULES),
    "torch, frugal": lambda: trained_by_torch(FRUGAL, averaging=0.01),
    "classifier": lambda: fitted(GrowingClassifier(max_iter=40, random_state=0), CHOICES),
    "regressor": lambda: fitted(GrowingRegressor(max_iter=40, random_state=0), TARGETS),
}
