"""smgrnn: neural networks that find their own size.

Public names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smgrnn.engine import Learner as Learner
    from smgrnn.errors import SmgrnnError as SmgrnnError
    from smgrnn.graph import Graph as Graph
    from smgrnn.graph import GraphEdit as GraphEdit
    from smgrnn.nn import SMGrNN as SMGrNN
    from smgrnn.nn import StructuralPlasticity as StructuralPlasticity
    from smgrnn.policy import Policy as Policy
    from smgrnn.runs.evaluation import evaluate as evaluate
    from smgrnn.runs.record import load as load
    from smgrnn.runs.run import Run as Run
    from smgrnn.runs.sequences import sequence as sequence
    from smgrnn.runs.start import distill as distill

__version__ = "0.3.0"

_HOMES = {
    "Graph": "graph",
    "GraphEdit": "graph",
    "Learner": "engine",
    "Policy": "policy",
    "Run": "runs.run",
    "SMGrNN": "nn",
    "SmgrnnError": "errors",
    "StructuralPlasticity": "nn",
    "distill": "runs.start",
    "evaluate": "runs.evaluation",
    "load": "runs.record",
    "sequence": "runs.sequences",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    from smgrnn.errors import needs

    if name in _HOMES:
        with needs():
            return getattr(import_module(f"smgrnn.{_HOMES[name]}"), name)
    if not name.startswith("_") and find_spec(f"smgrnn.{name}") is not None:
        with needs():
            return import_module(f"smgrnn.{name}")
    raise AttributeError(f"module 'smgrnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
