"""The estimators keep scikit-learn's contract, and learn."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_moons
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from smgrnn.errors import ConfigError, ShapeError
from smgrnn.sklearn import GrowingClassifier, GrowingRegressor


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [GrowingClassifier(max_iter=30), GrowingRegressor(max_iter=30)]
)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def moons() -> tuple[Any, Any]:
    return make_moons(600, noise=0.15, random_state=7)  # type: ignore[no-any-return]


def test_a_bent_boundary_is_learned_because_hidden_nodes_grow(moons: tuple[Any, Any]) -> None:
    grown = GrowingClassifier(random_state=0).fit(*moons)
    assert grown.graph_.n_hidden > 0
    assert grown.score(*moons) > 0.97  # a line gets 0.88
    assert np.allclose(grown.predict_proba(moons[0]).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("budget", "max_iter", "early_stopping"),
    [(4, 1, False), (5, 60, False), (5, 60, True), (20, 60, False), (60, 60, True)],
)
def test_the_network_that_predicts_keeps_the_budget(
    moons: tuple[Any, Any], budget: int, max_iter: int, early_stopping: bool
) -> None:
    """Also where there is no time to prune, in a single pass."""
    settings: Any = {"max_parameters": budget, "max_iter": max_iter, "random_state": 0}
    found = GrowingClassifier(early_stopping=early_stopping, **settings).fit(*moons)
    assert found.n_parameters_ == found.graph_.n_edges <= budget
    assert found.score(*moons) > 0.8 or max_iter == 1


def test_early_stopping_ends_soon_and_keeps_the_best(moons: tuple[Any, Any]) -> None:
    found = GrowingClassifier(
        early_stopping=True, n_iter_no_change=4, max_iter=200, random_state=1
    ).fit(*moons)
    scores = found.validation_scores_ or []
    assert found.n_iter_ == len(scores) == len(found.loss_curve_) < 200
    assert max(scores) == scores[-5]
    _, asked = train_test_split(
        np.arange(600), test_size=0.1, random_state=found._seed(), stratify=moons[1]
    )
    assert found.score(moons[0][asked], moons[1][asked]) == max(scores)


def test_parts_of_a_table_are_learned_within_the_budget(moons: tuple[Any, Any]) -> None:
    found = GrowingClassifier(max_parameters=40, random_state=0)
    scores = []
    for part in [*(slice(first, first + 50) for first in range(0, 600, 50)), *[slice(None)] * 40]:
        found.partial_fit(moons[0][part], moons[1][part], classes=[0, 1])
        assert found.n_parameters_ <= 40
        scores.append(found.score(*moons))
    assert scores[11] > 0.8
    assert scores[-1] > 0.95
    assert found.graph_.n_hidden > 0
    refused = {
        "The first call of partial_fit must name all classes": (GrowingClassifier(), 0, None),
        "partial_fit cannot stop early": (GrowingClassifier(early_stopping=True), 0, [0, 1]),
        "The label 2 is none of the named classes": (found, 1, None),
        "not those of earlier calls": (found, 0, [0, 1, 2]),
    }
    for sentence, (estimator, shift, classes) in refused.items():
        with pytest.raises(ConfigError, match=sentence):
            estimator.partial_fit(moons[0], moons[1] + shift, classes=classes)


def test_a_fit_can_go_on_in_parts_also_after_a_pickle(moons: tuple[Any, Any]) -> None:
    found = GrowingClassifier(max_iter=5, random_state=0).fit(*moons)
    twin = pickle.loads(pickle.dumps(found))
    for each in (found, twin):
        each.partial_fit(*moons)
    assert np.array_equal(found.predict_proba(moons[0]), twin.predict_proba(moons[0]))


def test_a_curve_is_learned_and_several_targets_too() -> None:
    features, target = make_friedman1(600, n_features=6, noise=0.1, random_state=3)
    one = GrowingRegressor(random_state=0).fit(features[:400], target[:400])
    assert one.score(features[400:], target[400:]) > 0.9  # a plane gets 0.72
    both = np.column_stack([target, 1000 - 5 * target])
    two = GrowingRegressor(random_state=0, max_iter=30).fit(features, both)
    assert two.predict(features).shape == (600, 2)
    assert two.score(features, both) > 0.8
    with pytest.raises(ShapeError, match=r"^Expected 2 targets of each example"):
        two.partial_fit(features, target)


@pytest.mark.parametrize(
    ("name", "value"), [("max_parameters", 0), ("noise", -1.0), ("validation_fraction", 1.0)]
)
def test_a_wrong_setting_is_refused_in_one_sentence(
    moons: tuple[Any, Any], name: str, value: Any
) -> None:
    with pytest.raises(
        ConfigError, match=f"^The '{name}' parameter of GrowingClassifier must be a"
    ):
        GrowingClassifier(**{name: value}).fit(*moons)
