"""Compiled learners to test with, and a stream for them to learn."""

from typing import Any, NamedTuple

import numpy as np

from smgrnn import Learner
from smgrnn.arrays import Bools, Floats, Ints
from smgrnn.config import LearningConfig, PlasticityConfig
from support.flat import learner_of, network_config, rules
from support.training import BUSY

N_INPUTS, N_OUTPUTS = 3, 2


class Stream(NamedTuple):
    observations: Floats
    labels: Ints
    is_last: Bools

    def rows(self, first: int, last: int) -> "Stream":
        part = slice(first, last)
        return Stream(self.observations[part], self.labels[part], self.is_last[part])


def stream(n: int, seed: int = 0) -> Stream:
    """Random observations, labelled by whether the first two have one sign; episodes of 7."""
    observations = np.random.default_rng(seed).normal(size=(n, N_INPUTS))
    labels = (observations[:, 0] * observations[:, 1] > 0).astype(np.int64)
    return Stream(observations, labels, np.arange(1, n + 1) % 7 == 0)


def learner(seed: int = 0, learning: LearningConfig | None = None, **settings: Any) -> Learner:
    """Return a learner that edits often and in every way; `settings` are those of its network."""
    plasticity = settings.pop("plasticity", BUSY)
    defaults: dict[str, Any] = {"n_hidden": 3, "density": 0.6, "weight_std": 0.5, "iterations": 2}
    sizes = {"n_inputs": N_INPUTS, "n_outputs": N_OUTPUTS}
    config = network_config(**{**sizes, **defaults, **settings})
    return learner_of(config, learning, plasticity, seed=seed)


def memory(made: Learner) -> dict[str, bytes]:
    """Return all that decides how a learner goes on, bit by bit."""
    arrays = made.arrays()
    arrays["trace"] = arrays["trace"][-1, made.config.n_inputs :]  # the rest is written before read
    return {name: array.tobytes() for name, array in arrays.items()}


# --- for rules that look at more than the updates of edges ---------------------------------------


def lessons(n: int, seed: int) -> Stream:
    """Smooth observations and a constant input, labelled by a teacher that multiplies two."""
    rng = np.random.default_rng(seed)
    seen = np.sin(0.3 * np.cumsum(rng.normal(size=(n, 3)), axis=0))
    labels = np.argmax(np.stack([seen[:, 0] * seen[:, 1], 0.3 * seen[:, 2], -seen[:, 1]]), axis=0)
    observations = np.concatenate([seen, np.ones((n, 1))], axis=1)
    return Stream(observations, labels, np.arange(1, n + 1) % 40 == 0)


def rules_of(**changes: Any) -> PlasticityConfig:
    """Growth by candidates and gradients with few candidates, and pruning by contribution."""
    usual: dict[str, Any] = {
        "growth": "frugal",
        "pruning": "contribution",
        "interval": 125,
        "prune_period": 3,
    }
    if changes.get("growth") not in ("gradient", "none"):
        usual |= {"n_candidates": 5, "candidate_sources": 2}
    return rules(**(usual | changes))
