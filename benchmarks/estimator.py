"""Five-fold cross-validation of the estimators on the tables that come with scikit-learn.

Each table has the default, fixed budgets, multilayer perceptrons and a linear model; then comes the
difference between the default and the best fixed budget.  Seconds are of the processor, after
compiling.  Run with `python benchmarks/estimator.py [--seed N] [--tables NAME ...]`.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn import datasets
from smgrnn.sklearn import GrowingClassifier, GrowingRegressor

TABLES = ("wine", "diabetes", "digits", "breast_cancer", "iris")
BUDGETS = (5, 10, 20, 40, 80, 160, 300, 500, 700, 1200)
LEAST_OF_TOP = 20
"""Budgets are tried from the top budget divided by this."""
WIDTHS = (8, 20, 100)


def models(table: str, top: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the name of each model of a table, and the model."""
    growing: Any = GrowingClassifier
    layered: Any = MLPClassifier
    linear: Any = LogisticRegression(max_iter=1000)
    if table == "diabetes":
        growing, layered, linear = GrowingRegressor, MLPRegressor, Ridge()
    yield "by default", growing(random_state=seed)
    for budget in BUDGETS:
        if top / LEAST_OF_TOP <= budget <= 1.2 * top:
            yield f"at most {budget}", growing(max_parameters=budget, random_state=seed)
    for width in WIDTHS:
        network = layered(hidden_layer_sizes=(width,), max_iter=500, random_state=seed)
        yield f"{layered.__name__}, {width} hidden", make_pipeline(StandardScaler(), network)
    yield type(linear).__name__, make_pipeline(StandardScaler(), linear)


def n_parameters(fitted: Any) -> int:
    if hasattr(fitted, "n_parameters_"):
        return int(fitted.n_parameters_)
    last = fitted[-1]
    parts = (last.coef_, last.intercept_) if hasattr(last, "coef_") else ()
    return sum(np.size(part) for part in parts or (*last.coefs_, *last.intercepts_))


def measure(model: Any, features: Any, labels: Any, seed: int) -> Any:
    """Return parameters, score and seconds of each fold (5, 3)."""
    kind = StratifiedKFold if is_classifier(model) else KFold
    found = []
    for seen, unseen in kind(5, shuffle=True, random_state=seed).split(features, labels):
        estimator, start = clone(model), time.process_time()
        estimator.fit(features[seen], labels[seen])
        seconds = time.process_time() - start
        score = estimator.score(features[unseen], labels[unseen])
        found.append((n_parameters(estimator), score, seconds))
    return np.array(found)


def error(values: Any) -> Any:
    """Return the standard error of a mean over folds."""
    return values.std(ddof=1) / np.sqrt(values.size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0, help="of the folds and the estimators")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    GrowingClassifier(max_iter=1).fit([[0.0], [1.0]], [0, 1])  # compiles
    GrowingRegressor(max_iter=1).fit([[0.0], [1.0]], [0, 1])
    for table in options.tables:
        features, labels = getattr(datasets, f"load_{table}")(return_X_y=True)
        n_outputs = 1 if table == "diabetes" else len(set(labels))
        top = (features.shape[1] + 1) * n_outputs * 3 // 2 + 100
        print(f"\n| {table} {features.shape} | parameters | score | seconds |\n|---|---|---|---|")
        scores = {}
        for name, model in models(table, top, options.seed):
            found = measure(model, features, labels, options.seed)
            mean, scores[name] = found.mean(axis=0), found[:, 1]
            score = f"{mean[1]:.3f} ± {error(found[:, 1]):.3f}"
            print(f"| {name} | {mean[0]:.0f} | {score} | {mean[2]:.2f} |", flush=True)
        fixed = [name for name in scores if name.startswith("at most")]
        best = max(fixed, key=lambda name: scores[name].mean())
        lead = scores["by default"] - scores[best]
        print(f"\nBy default − {best}: {lead.mean():+.3f} ± {error(lead):.3f}")


if __name__ == "__main__":
    main()
