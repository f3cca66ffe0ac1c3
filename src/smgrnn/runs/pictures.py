"""The pictures of a run: its curves and the network that it hands over."""

from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.episodes.table import Episodes
from smgrnn.runs.record import Record

RETURN, NODES, EDGES, LIKENESS = "#1f5fa8", "#7f7f7f", "#d9822b", "#2ca02c"
"""Colours of the curves."""


def draw_curves(record: Record, path: Path) -> None:
    """Draw return and size over the episodes, and how close the student came to its teacher."""
    from matplotlib.figure import Figure

    episodes = record.episodes
    number = np.arange(1, episodes.n + 1)
    likeness = find_likeness(episodes)
    n_panels = 2 if likeness is None else 3
    figure = Figure(figsize=(7, 2 * n_panels), layout="constrained")
    panels = figure.subplots(n_panels, 1, sharex=True)
    plan = record.plan
    figure.suptitle(f"{plan.task.id}, {plan.student}, seed {plan.seed}")
    _plot(panels[0], number, episodes.returns, "return", RETURN)
    panels[1].plot(number, episodes.n_nodes, color=NODES, label="nodes")
    panels[1].plot(number, episodes.n_edges, color=EDGES, label="edges")
    panels[1].set_ylabel("size")
    panels[1].legend(frameon=False, loc="upper left")
    if likeness is not None:
        _plot(panels[2], number, *likeness, LIKENESS)
    panels[-1].set_xlabel("episode")
    for ax in panels:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def find_likeness(episodes: Episodes) -> tuple[Floats, str] | None:
    """Return the agreement with the teacher, or the loss where there is none, or None for neither.

    Actions that are vectors never agree exactly, and an evolution has no teacher.
    """
    steps = np.maximum(episodes.steps, 1)
    if episodes.agreed.any():
        return episodes.agreed / steps, "agreement with the expert"
    return (episodes.loss / steps, "loss") if episodes.loss.any() else None


def _plot(ax: Any, number: Any, values: Any, label: str, colour: str) -> None:
    """Plot every episode faintly and a moving average over it."""
    ax.plot(number, values, color=colour, alpha=0.25, linewidth=0.6)
    average = moving_average(values)
    ax.plot(number[-average.size :], average, color=colour, linewidth=1.6)
    ax.set_ylabel(label)


def moving_average(values: Floats) -> Floats:
    """Return means over up to 50 episodes; the last one is at the last episode."""
    width = max(1, min(50, values.size // 10))
    return np.convolve(values, np.ones(width) / width, mode="valid")


def draw_topology(record: Record, path: Path) -> None:
    """Draw the network that is handed over."""
    from matplotlib.figure import Figure

    from smgrnn.graph.drawing import draw

    figure = Figure(figsize=(7, 5), layout="constrained")
    graph = record.handed_over.policy.graph
    ax = draw(graph, figure.subplots())
    ax.set_title(f"{record.plan.task.id}: {graph}")
    figure.savefig(path, dpi=120)
