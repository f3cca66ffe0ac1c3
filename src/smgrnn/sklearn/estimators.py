"""GrowingClassifier and GrowingRegressor: scikit-learn's manners around one growing network."""

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smgrnn.arrays import Floats, Ints
from smgrnn.engine import Learner
from smgrnn.errors import ConfigError, ShapeError
from smgrnn.graph.state import Graph
from smgrnn.learning.settings import Loss
from smgrnn.sklearn.training import (
    TrainingSettings,
    learn,
    learn_once,
    outputs_of,
    start_learner,
)


class _GrowingEstimator(BaseEstimator, ABC):
    """The part that classifier and regressor share: a network, its inputs' scale, its training."""

    _loss: Loss
    _noise: float

    def __init__(
        self,
        *,
        max_parameters: int | None = None,
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

    def _settings(self) -> TrainingSettings:
        values = self.get_params(deep=False)
        del values["random_state"]
        if values["noise"] is None:
            values["noise"] = self._noise
        return TrainingSettings(**values)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _train(self, rows: Floats, labels: Any, n_outputs: int) -> None:
        """Train a new network on all examples but those set aside for early stopping."""
        settings, seed = self._settings(), self._seed()
        kept, asked = np.arange(len(rows)), np.arange(0)
        if settings.early_stopping:
            kept, asked = self._split(labels, settings.validation_fraction, seed)
        self.scaler_ = StandardScaler().fit(rows[kept])
        scaled, shape = self.scaler_.transform(rows), (rows.shape[1], n_outputs)
        learner = start_learner(*shape, self._loss, settings, n_rows=len(kept), seed=seed)

        def judge(graph: Graph) -> float:
            return self._judge(outputs_of(graph, learner.config, scaled[asked]), labels[asked])

        judged, rng = judge if settings.early_stopping else None, np.random.default_rng(seed)
        found = learn(learner, scaled[kept], labels[kept], settings, rng, judged)
        trained, self.loss_curve_, scores = found
        self.n_iter_ = len(self.loss_curve_)
        self.validation_scores_ = scores if settings.early_stopping else None
        self._take(trained)

    def _train_on(self, rows: Floats, labels: Any, n_outputs: int) -> None:
        """Learn each example once, with the network that there is or with a new one."""
        settings = self._settings()
        if settings.early_stopping:
            raise ConfigError("partial_fit cannot stop early: use early_stopping=False.")
        if not hasattr(self, "scaler_"):
            self.scaler_, self.loss_curve_, self.n_iter_ = StandardScaler(), [], 0
            shape, seed = (rows.shape[1], n_outputs), self._seed()
            self._learner = start_learner(*shape, self._loss, settings, seed=seed)
        self._learner.progress = None
        scaled = self.scaler_.partial_fit(rows).transform(rows)
        self.loss_curve_.append(learn_once(self._learner, scaled, labels))
        self.n_iter_ += 1
        self._take(self._learner)

    def _take(self, learner: Learner) -> None:
        """Predict with a network from now on, pruned to the limit if it is above, and keep it."""
        self._learner = learner
        if learner.size is not None and learner.graph.n_edges > learner.size:
            learner = deepcopy(learner)  # which goes on growing where it is
            learner.settle()
        self.graph_ = learner.averaged_graph
        self.n_parameters_ = self.graph_.n_edges

    def _outputs(self, features: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = validate_data(self, features, dtype=np.float64, reset=False)
        return outputs_of(self.graph_, self._learner.config, self.scaler_.transform(rows))

    def _split(self, labels: Any, share: float, seed: int) -> list[Ints]:
        """Return the rows to learn from, and those set aside."""
        how = {"test_size": share, "random_state": seed, "stratify": self._strata(labels)}
        parts: list[Ints] = train_test_split(np.arange(len(labels)), **how)
        return parts

    @abstractmethod
    def _strata(self, labels: Any) -> Any:
        """Return the labels to stratify a split by, if any."""

    @abstractmethod
    def _judge(self, outputs: Floats, labels: Any) -> float:
        """Return the score of outputs."""


class GrowingClassifier(ClassifierMixin, _GrowingEstimator):
    """A classifier that starts linear and grows the hidden nodes it needs.

    Features are scaled to mean 0 and deviation 1.  The outputs are the logits of the classes, which
    can be labels of any type that scikit-learn takes.

    Parameters
    ----------
    max_parameters
        Maximum parameters of the network that predicts; training exceeds it for up to 60 % of the
        passes.  None is one and a half times those of a linear model, plus 100.
    max_iter
        Passes through the examples.
    learning_rate
        Adam's step size; it falls to 5 % in the second half of the passes.
    noise
        Standard deviation of the Gaussian noise that augments examples, as a fraction of the median
        distance to the nearest neighbour.  None is 0.8 for classes and 0.25 for targets; 0 tends to
        overfit.
    early_stopping
        Set some examples aside, and stop once the score on them no longer rises; the network with
        the best score predicts.
    validation_fraction
        Fraction of the examples that is set aside.
    n_iter_no_change
        Passes without a better score before it stops.
    random_state
        A seed, a `numpy.random.RandomState`, or None for another network at every fit.

    Attributes
    ----------
    classes_
        The labels, in the order of the outputs (n_classes,).
    graph_
        The network as a `smgrnn.Graph`; its last input is constant.
    n_parameters_
        Its edges, biases among them.
    scaler_
        The scale of the features.
    loss_curve_
        Mean loss of each pass.
    validation_scores_
        Score after each pass on the examples set aside; None without early stopping.
    n_iter_
        Passes made.
    n_features_in_, feature_names_in_
        Features, and their names if they came with any.

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

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn more examples, each once; the first call must name all `classes`.

        The scale of the features follows all examples so far.  There is no noise, and the learning
        rate does not fall, because the number of examples to come is unknown.
        """
        is_first = not hasattr(self, "scaler_")
        rows, labels = validate_data(self, X, y, dtype=np.float64, reset=is_first)
        check_classification_targets(labels)
        if is_first:
            if classes is None:
                raise ConfigError("The first call of partial_fit must name all classes.")
            self.classes_ = np.unique(classes)
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ConfigError("The classes of partial_fit are not those of earlier calls.")
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise ConfigError(f"The label {unknown.tolist()[0]!r} is none of the named classes.")
        self._train_on(rows, np.searchsorted(self.classes_, labels), self.classes_.size)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the probability of each class (n, n_classes)."""
        return np.asarray(softmax(self._outputs(X), axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the most probable labels (n,)."""
        chosen = self._outputs(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def _strata(self, labels: Any) -> Any:
        """Stratify by class, unless a class has too few examples to be split."""
        n_asked = int(np.ceil(self.validation_fraction * len(labels)))
        counts = np.bincount(labels)
        is_enough = counts.min() > 1 and counts.size <= min(n_asked, len(labels) - n_asked)
        return labels if is_enough else None

    def _judge(self, outputs: Floats, labels: Any) -> float:
        return float(accuracy_score(labels, outputs.argmax(axis=1)))


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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Train a new network on features (n, n_features) and targets (n,) or (n, n_targets)."""
        rows, targets = self._read(X, y, is_first=True)
        self.target_scaler_ = StandardScaler().fit(targets)
        self._train(rows, self.target_scaler_.transform(targets), targets.shape[1])
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Learn more examples, each once: see `GrowingClassifier.partial_fit`."""
        is_first = not hasattr(self, "scaler_")
        rows, targets = self._read(X, y, is_first)
        if is_first:
            self.target_scaler_ = StandardScaler()
        elif targets.shape[1] != self.target_scaler_.n_features_in_:
            raise ShapeError(
                f"Expected {self.target_scaler_.n_features_in_} targets of each example, as in "
                f"earlier calls. Got {targets.shape[1]} instead."
            )
        scaled = self.target_scaler_.partial_fit(targets).transform(targets)
        self._train_on(rows, scaled, targets.shape[1])
        return self

    def predict(self, X: ArrayLike) -> Floats:  # noqa: N803
        """Return the targets (n,), or (n, n_targets) if they came so."""
        outputs = self._outputs(X)
        found: Floats = self.target_scaler_.inverse_transform(outputs)
        return found[:, 0] if self._is_flat else found

    def _read(self, features: Any, targets: Any, is_first: bool) -> tuple[Floats, Floats]:
        how: Any = {"dtype": np.float64, "multi_output": True, "y_numeric": True}
        rows, numbers = validate_data(self, features, targets, reset=is_first, **how)
        self._is_flat = numbers.ndim == 1
        return rows, numbers.astype(np.float64).reshape(len(rows), -1)

    def _strata(self, labels: Any) -> Any:
        return None

    def _judge(self, outputs: Floats, labels: Any) -> float:
        return float(r2_score(labels, outputs))
