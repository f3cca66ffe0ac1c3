"""The pictures of a run: its curves and its final network."""

from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.training.run import Run


def draw_curves(run: Run, path: Path) -> None:
    """Draw return, size and agreement over the episodes."""
    from matplotlib.figure import Figure

    episodes = run.episodes
    number = np.arange(1, episodes.n + 1)
    figure = Figure(figsize=(7, 6), layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    figure.suptitle(f"{run.task.id}, {run.config.student}, seed {run.config.seed}")
    _plot(top, number, episodes.returns, "return", "#1f5fa8")
    middle.plot(number, episodes.n_nodes, color="#7f7f7f", label="nodes")
    middle.plot(number, episodes.n_edges, color="#d9822b", label="edges")
    middle.set_ylabel("size")
    middle.legend(frameon=False, loc="upper left")
    share = episodes.agreed / np.maximum(episodes.steps, 1)
    _plot(bottom, number, share, "agreement with the expert", "#2ca02c")
    bottom.set_xlabel("episode")
    for ax in (top, middle, bottom):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def _plot(ax: Any, number: Any, values: Any, label: str, colour: str) -> None:
    """Plot every episode faintly and a moving average over it."""
    ax.plot(number, values, color=colour, alpha=0.25, linewidth=0.6)
    width = max(1, min(50, values.size // 10))
    average = np.convolve(values, np.ones(width) / width, mode="valid")
    ax.plot(number[width - 1 :], average, color=colour, linewidth=1.6)
    ax.set_ylabel(label)


def draw_topology(run: Run, path: Path) -> None:
    """Draw the final network."""
    from matplotlib.figure import Figure

    from smgrnn.graph.drawing import draw

    figure = Figure(figsize=(7, 5), layout="constrained")
    ax = draw(run.graph, figure.subplots())
    ax.set_title(f"{run.task.id}: {run.graph}")
    figure.savefig(path, dpi=120)
