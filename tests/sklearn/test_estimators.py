"""The estimators keep scikit-learn's contract, and learn."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine, make_friedman1, make_moons
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from smgrnn.errors import ConfigError
from smgrnn.sklearn import GrowingClassifier, GrowingRegressor
from support.exports import STRICT, tool


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [GrowingClassifier(max_iter=12), GrowingRegressor(max_iter=12)]
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


def test_a_curve_is_learned_and_several_targets_too() -> None:
    features, target = make_friedman1(600, n_features=6, noise=0.1, random_state=3)
    one = GrowingRegressor(random_state=0).fit(features[:400], target[:400])
    assert one.score(features[400:], target[400:]) > 0.9  # a plane gets 0.72
    both = np.column_stack([target, 1000 - 5 * target])
    two = GrowingRegressor(random_state=0, max_iter=30).fit(features, both)
    assert two.predict(features).shape == (600, 2)
    assert two.score(features, both) > 0.8


def test_without_a_budget_the_size_is_one_with_about_the_least_held_out_loss() -> None:
    """A plane with noise, for which the largest size used to be taken, and overfitted."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 8))
    target = rows @ np.arange(8) + 10 * rng.normal(size=300)
    found = GrowingRegressor(max_iter=40, random_state=0).fit(rows[:150], target[:150])
    losses: dict[int, float] = found.size_losses_ or {}
    assert list(losses)[:4] == [113, 56, 28, 14]
    best = min(losses, key=losses.__getitem__)
    size = next(each for each in losses if each == found.n_parameters_)
    assert size <= best < 56
    assert losses[size] < 1.02 * losses[best] < 0.98 * losses[113]
    same = GrowingRegressor(max_parameters=size, max_iter=40, random_state=0)
    same.fit(rows[:150], target[:150])
    assert same.size_losses_ is None
    assert np.array_equal(same.predict(rows), found.predict(rows))
    large = GrowingRegressor(max_parameters=113, max_iter=40, random_state=0)
    large.fit(rows[:150], target[:150])
    assert found.score(rows[150:], target[150:]) > large.score(rows[150:], target[150:]) + 0.02


MAIN = """
#include <stdio.h>
#include "model.h"
int main(void)
{
    model_state state;
    float row[MODEL_OBSERVATIONS], scores[MODEL_ACTIONS] = {0.0f};
    while (fread(row, sizeof row, 1, stdin) == 1) {
        model_reset(&state);
        float result = (float)model_step(&state, row%s);
        fwrite(&result, sizeof result, 1, stdout);
        fwrite(scores, sizeof scores, 1, stdout);
    }
    return 0;
}
"""


def _run_c(folder: Path, rows: Any, argument: str) -> Any:
    """Return the result and the outputs of the exported C for each row (n, 1 + n_outputs)."""
    (folder / "main.c").write_text(MAIN % argument)
    files = [folder / "main.c", folder / "model.c", "-o", folder / "model", "-lm"]
    subprocess.run([tool("cc"), *STRICT, *map(str, files)], check=True)
    done = subprocess.run(
        [folder / "model"], input=rows.astype(np.float32).tobytes(), capture_output=True, check=True
    )
    return np.frombuffer(done.stdout, np.float32).reshape(len(rows), -1)


def test_an_exported_classifier_gives_the_same_labels_and_has_its_names(tmp_path: Path) -> None:
    rows, labels = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])
    found = GrowingClassifier(max_parameters=60, random_state=0).fit(rows, names[labels])
    assert found.graph_.n_hidden > 0
    found.feature_names_in_ = load_wine().feature_names  # as a table with named columns sets them
    for name in ("model.c", "model.json", "model.graphml"):
        found.export(tmp_path / name)
    chosen = _run_c(tmp_path, rows, "")[:, 0].astype(int)
    del found.feature_names_in_
    assert np.array_equal(found.classes_[chosen], found.predict(rows))
    nodes = json.loads((tmp_path / "model.json").read_text())["nodes"]
    assert [node["name"] for node in nodes[:14]] == [*load_wine().feature_names, "bias"]
    assert [node["name"] for node in nodes[14:17]] == sorted(names)
    assert nodes[0]["mean"] == pytest.approx(rows[:, 0].mean())
    assert "output[0]: barbera" in (tmp_path / "model.h").read_text()
    rows = rows.astype(np.float32)
    for number in ("float", "q15"):
        recorded: Any = {"type": number, "scores": True, "recording": rows}
        found.export(tmp_path / f"{number}.c", **recorded)
        header = (tmp_path / f"{number}.h").read_text()
        assert ("SCORE_UNITS" in header) == (number == "q15")
    with pytest.raises(ConfigError, match=r"need features; pass recording=X"):
        found.export(tmp_path / "whole.c", type="q7")
    with pytest.raises(ConfigError, match=r"model\.txt names no export format"):
        found.export(tmp_path / "model.txt")


def test_an_exported_regressor_gives_the_targets_as_they_came(tmp_path: Path) -> None:
    rows, target = load_diabetes(return_X_y=True)
    both = np.column_stack([target, -0.01 * rows[:, 2]])
    found = GrowingRegressor(max_parameters=70, max_iter=30, random_state=0).fit(rows, both)
    assert found.graph_.n_hidden > 0
    found.export(tmp_path / "model.c")
    given = _run_c(tmp_path, rows, ", scores")
    assert not given[:, 0].any()
    np.testing.assert_allclose(given[:, 1:], found.predict(rows), rtol=1e-4, atol=1e-6)


def test_a_misspelt_parameter_is_refused_with_the_closest_one() -> None:
    misspelt: Any = {"max_params": 5}
    sentence = r"^GrowingClassifier has no argument 'max_params'\. Did you mean"
    with pytest.raises(ConfigError, match=sentence):
        GrowingClassifier(**misspelt)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_parameters", 0),
        ("max_parameters", "500"),
        ("max_iter", 2.5),
        ("noise", -1.0),
        ("validation_fraction", 1.0),
    ],
)
def test_a_wrong_setting_is_refused_in_one_sentence(
    moons: tuple[Any, Any], name: str, value: Any
) -> None:
    with pytest.raises(
        ConfigError, match=f"^The '{name}' parameter of GrowingClassifier must be a"
    ):
        GrowingClassifier(**{name: value}).fit(*moons)
