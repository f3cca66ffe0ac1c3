"""Curves of a run for TensorBoard, for those who have it installed."""

from pathlib import Path
from typing import Any

from smgrnn.errors import needs
from smgrnn.runs.run import Run


class TensorBoard:
    """Writes one scalar per episode and quantity, from episode `first` on: give it as a watch."""

    def __init__(self, folder: Path, first: int = 0) -> None:
        with needs("Logging"):
            from tensorboard.summary import Writer
        self._writer: Any = Writer(str(folder))
        self._n_written = first

    def __call__(self, run: Run) -> None:
        """Write the episodes that are new since the last call."""
        episodes = run.episodes
        for place in range(self._n_written, episodes.n):
            figures = {
                "return": episodes.returns[place],
                "agreement": episodes.agreed[place] / max(episodes.steps[place], 1),
                "loss": episodes.loss[place] / max(episodes.steps[place], 1),
                "nodes": episodes.n_nodes[place],
                "edges": episodes.n_edges[place],
            }
            for name, value in figures.items():
                self._writer.add_scalar(name, float(value), place + 1)
        self._n_written = episodes.n
        self._writer.flush()
