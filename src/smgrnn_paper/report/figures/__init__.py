"""The figures of the paper, drawn from our runs in the paper's layout."""

from smgrnn_paper.report.figures.registry import FIGURES, FigureSpec, draw, missing_runs

__all__ = ["FIGURES", "FigureSpec", "draw", "missing_runs"]
