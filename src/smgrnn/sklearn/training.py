"""Passes through a table of examples, in which a network grows and is pruned to its size.

The network starts without hidden nodes.  Candidate nodes join it, the edges that contribute least
are pruned, and the learning rate falls in the second half, as in the preset frugal.  Gaussian noise
augments each example in every pass, against overfitting.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import cdist

from smgrnn.arrays import Floats
from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.engine.player import Player
from smgrnn.graph.state import Graph
from smgrnn.learning import Adam
from smgrnn.learning.settings import Loss
from smgrnn.rules import BestCandidate, Contribution
from smgrnn.rules.size import RISEN
from smgrnn.validation import Count, NonNegative, Positive, Settings, Within

CALLS, LEAST_APART, MOST_APART = 400, 250, 1000
"""Calls of the plasticity module in all, and the fewest and most updates between two."""
SOURCES = 8
"""Inputs of a candidate node."""
AVERAGED = 1e-3
"""Weight-averaging rate; the averaged weights predict."""
BLOCK = 1000
"""Examples between two updates of the schedule."""
COMPARED = 1000
"""Examples, drawn at random, whose distances set the noise."""


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


def start_learner(
    n_features: int,
    n_outputs: int,
    loss: Loss,
    settings: TrainingSettings,
    *,
    n_rows: int | None = None,
    seed: int = 0,
) -> Learner:
    """Return a learner of features and a constant, whose outputs are linear.

    `n_rows` are the examples of a pass, if that is known.
    """
    interval = MOST_APART
    if n_rows is not None:
        interval = min(max(n_rows * settings.max_iter // CALLS, LEAST_APART), MOST_APART)
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
    return Learner(network, learning, rules, seed=seed)


def widen(rows: Floats) -> Floats:
    """Return the inputs of the network: the features, and a constant for the biases."""
    return np.column_stack([rows, np.ones(len(rows))])


def learn_once(learner: Learner, rows: Floats, labels: Any) -> float:
    """Learn each example once, in the order they have; return the mean loss."""
    return float(learner.learn_stream(widen(rows), labels).losses.mean())


def learn(
    learner: Learner,
    rows: Floats,
    labels: Any,
    settings: TrainingSettings,
    rng: np.random.Generator,
    judge: Callable[[Graph], float] | None,
) -> tuple[Learner, list[float], list[float]]:
    """Learn from scaled features (n, n_features) and the numbers of classes or scaled targets.

    Returns the learner, the mean loss of each pass and, with `judge`, the score after each.  Then
    learning ends once the score stops rising, and the best network within the budget is returned.
    """
    n, n_passes = len(rows), settings.max_iter
    spread = settings.noise * spacing(rows, rng)
    losses: list[float] = []
    scores: list[float] = []
    best, highest, since = None, -np.inf, 0
    for number in range(n_passes):
        order, total = rng.permutation(n), 0.0
        for first in range(0, n, BLOCK):
            learner.progress = (number + first / n) / n_passes
            chosen = order[first : first + BLOCK]
            noise = spread * rng.standard_normal((chosen.size, spread.size))
            total += chosen.size * learn_once(learner, rows[chosen] + noise, labels[chosen])
        losses.append(total / n)
        if number == n_passes - 1:
            learner.settle()
        if judge is None:
            continue
        graph = learner.averaged_graph
        scores.append(judge(graph))
        if graph.n_edges <= (learner.size or 0):
            since += 1
            if scores[-1] > highest:
                best, highest, since = graph, scores[-1], 0
            if since >= settings.n_iter_no_change:
                break
    if best is not None:
        learner = Learner(learner.config, learner.learning, learner.plasticity, graph=best)
    return learner, losses, scores


def spacing(rows: Floats, rng: np.random.Generator) -> Floats:
    """Return the median distance of examples to their nearest neighbour, per feature (n_features,).

    A feature that never changes gets 0.

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


def outputs_of(graph: Graph, config: NetworkConfig, rows: Floats) -> Floats:
    """Return the outputs of a network for each row of features (n, n_outputs)."""
    return Player(graph, config).act(widen(rows))[1]
