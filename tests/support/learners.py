"""Compiled learners to test with, and a stream for them to learn."""

from typing import Any, NamedTuple

import numpy as np

from smgrnn import Learner, LearningConfig, NetworkConfig
from smgrnn.arrays import Bools, Floats, Ints
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
    config = NetworkConfig(**{**sizes, **defaults, **settings})
    return Learner(config, learning, plasticity, seed=seed)


def memory(made: Learner) -> dict[str, bytes]:
    """Return all that decides how a learner goes on, bit by bit."""
    arrays = made.arrays()
    arrays["trace"] = arrays["trace"][-1, made.config.n_inputs :]  # the rest is written before read
    return {name: array.tobytes() for name, array in arrays.items()}
