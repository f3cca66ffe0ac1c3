"""smgrnn: neural networks that find their own size.

Public names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smgrnn.config import LearningConfig, NetworkConfig, PlasticityConfig, RunConfig
    from smgrnn.engine import Learner
    from smgrnn.errors import GrowthLimitWarning, SmgrnnError
    from smgrnn.graph import EditDraft, Graph, GraphEdit
    from smgrnn.nn import SMGrNN, StructuralPlasticity
    from smgrnn.policy import Policy
    from smgrnn.rules import UpdateHistory
    from smgrnn.runs.evaluation import evaluate
    from smgrnn.runs.plan import Plan
    from smgrnn.runs.record import Record, load
    from smgrnn.runs.run import Run, distill
    from smgrnn.runs.sequences import Sequence, sequence

__version__ = "0.3.0"

_HOMES = {
    "config": ("LearningConfig", "NetworkConfig", "PlasticityConfig", "RunConfig"),
    "engine": ("Learner",),
    "errors": ("GrowthLimitWarning", "SmgrnnError"),
    "graph": ("EditDraft", "Graph", "GraphEdit"),
    "nn": ("SMGrNN", "StructuralPlasticity"),
    "policy": ("Policy",),
    "rules": ("UpdateHistory",),
    "runs.evaluation": ("evaluate",),
    "runs.plan": ("Plan",),
    "runs.record": ("Record", "load"),
    "runs.run": ("Run", "distill"),
    "runs.sequences": ("Sequence", "sequence"),
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
    from smgrnn.errors import needs

    for home, names in _HOMES.items():
        if name == home or name in names:
            with needs():
                module = import_module(f"smgrnn.{home}")
            return module if name == home else getattr(module, name)
    raise AttributeError(f"module 'smgrnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
