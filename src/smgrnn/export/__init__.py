"""Export: a finished network as ONNX, C99, GraphML or JSON, to run or look at without smgrnn."""

from smgrnn.export.formats import FORMATS, export_policy

__all__ = ["FORMATS", "export_policy"]
