"""Small searches to test with; worker processes import this module."""

from pathlib import Path
from typing import Any

import smgrnn_paper

SMALL: dict[str, Any] = {"rollouts": 40, "population": 10}


def evolved(out: Path | None = None, **settings: Any) -> smgrnn_paper.Evolution:
    return smgrnn_paper.evolve("CartPole-v1", out=out, **{**SMALL, **settings})
