"""Passes through a table of examples, in which a network grows and is pruned to its size.

The network starts without hidden nodes.  Candidate nodes join it, what carries least is pruned, and
the learning rate falls in the second half, as in the preset frugal.  At every pass each example is
shaken a little: a table is seen many times, and what is seen often enough is learned by heart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from smgrnn.arrays import Floats
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.graph.state import Graph
from smgrnn.learning import Adam
from smgrnn.learning.settings import Loss
from smgrnn.rules import BestCandidate, Contribution
from smgrnn.rules.size import RISEN
from smgrnn.validation import Count, NonNegative, Positive, Settings, Within

CALLS, LEAST_APART, MOST_APART = 400, 250, 1000
"""Calls of the plasticity module in all, and the fewest and most updates between two."""
SOURCES = 8
"""Inputs that a candidate listens to."""
AVERAGED = 1e-3
"""Least share of an update in the running mean of the weights, which is what predicts."""
BLOCK = 1000
"""Examples between two looks at the schedule."""
COMPARED = 1000
"""Examples, drawn at random, by whose distances they are shaken."""


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(Settings):
    """The settings of an estimator, whose own docstring explains them."""

    max_parameters: Count | None
    max_iter: Count
    learning_rate: Positive
    noise: NonNegative
    early_stopping: bool
    validation_fraction: Annotated[float, Within("(0, 1)")]
    n_iter_no_change: Count

    def budget(self, n_features: int, n_outputs: int) -> int:
        """Return the parameters that the network ends with at most."""
        n_linear = (n_features + 1) * n_outputs
        return self.max_parameters or n_linear + n_linear // 2 + 100


class LabelledRows(NamedTuple):
    """Examples to learn from."""

    rows: Floats
    """Scaled features (n, n_features)."""
    labels: Any
    """Numbers of classes (n,), or scaled targets (n, n_outputs)."""


class Passes(NamedTuple):
    """The network after the last pass, and how each of them went."""

    learner: Learner
    losses: list[float]
    """Mean loss of each pass."""
    scores: list[float]
    """Validation score after each pass; none without early stopping."""


def start_learner(
    n_features: int,
    n_outputs: int,
    loss: Loss,
    settings: TrainingSettings,
    *,
    interval: int = MOST_APART,
    seed: int = 0,
    graph: Graph | None = None,
) -> Learner:
    """Return a learner of features and a constant, whose outputs are linear."""
    network = NetworkConfig(
        n_inputs=n_features + 1,
        n_outputs=n_outputs,
        density=1.0,
        weight_std=0.0,
        iterations=2,
        activation="relu",
        output_activation="identity",
        carry_state=False,
    )
    learning = LearningConfig(
        learning_rate=settings.learning_rate,
        optimizer=Adam(bias_correction="edge"),
        loss=loss,
        schedule="falling",
        averaging=AVERAGED,
    )
    rules = PlasticityConfig.frugal(
        growth=BestCandidate(candidate_sources=SOURCES),
        pruning=Contribution(dense_until=RISEN),
        interval=interval,
        size=settings.budget(n_features, n_outputs),
        window=1,
    )
    return Learner(network, learning, rules, graph=graph, seed=seed)


def interval_of(n_rows: int, settings: TrainingSettings) -> int:
    """Return the updates between two calls of the plasticity module."""
    return min(max(n_rows * settings.max_iter // CALLS, LEAST_APART), MOST_APART)


def widen(rows: Floats) -> Floats:
    """Return the inputs of the network: the features, and a constant for the biases."""
    return np.column_stack([rows, np.ones(len(rows))])


def learn_once(learner: Learner, table: LabelledRows) -> float:
    """Learn each example once, in the order they have; return the mean loss."""
    return float(learner.learn_stream(widen(table.rows), table.labels).losses.mean())


def learn(
    learner: Learner,
    table: LabelledRows,
    settings: TrainingSettings,
    rng: np.random.Generator,
    judge: Callable[[Graph], float] | None,
) -> Passes:
    """Learn from the table until the last pass, or until `judge` sees no more improvement.

    Of the networks that were judged, the best that is within the budget is returned.
    """
    spread = settings.noise * spacing(table.rows, rng)
    plateau = _Plateau(settings.n_iter_no_change, learner.size or 0)
    losses: list[float] = []
    for number in range(settings.max_iter):
        losses.append(_one_pass(learner, table, spread, rng, number, settings.max_iter))
        if number == settings.max_iter - 1:
            learner.settle()
        if judge is not None and plateau.has_ended(learner.averaged_graph, judge):
            break
    if plateau.best is not None:
        learner = Learner(learner.config, learner.learning, learner.plasticity, graph=plateau.best)
    return Passes(learner, losses, plateau.scores)


def _one_pass(
    learner: Learner,
    table: LabelledRows,
    spread: Floats,
    rng: np.random.Generator,
    number: int,
    n_passes: int,
) -> float:
    n, total = len(table.rows), 0.0
    order = rng.permutation(n)
    for first in range(0, n, BLOCK):
        learner.progress = (number + first / n) / n_passes
        chosen = order[first : first + BLOCK]
        shaken = table.rows[chosen] + spread * rng.standard_normal((chosen.size, spread.size))
        total += chosen.size * learn_once(learner, LabelledRows(shaken, table.labels[chosen]))
    return total / n


def spacing(rows: Floats, rng: np.random.Generator) -> Floats:
    """Return the usual distance of an example to its nearest, as a deviation of each feature.

    A feature that never changes stays as it is (n_features,).

    >>> corners = np.array([[0.0, 0.0, 5.0], [0.0, 2.0, 5.0], [2.0, 0.0, 5.0], [2.0, 2.0, 5.0]])
    >>> spacing(corners, np.random.default_rng(0)).round(3).tolist()
    [1.414, 1.414, 0.0]
    """
    varies = np.ptp(rows, axis=0) > 0
    if len(rows) > COMPARED:
        rows = rows[rng.choice(len(rows), COMPARED, replace=False)]
    distances = cdist(rows, rows)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    if len(rows) < 2 or not varies.any():
        return np.zeros(varies.size)
    return np.where(varies, np.median(nearest) / np.sqrt(varies.sum()), 0.0)


class _Plateau:
    """Remembers the best network within the budget, and how long ago that was."""

    def __init__(self, patience: int, budget: int) -> None:
        self._patience, self._budget = patience, budget
        self._since, self._highest = 0, -np.inf
        self.best: Graph | None = None
        self.scores: list[float] = []

    def has_ended(self, graph: Graph, judge: Callable[[Graph], float]) -> bool:
        """Judge a network; return whether the last ones within the budget were no better."""
        score = judge(graph)
        self.scores.append(score)
        if graph.n_edges > self._budget:
            return False
        self._since += 1
        if score > self._highest:
            self.best, self._highest, self._since = graph, score, 0
        return self._since >= self._patience


def outputs_of(graph: Graph, config: NetworkConfig, rows: Floats) -> Floats:
    """Return the outputs of a network for each row of features (n, n_outputs)."""
    player = Learner(
        config, LearningConfig(loss="mse"), PlasticityConfig.static(window=1), graph=graph
    )
    return np.asarray(player.act(widen(rows)))
