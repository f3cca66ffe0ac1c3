"""Export: a finished network as ONNX, C99, GraphML or JSON, to run or look at without smgrnn."""

from smgrnn.export.controller import Controller
from smgrnn.export.formats import FORMATS, export_policy

__all__ = ["FORMATS", "Controller", "export_policy"]
