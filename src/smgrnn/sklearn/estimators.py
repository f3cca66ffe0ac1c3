"""GrowingClassifier and GrowingRegressor: scikit-learn's interface to one growing network.

The network starts without hidden nodes and grows by the rules of the preset frugal.  Gaussian noise
augments each example in every pass, against overfitting.
"""

from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smgrnn.arrays import Floats
from smgrnn.config import NetworkConfig, PlasticityConfig
from smgrnn.engine import Learner
from smgrnn.engine.player import Player
from smgrnn.errors import ConfigError, known_arguments, plain
from smgrnn.graph.state import Graph
from smgrnn.learning.settings import Loss
from smgrnn.names import Names
from smgrnn.policy import Normalisation, Policy
from smgrnn.rules import BestCandidate, Contribution
from smgrnn.rules.size import RISEN
from smgrnn.tasks import Task
from smgrnn.validation import Count, NonNegative, Positive, Within, checked

CALLS, LEAST_APART, MOST_APART = 400, 250, 1000
"""Calls of the plasticity module in all, and the fewest and most updates between two."""
SOURCES = 8  # inputs of a candidate node
AVERAGED = 1e-3  # weight-averaging rate; the averaged weights predict
BLOCK = 1000  # examples between two updates of the schedule
COMPARED = 1000  # examples, drawn at random, whose distances set the noise
FOLDS, JUDGED = 5, 500
"""Folds by which sizes are compared, and the examples that are enough: more take fewer folds."""
ABOUT, CLEARLY = 0.5, 2.0
"""Standard errors by which a loss is still about as low as another, or clearly higher."""
KINDS: dict[str, Any] = {
    "max_parameters": Count | None,
    "max_iter": Count,
    "learning_rate": Positive,
    "noise": NonNegative | None,
    "early_stopping": bool,
    "validation_fraction": Annotated[float, Within("(0, 1)")],
    "n_iter_no_change": Count,
}
"""The values that each parameter of an estimator may have."""


