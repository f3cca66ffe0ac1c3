"""Accuracy against parameters on scikit-learn's digits: GrowingClassifier beside MLPClassifier.

A fifth is held out, by the seed that also seeds the estimator.  Times are of the processor, after
everything is compiled.  Run with `python benchmarks/estimator.py [--seed N] [--seeds N]`.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smgrnn.sklearn import GrowingClassifier

BUDGETS = (200, 300, 500, 700, None)
WIDTHS = (4, 8, 12, 20, 50, 100)


def growing(budget: int | None, seed: int) -> Any:
    return GrowingClassifier(max_parameters=budget, random_state=seed)


def layered(width: int, seed: int) -> Any:
    return make_pipeline(StandardScaler(), MLPClassifier((width,), max_iter=500, random_state=seed))


def n_parameters(fitted: Any) -> int:
    if isinstance(fitted, GrowingClassifier):
        return fitted.n_parameters_
    layers = fitted[-1]
    return sum(array.size for array in (*layers.coefs_, *layers.intercepts_))


def measure(name: str, make: Any, size: int | None, seeds: range) -> None:
    features, digits = load_digits(return_X_y=True)
    found = []
    for seed in seeds:
        seen, unseen, labels, truth = train_test_split(
            features, digits, test_size=0.2, random_state=seed, stratify=digits
        )
        estimator, start = make(size, seed), time.process_time()
        estimator.fit(seen, labels)
        seconds = time.process_time() - start
        found.append((n_parameters(estimator), 100 * estimator.score(unseen, truth), seconds))
    mean, least = np.mean(found, axis=0), np.min(found, axis=0)
    deviation = np.std(found, axis=0, ddof=1)
    print(
        f"| {name} | {mean[0]:.0f} | {mean[1]:.1f} ± {deviation[1]:.1f} | {least[1]:.1f} "
        f"| {mean[2]:.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds to run")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.seeds)
    warnings.simplefilter("ignore", ConvergenceWarning)
    growing(None, 0).set_params(max_iter=1).fit([[0.0], [1.0]], [0, 1])  # compiles
    print("| | parameters | accuracy, % | worst | seconds |")
    print("|---|---|---|---|---|")
    for budget in BUDGETS:
        asked = "by default" if budget is None else f"at most {budget}"
        measure(f"GrowingClassifier, {asked}", growing, budget, seeds)
    for width in WIDTHS:
        measure(f"MLPClassifier, {width} hidden", layered, width, seeds)


if __name__ == "__main__":
    main()
