"""The figures of the paper, drawn from our runs in the paper's layout."""

import smgrnn.plotting  # noqa: F401  (first: the figures import matplotlib)
from smgrnn_paper.report.figures.registry import FIGURES, FigureSpec, draw, missing_runs

__all__ = ["FIGURES", "FigureSpec", "draw", "missing_runs"]
