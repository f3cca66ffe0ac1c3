"""A finished student as a policy for any Gymnasium loop."""

from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.config import NetworkConfig
from smgrnn.engine import Learner
from smgrnn.errors import ShapeError
from smgrnn.graph.state import Graph
from smgrnn.tasks import Task
from smgrnn.episodes.backends import scale_action, widen
from smgrnn.runs.folder import load_progress, restore_learner
from smgrnn.episodes.normalisation import Normalisation
from smgrnn.runs.students import new_learner


class Policy:
    """Maps observations to actions; call `reset` at the start of each episode.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="a-run")
    >>> policy = smgrnn.load("a-run")
    >>> policy.reset()
    >>> policy([0.0, 0.1, -0.02, 0.3]) in (0, 1)
    True
    """

    def __init__(
        self,
        learner: Learner,
        task: Task,
        student: str = "",
        normalisation: Normalisation | None = None,
    ) -> None:
        self._learner = learner
        self.task = task
        self.student = student
        """The kind of student it was, if that is known."""
        self.normalisation = normalisation
        """What it normalises observations by, which it takes as the task gives them."""

    @property
    def graph(self) -> Graph:
        """The network behind the policy."""
        return self._learner.graph

    @property
    def config(self) -> NetworkConfig:
        """What the network is."""
        return self._learner.config

    def __call__(self, observation: Any) -> Any:
        """Return the action: a number, or an array within the task's bounds."""
        n, shape = self.task.n_inputs, np.shape(observation)
        if shape != (n,):
            raise ShapeError(f"Expected an observation of {n} numbers. Got shape {shape} instead.")
        row = widen(observation, self._learner.config.n_inputs, self.normalisation)
        return scale_action(self.task, self._learner.act(row))

    def reset(self) -> None:
        """Set the node states to zero."""
        self._learner.end_episode()


def load(folder: str | Path, *, best: bool = False) -> Policy:
    """Return the policy that a run ended with, or with `best` the one that scored best.

    It needs neither the task's environment nor its expert.

    Parameters
    ----------
    folder
        A run folder, as `distill`, `evolve` or the command line left it.
    best
        Take the checkpoint that scored best instead of the final student.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=5, held_out=1, out="another-run")
    >>> smgrnn.load("another-run").graph == run.graph
    True
    """
    task, config, progress = load_progress(Path(folder))
    learner = new_learner(config, task, progress.best if best else None)
    if not best:
        restore_learner(learner, progress, Path(folder))
    network = Learner.from_network(learner, learner.learning)
    return Policy(network, task, config.student, progress.normalisation)
