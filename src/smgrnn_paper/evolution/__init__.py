"""Evolution: NEAT and NDP on the budget of a distillation."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smgrnn_paper.evolution.config import EvolutionConfig
    from smgrnn_paper.evolution.evolution import Evolution, EvolutionCondition, evolve

__all__ = ["Evolution", "EvolutionCondition", "EvolutionConfig", "evolve"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # a command's flags need the settings alone, not what it imports
        from smgrnn_paper.evolution import evolution

        return getattr(evolution, name)
    raise AttributeError(f"module 'smgrnn_paper.evolution' has no attribute {name!r}")
