"""Learning from examples without an environment: XOR, or recordings of an expert.

An episode is one round through the examples in random order.  Its return is, for XOR, how many of
the four were answered right; for recorded choices, the share that was answered as recorded; for
recorded continuous actions, minus the mean squared error, on a scale where their bounds are ±1.
"""

from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine import Learner
from smgrnn.episodes.backends import Backend, input_scale
from smgrnn.episodes.table import Episodes
from smgrnn.experts import Teacher
from smgrnn.policy import Normalisation, Policy, scale_target, widen
from smgrnn.seeding import stream
from smgrnn.tasks import Task
from smgrnn.tasks.recording import Recording, read_recording

RIGHT = 0.25
"""An answer to XOR is right below this squared error: nearer to it than to its opposite."""


class Examples(NamedTuple):
    """Examples to learn from, to compare checkpoints by, and to judge by."""

    train: Recording
    compared: Recording
    held_out: Recording
    digest: str
    """Digest of the whole recording, empty for XOR; a run is never resumed with another."""


def find_examples(task: Task, seed: int) -> Examples:
    """Return the examples of a task; those of a recording are drawn by the seed."""
    if task.facts.examples is not None:
        inputs, targets = task.facts.examples
        known = Recording(inputs, targets, np.arange(len(targets)))
        return Examples(known, known, known, "")
    assert task.recording is not None
    recording = read_recording(Path(task.recording))
    return Examples(*recording.split(stream(seed, "task")), recording.digest)


class ExamplesBackend(Backend):
    """Rounds through examples, whose labels take the place of a teacher."""

    chunk = 1

    def __init__(
        self,
        task: Task,
        examples: Examples,
        normalisation: Normalisation | None = None,
        gain: float = 1.0,
        bar: float = nan,
    ) -> None:
        self._task, self._examples, self._normalisation = task, examples, normalisation
        self._gain, self._bar = gain, bar

    def distil(
        self,
        learner: Learner,
        expert: Teacher | None,
        seeds: list[int],
        progress: Floats,
        first: int = 0,
    ) -> Episodes:
        """Train on one round per seed, each at some share of the run, counted from `first`."""
        episodes = Episodes.start(len(seeds))
        questions, n_inputs = self._examples.train, learner.config.n_inputs
        rows = widen(questions.observations, n_inputs, self._normalisation)
        rows *= input_scale(n_inputs, self._task.n_inputs, self._gain)
        labels = self._labels(questions)
        n = len(labels)
        is_last = np.arange(1, n + 1) == n
        learner.learn_stream(rows[:0], labels[:0])  # compiles, even for no round at all
        for number, seed in enumerate(seeds):
            learner.progress = progress[number]
            order = np.random.default_rng(seed).permutation(n)
            actions, losses = learner.learn_stream(rows[order], labels[order], is_last)
            self._note(episodes, number, self._is_right(actions, labels[order], losses), losses)
            learner.say_return(episodes.returns[number], self._bar)
            episodes.n_nodes[number] = learner.graph.n_nodes
            episodes.n_edges[number] = learner.graph.n_edges
        return episodes

    def play(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Answer all held-out examples, once for all seeds."""
        return self._answer(policy, self._examples.held_out, len(seeds))

    def compare(self, policy: Policy, seeds: list[int]) -> Episodes:
        """Answer the examples that checkpoints are compared by, once for all seeds."""
        return self._answer(policy, self._examples.compared, len(seeds))

    def _answer(self, policy: Policy, questions: Recording, n: int) -> Episodes:
        policy.reset()  # each row of a batch starts from zero states
        given, labels = policy.answer(questions.observations), self._labels(questions)
        policy.reset()
        losses = np.zeros(len(given)) if self._task.is_discrete else _errors(given, labels)
        episodes = Episodes.start(n)
        episodes.n_nodes[:], episodes.n_edges[:] = policy.graph.n_nodes, policy.graph.n_edges
        self._note(episodes, slice(None), self._is_right(given, labels, losses), losses)
        return episodes

    def _labels(self, questions: Recording) -> Any:
        """Return the answers that the network should give."""
        actions = questions.actions
        return actions if self._task.is_discrete else scale_target(self._task, actions)

    def _is_right(self, answers: Any, labels: Any, losses: Floats) -> Any:
        if self._task.is_discrete:
            return answers == labels
        return (losses < RIGHT) & self._task.has_agreement

    def _note(self, episodes: Episodes, place: Any, is_right: Any, losses: Floats) -> None:
        """Record a round: its length and how well it went."""
        episodes.steps[place], episodes.loss[place] = len(losses), losses.sum()
        episodes.agreed[place] = n_right = np.count_nonzero(is_right)
        if self._task.recording is None:
            episodes.returns[place] = n_right
        elif self._task.is_discrete:
            episodes.returns[place] = n_right / len(losses)
        else:
            episodes.returns[place] = -losses.mean()


def _errors(answers: Any, targets: Any) -> Floats:
    """Return the mean squared error of each answer."""
    return np.asarray(np.mean((answers - targets) ** 2, axis=1))
