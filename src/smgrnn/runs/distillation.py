"""Distillation: a growing student learns from a frozen expert while it acts.  Paper: Sec. III-E."""

from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine import Learner
from smgrnn.episodes.backends import (
    Backend,
    CompiledBackend,
    Examples,
    ExamplesBackend,
    GymnasiumBackend,
    normalisation_by,
)
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import ConfigError
from smgrnn.experts import ExpertSource, Teacher, find_teacher_again
from smgrnn.experts.evaluation import evaluate_expert
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.runs.plan import Plan
from smgrnn.runs.shrink import progress_of
from smgrnn.seeding import episode_seed
from smgrnn.tasks import Task, TaskSource, find_again

N_MEASURED = 100  # episodes by which an expert and a random policy are measured
N_COMPARED = 10  # held-out episodes that score a checkpoint
FIRST_COMPARED = 1_000_000  # numbered apart from those of the final evaluation


STUDENTS = {
    "smgrnn": "grows and prunes while it learns",
    "static": "the same initial graph, kept as it is",
    "growth-only": "grows and never prunes",
    "mlp-100": "one hidden layer, with as many parameters as the growing network takes",
    "mlp-200": "one hidden layer, with twice as many",
    "mlp-pruned": "one hidden layer, pruned to the parameters that are asked for",
}
"""The students of a distillation by name."""


def new_learner(plan: Plan) -> Learner:
    """Return the student of a run before its first episode; its settings are the plan's."""
    graph = plan.make_graph()
    made = Learner(plan.network, plan.learning, plan.plasticity, graph=graph, seed=plan.seed)
    if plan.protect > 0.0:
        made.protect(plan.protect)
    return made


class Distillation:
    """A run in progress: the task, the teacher, the student and the backend of the episodes.

    Parameters
    ----------
    plan
        The settings.
    task
        The task, or where to find it; a task that is code of the user's own must be given.
    expert
        The teacher, or where to find it; one that is code must be given.
    normalisation
        Statistics of an earlier part of the run, to use instead of taking new ones.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        task: TaskSource | Task | None = None,
        expert: ExpertSource | Teacher | None = None,
        normalisation: Normalisation | None = None,
    ) -> None:
        self.plan = plan
        self._task, self._expert, self._normalisation = task, expert, normalisation

    @cached_property
    def task(self) -> Task:
        """The task with its environment, which only playing needs."""
        return find_again(self.plan.task, self._task)

    @cached_property
    def teacher(self) -> Teacher | None:
        """The teacher, which only training needs; None for examples, which have labels."""
        return find_teacher_again(self.plan.teacher, self.task, self._expert)

    @cached_property
    def learner(self) -> Learner:
        """The student."""
        return new_learner(self.plan)

    @cached_property
    def examples(self) -> Examples | None:
        """The examples to learn from where there is no environment."""
        if not self.task.is_supervised:
            return None
        found = Examples.of(self.task, self.plan.seed)
        if found.digest != self.plan.teacher.digest:
            raise ConfigError(f"{self.task.recording} is not what it was when the run began.")
        return found

    @cached_property
    def normalisation(self) -> Normalisation | None:
        """The normalisation of the student's observations, if there is one."""
        if not self.plan.normalise or self._normalisation is not None:
            return self._normalisation
        if self.plan.ancestor is not None:
            return self.plan.ancestor.normalisation
        if self.examples is not None:
            return Normalisation.of(self.examples.train.observations)
        assert self.teacher is not None
        return normalisation_by(self.teacher, self.task, self.plan.seed)

    @cached_property
    def backend(self) -> Backend:
        """The backend on which episodes happen."""
        kind, target_return = self.plan.backend, self.target_return
        aims: Any = {
            "gain": self.plan.gain,
            "target_return": nan if target_return is None else target_return,
        }
        if kind == "compiled":
            if self.task.compiled is None:
                raise ConfigError(f"The task {self.task.id} is not compiled.")
            return CompiledBackend(self.task, **aims)
        if kind == "gymnasium":
            return GymnasiumBackend(self.task, self.normalisation, **aims)
        if self.examples is None:
            raise ConfigError(f"The task {self.task.id} has no examples.")
        return ExamplesBackend(self.task, self.examples, self.normalisation, **aims)

    @cached_property
    def target_return(self) -> float | None:
        """The mean return at which nothing grows any more, which a share to keep sets."""
        if self.plan.keep is None:
            return self.plan.target_return
        assert self.teacher is not None
        taught = evaluate_expert(self.teacher, self.task, N_MEASURED, "choosing").mean()
        chance = evaluate_expert(
            self.teacher, self.task, N_MEASURED, "choosing", disturbance=1.0
        ).mean()
        return float(chance + self.plan.keep * (taught - chance))

    @property
    def policy(self) -> Policy:
        """The student as it is now, to play with."""
        return self._policy(self.learner.graph)

    @property
    def averaged_policy(self) -> Policy | None:
        """The student with the running mean of its weights, if the run keeps one."""
        is_kept = self.plan.learning.averaging > 0.0
        return self._policy(self.learner.averaged_graph) if is_kept else None

    def _policy(self, graph: Graph) -> Policy:
        """Return a network to play with, which takes observations as they are."""
        n_inputs = self.plan.task.n_inputs
        gain = np.where(graph.source < n_inputs, self.plan.gain, 1.0)
        return Policy(
            graph._replace(weight=graph.weight * gain),
            self.plan.network,
            self.plan.task,
            student=self.plan.student,
            normalisation=self.normalisation,
        )

    @property
    def candidates(self) -> list[Policy]:
        """The students of this moment that may be handed over: with mean weights, and as it is."""
        limit, averaged = self.plan.parameters, self.averaged_policy
        found = [self.policy] if averaged is None else [self.policy, averaged]
        return [each for each in found if limit is None or each.graph.n_edges <= limit]

    def train(self, first: int, last: int) -> Episodes:
        """Train on the episodes first … last - 1 and return their record."""
        seeds = [episode_seed(self.plan.seed, number, "train") for number in range(first, last)]
        number, is_staged = self.plan.n_episodes, self.plan.keep is not None
        progress = np.arange(first, last) / number
        if is_staged:
            progress = np.array([progress_of(episode, number) for episode in range(first, last)])
        learner = self.learner
        return self.backend.distil(learner, self.teacher, seeds, progress, first)

    def take_edits(self) -> Edits:
        """Return the edits since the last call, and forget them."""
        edits = Edits.of(self.learner.forget_log())
        is_scaled = (edits.rows[:, 3] >= 0) & (edits.rows[:, 3] < self.plan.task.n_inputs)
        gain = np.where(is_scaled, self.plan.gain, 1.0)
        return edits._replace(weight=edits.weight * gain)

    def compare(self, policy: Policy) -> float:
        """Return the score of a checkpoint, to compare it with others."""
        seeds = held_out_seeds(self.plan.seed, FIRST_COMPARED, FIRST_COMPARED + N_COMPARED)
        return float(self.backend.compare(policy, seeds).returns.mean())

    def try_out(self, policy: Policy, first: int, last: int) -> Floats:
        """Return the returns of a policy in episodes first … last - 1 of those to choose by."""
        seeds = [episode_seed(self.plan.seed, number, "choosing") for number in range(first, last)]
        return self.backend.compare(policy, seeds).returns


def held_out_seeds(seed: int, first: int, last: int) -> list[int]:
    """Return the reset seeds of the held-out episodes first … last - 1."""
    return [episode_seed(seed, number, "held_out") for number in range(first, last)]
