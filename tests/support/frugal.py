"""Settings and a stream for rules that look at more than the updates of edges."""

from typing import Any

import numpy as np

from smgrnn import PlasticityConfig
from support.flat import rules
from support.learners import Stream


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