class _GrowingEstimator(BaseEstimator):
    """The part that classifier and regressor share: a network, its inputs' scale, its training."""

    _loss: Loss
    _noise: float
    _judge: Any
    """The score of outputs, after the labels that they should have."""
    _losses: Any
    """The loss of each example (n,), of the same arguments; sizes are compared by its mean."""

    @known_arguments
    def __init__(
        self,
        max_parameters: int | None = None,
        *,
        max_iter: int = 100,
        learning_rate: float = 0.003,
        noise: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        random_state: Any = None,
    ) -> None:
        self.max_parameters = max_parameters
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.noise = noise
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def _seed(self) -> int:
        """Return the seed of a fit; refuse wrong parameters first."""
        for name, kind in KINDS.items():
            checked(getattr(self, name), kind, f"The '{name}' parameter of {type(self).__name__}")
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _train(self, rows: Floats, labels: Any, n_outputs: int) -> None:
        """Train a new network; early stopping keeps the best one within the budget."""
        seed, kept, asked = self._seed(), np.arange(len(rows)), np.arange(0)
        self.size_losses_: dict[int, float] | None = None
        size = self.max_parameters
        if size is None:
            size = self._choose_size(rows, labels, n_outputs, seed)
        if self.early_stopping:
            fraction = self.validation_fraction
            by = _strata(labels, fraction) if self._loss == "cross_entropy" else None
            kept, asked = train_test_split(kept, test_size=fraction, stratify=by, random_state=seed)
        self.scaler_ = StandardScaler().fit(rows[kept])
        scaled, n = self.scaler_.transform(rows), len(kept)
        examples, answers = scaled[kept], labels[kept]
        interval = min(max(n * self.max_iter // CALLS, LEAST_APART), MOST_APART)
        kinds: Any = {"growth": BestCandidate(candidate_sources=SOURCES)}
        kinds |= {"pruning": Contribution(dense_until=RISEN)}
        rules = PlasticityConfig(**kinds, interval=interval, size=size, window=1)
        how: Any = {"learning_rate": self.learning_rate, "averaging": AVERAGED, "seed": seed}
        learner = Learner(rows.shape[1], n_outputs, plasticity=rules, loss=self._loss, **how)
        rng = np.random.default_rng(seed)
        spread = (self._noise if self.noise is None else self.noise) * spacing(examples, rng)
        losses: list[float] = []
        scores: list[float] = []
        best, highest, since = None, -np.inf, 0
        for number in range(self.max_iter):
            order, total = rng.permutation(n), 0.0
            for first in range(0, n, BLOCK):
                learner.progress = (number + first / n) / self.max_iter
                chosen = order[first : first + BLOCK]
                noise = spread * rng.standard_normal((chosen.size, spread.size))
                outcome = learner.learn_stream(examples[chosen] + noise, answers[chosen])
                total += float(outcome.losses.sum())
            losses.append(total / n)
            if number == self.max_iter - 1:
                learner.settle()
            if not self.early_stopping:
                continue
            graph = learner.averaged_graph
            outputs = _outputs_of(graph, learner.config, scaled[asked])
            scores.append(float(self._judge(labels[asked], outputs)))
            if graph.n_edges <= (learner.size or 0):
                since += 1
                if scores[-1] > highest:
                    best, highest, since = graph, scores[-1], 0
                if since >= self.n_iter_no_change:
                    break
        self.loss_curve_, self.n_iter_ = losses, len(losses)
        self.validation_scores_ = scores if self.early_stopping else None
        self.graph_, self._config = best or learner.averaged_graph, learner.config
        self.n_parameters_ = self.graph_.n_edges

    def _choose_size(self, rows: Floats, labels: Any, n_outputs: int, seed: int) -> int:
        """Return the smallest size whose held-out loss is about the least.

        From the largest size on, each is half of the one before, until one clearly loses.  Folds
        are alike in their labels.
        """
        size, n = largest(rows.shape[1], n_outputs), len(rows)
        order = np.random.default_rng(seed).permutation(n)
        order = order[np.argsort(labels.reshape(n, -1)[order, 0], kind="stable")]
        folds = [order[first::FOLDS] for first in range(min(FOLDS, -(-JUDGED * FOLDS // n)))]
        found: dict[int, Floats] = {}
        behind = 0.0
        while n >= 2 * FOLDS and size > 0 and behind <= CLEARLY:
            parts: list[Floats] = []
            for asked in folds:
                kept = np.setdiff1d(order, asked)
                twin = clone(self).set_params(max_parameters=size, random_state=seed)
                twin._train(rows[kept], labels[kept], n_outputs)
                scaled = twin.scaler_.transform(rows[asked])
                outputs = _outputs_of(twin.graph_, twin._config, scaled)
                parts.append(self._losses(labels[asked], outputs))
            found[size] = np.concatenate(parts)
            least = min(found.values(), key=np.mean)
            behind, size = _errors_above(found[size], least), size // 2
        self.size_losses_ = {size: float(losses.mean()) for size, losses in found.items()}
        return min((it for it in found if _errors_above(found[it], least) <= ABOUT), default=size)

    def _outputs(self, features: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = validate_data(self, features, dtype=np.float64, reset=False)
        return _outputs_of(self.graph_, self._config, self.scaler_.transform(rows))

    def export(self, path: str | Path, **options: Any) -> list[Path]:
        """Write the network as C, ONNX, JSON or GraphML, by the ending of the path.

        `options` are those of `smgrnn.export.export`: `scores=True` also gives the logits of the
        classes, and `type="q15"` with `recording=X`, rows of features, writes integers.

        The scale of the features is part of it, and of regressors that of the targets.  A class is
        its index in `classes_`, and its name is that of an output.

        >>> from sklearn.datasets import load_iris
        >>> from smgrnn.sklearn import GrowingClassifier
        >>> iris = GrowingClassifier(max_parameters=9).fit(*load_iris(return_X_y=True))
        >>> [file.name for file in iris.export("iris.c")]
        ['iris.h', 'iris.c']
        """
        check_is_fitted(self)
        needs_rows = options.get("type", "float") != "float" or options.get("self_test")
        if needs_rows and options.get("recording") is None:
            raise ConfigError("Integers and self-tests need features; pass recording=X.")
        scale = Normalisation(self.scaler_.mean_, 1 / self.scaler_.scale_)
        n_inputs, config, graph = self.scaler_.n_features_in_, self._config, self._folded()
        names = Names.numbered(n_inputs, graph.n_outputs)._asdict()
        for end, given in {"inputs": "feature_names_in_", "outputs": "classes_"}.items():
            if hasattr(self, given):
                names[end] = tuple(plain(str(name)) for name in getattr(self, given))
        is_choice = self._loss == "cross_entropy"
        task = Task(type(self).__name__, n_inputs, graph.n_outputs, is_discrete=is_choice)
        policy = Policy(graph, config, task, normalisation=scale, names=Names(**names))
        return policy.export(path, **options)

    def _folded(self) -> Graph:
        """Return the graph with the scale of the outputs in its weights."""
        return self.graph_


def _outputs_of(graph: Graph, config: NetworkConfig, rows: Floats) -> Floats:
    """Return the outputs of a network for each row of features (n, n_outputs)."""
    return Player(graph, config).act(rows)[1]


def largest(n_features: int, n_outputs: int) -> int:
    """Return the largest size to choose from: half as many more than a linear model, and 100."""
    n_linear = (n_features + 1) * n_outputs
    return n_linear + n_linear // 2 + 100


def _errors_above(losses: Floats, others: Floats) -> float:
    """Return by how many standard errors losses exceed others of the same examples."""
    difference = losses - others
    error = difference.std() / np.sqrt(difference.size)
    return float(difference.mean() / max(error, np.finfo(float).tiny))


def _strata(labels: Any, fraction: float) -> Any:
    """Return the classes to split by, unless one of them has too few examples to be split."""
    n_asked, counts = int(np.ceil(fraction * len(labels))), np.bincount(labels)
    is_enough = counts.min() > 1 and counts.size <= min(n_asked, len(labels) - n_asked)
    return labels if is_enough else None


def spacing(rows: Floats, rng: np.random.Generator) -> Floats:
    """Return the median distance of examples to their nearest neighbor, per feature (n_features,).

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


class GrowingClassifier(ClassifierMixin, _GrowingEstimator):
    """A classifier that starts linear and grows the hidden nodes it needs.

    Features are scaled to mean 0 and deviation 1.  The outputs are the logits of the classes.

    Parameters
    ----------
    max_parameters
        Maximum parameters of the network that predicts; training exceeds it for up to 60 % of the
        passes.  None compares sizes by cross-validation, from one and a half times the parameters
        of a linear model plus 100 downwards, and takes the smallest that loses next to nothing.
    max_iter
        Passes through the examples.
    learning_rate
        Adam's step size; it falls to 5 % in the second half of the passes.
    noise
        Standard deviation of the Gaussian noise that augments examples, as a fraction of the median
        distance to the nearest neighbor.  None is 0.8 for classes and 0.25 for targets.
    early_stopping, validation_fraction, n_iter_no_change
        Set a fraction of the examples aside, and stop after so many passes without a better score
        on them; the network with the best score predicts.
    random_state
        A seed, a `numpy.random.RandomState`, or None for another network at every fit.

    Attributes
    ----------
    classes_
        The labels, in the order of the outputs (n_classes,).
    graph_, n_parameters_
        The network as a `smgrnn.Graph`, whose last input is constant, and its number of edges.
    scaler_
        The scale of the features.
    loss_curve_, n_iter_
        Mean loss of each pass, and the number of passes.
    size_losses_
        Mean held-out loss by size, where `max_parameters` is None: the squared error, of
        probabilities for classes.
    validation_scores_
        Score after each pass on the examples set aside; None without early stopping.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smgrnn.sklearn import GrowingClassifier
    >>> features, species = load_iris(return_X_y=True)
    >>> iris = GrowingClassifier(max_parameters=12, random_state=0).fit(features, species)
    >>> iris.n_parameters_ <= 12, iris.score(features, species) > 0.9
    (True, True)
    >>> iris.predict_proba(features[:2]).shape
    (2, 3)
    """

    _loss = "cross_entropy"
    _noise = 0.8

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Train a new network on features (n, n_features) and their labels (n,)."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        self._train(rows, numbers, self.classes_.size)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the probability of each class (n, n_classes)."""
        return np.asarray(softmax(self._outputs(X), axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the most probable labels (n,)."""
        chosen = self._outputs(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    @staticmethod
    def _judge(labels: Any, outputs: Floats) -> Any:
        return accuracy_score(labels, outputs.argmax(axis=1))

    @staticmethod
    def _losses(labels: Any, outputs: Floats) -> Floats:
        missed = np.eye(outputs.shape[1])[labels] - softmax(outputs, axis=1)
        return np.asarray((missed**2).sum(axis=1))


class GrowingRegressor(RegressorMixin, _GrowingEstimator):
    """A regressor that starts linear and grows the hidden nodes it needs; of several targets too.

    Features and targets are scaled to mean 0 and deviation 1.  Parameters and attributes are those
    of `GrowingClassifier`, but for `classes_`.

    Examples
    --------
    >>> import numpy as np
    >>> from smgrnn.sklearn import GrowingRegressor
    >>> x = np.linspace(-2, 2, 400)[:, None]
    >>> bend = GrowingRegressor(random_state=0).fit(x, np.abs(x[:, 0]))
    >>> bend.score(x, np.abs(x[:, 0])) > 0.95
    True
    >>> bend.predict([[-1.0], [1.0]]).round().tolist()
    [1.0, 1.0]
    """

    _loss = "mse"
    _noise = 0.25
    _judge = staticmethod(r2_score)

    @staticmethod
    def _losses(targets: Floats, outputs: Floats) -> Floats:
        return np.asarray(((targets - outputs) ** 2).mean(axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Train a new network on features (n, n_features) and targets (n,) or (n, n_targets)."""
        rows, numbers = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True
        )
        self._is_flat, targets = (
            numbers.ndim == 1,
            numbers.astype(np.float64).reshape(len(rows), -1),
        )
        self.target_scaler_ = StandardScaler().fit(targets)
        self._train(rows, self.target_scaler_.transform(targets), targets.shape[1])
        return self

    def predict(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the targets (n,), or (n, n_targets) if they came so."""
        outputs = self._outputs(X)
        found = np.asarray(self.target_scaler_.inverse_transform(outputs))
        return found[:, 0] if self._is_flat else found

    def _folded(self) -> Graph:
        graph, scaler = self.graph_, self.target_scaler_
        n_inputs, n_outputs = graph.n_inputs, graph.n_outputs
        factor = np.ones(graph.n_nodes)
        factor[n_inputs:][:n_outputs] = scaler.scale_
        ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
        edges = dict(zip(ends, graph.weight * factor[graph.target], strict=True))
        for output, mean in enumerate(scaler.mean_, n_inputs):
            bias = n_inputs - 1, output
            edges[bias] = edges.get(bias, 0.0) + mean
        triples = [(*pair, weight) for pair, weight in edges.items()]
        return Graph.from_edges(n_inputs, n_outputs, graph.n_hidden, triples)
