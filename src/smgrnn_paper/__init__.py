"""The reproduction of the paper: its experiments, rivals, statistics and report."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smgrnn_paper.evolution import Evolution, EvolutionConfig, evolve

__all__ = ["Evolution", "EvolutionConfig", "evolve"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("smgrnn_paper.evolution"), name)
    raise AttributeError(f"module 'smgrnn_paper' has no attribute {name!r}")
