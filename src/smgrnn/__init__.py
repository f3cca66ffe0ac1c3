"""smgrnn: neural networks that find their own size.

Public names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smgrnn.config import (
        LearningConfig,
        NetworkConfig,
        PlasticityConfig,
        RunConfig,
    )
    from smgrnn.engine import Learner
    from smgrnn.errors import GrowthLimitWarning, SmgrnnError
    from smgrnn.graph import EditDraft, Graph, GraphEdit
    from smgrnn.nn import SMGrNN, StructuralPlasticity
    from smgrnn.policy import Policy
    from smgrnn.rules import UpdateHistory
    from smgrnn.runs import (
        Plan,
        Record,
        Run,
        Sequence,
        distill,
        evaluate,
        load,
        sequence,
    )

__version__ = "0.3.0"

_HOMES = {
    "EditDraft": "graph",
    "Graph": "graph",
    "GraphEdit": "graph",
    "GrowthLimitWarning": "errors",
    "Learner": "engine",
    "Plan": "runs",
    "Policy": "policy",
    "Record": "runs",
    "Run": "runs",
    "RunConfig": "config",
    "Sequence": "runs",
    "distill": "runs",
    "evaluate": "runs",
    "load": "runs",
    "sequence": "runs",
    "LearningConfig": "config",
    "NetworkConfig": "config",
    "PlasticityConfig": "config",
    "SMGrNN": "nn",
    "SmgrnnError": "errors",
    "StructuralPlasticity": "nn",
    "UpdateHistory": "rules",
}

__all__ = [
    "EditDraft",
    "Graph",
    "GraphEdit",
    "GrowthLimitWarning",
    "Learner",
    "LearningConfig",
    "NetworkConfig",
    "Plan",
    "PlasticityConfig",
    "Policy",
    "Record",
    "Run",
    "RunConfig",
    "SMGrNN",
    "Sequence",
    "SmgrnnError",
    "StructuralPlasticity",
    "UpdateHistory",
    "distill",
    "evaluate",
    "load",
    "sequence",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_load(_HOMES[name]), name)
    if name in _HOMES.values():
        return _load(name)
    raise AttributeError(f"module 'smgrnn' has no attribute {name!r}")


def _load(home: str) -> Any:
    from smgrnn.errors import needs

    with needs():
        return import_module(f"smgrnn.{home}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
