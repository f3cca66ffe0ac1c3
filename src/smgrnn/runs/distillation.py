"""Distillation: a growing student learns from a frozen expert while it acts.  Paper: Sec. III-E."""

from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.engine import Learner
from smgrnn.episodes.backends import (
    Actor,
    Backend,
    Beside,
    CompiledBackend,
    Examples,
    ExamplesBackend,
    GymnasiumBackend,
    Judged,
    normalisation_by,
)
from smgrnn.episodes.table import Episodes
from smgrnn.errors import ConfigError, FileFormatError, reason
from smgrnn.experts import Expert, ExpertSource, Teacher, find_teacher_again
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph
from smgrnn.policy import Normalisation, Policy
from smgrnn.rules.settings import ForeignRule
from smgrnn.runs.metrics import Comparison
from smgrnn.runs.plan import Plan
from smgrnn.runs.record import Record
from smgrnn.seeding import Purpose, episode_seeds
from smgrnn.tasks import Task, TaskSource, find_again

N_COMPARED = 10  # held-out episodes that score a checkpoint
FIRST_COMPARED = 1_000_000  # apart from those of the final evaluation

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
    """Return the student of a run before its first episode."""
    graph = plan.make_graph()
    settings: Any = {"learning": plan.learning, "plasticity": plan.plasticity, "seed": plan.seed}
    made = Learner(**vars(plan.network), **settings, graph=graph)
    if plan.protect > 0.0:
        made.protect(plan.protect)
    return made


class Distillation:
    """The student of a run, with the task, the teacher and the backend of the episodes.

    With a record it continues that run; task and expert are needed if they are your own code.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        task: TaskSource | Task | None = None,
        expert: ExpertSource | Teacher | None = None,
        record: Record | None = None,
    ) -> None:
        self.plan = plan
        self._task, self._expert, self._record = task, expert, record

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
        """The student that learns, in the state that its record has."""
        if self._record is None:
            return new_learner(self.plan)
        if self._record.resume is None:
            raise ConfigError("This record has results only, as in the store: it cannot continue.")
        for rule in (self.plan.plasticity.growth, self.plan.plasticity.pruning):
            if isinstance(rule, ForeignRule):
                raise ConfigError(
                    f"The run was trained by the rule {rule['name']!r}, which is your own code. "
                    f"Call smgrnn.distill again with the same settings and the same `out`."
                )
        try:
            made = new_learner(self.plan)
            made.restore(self._record.resume)
        except Exception as error:  # the file may be forged
            raise FileFormatError(f"The record has no valid learner ({reason(error)}).") from error
        return made

    @cached_property
    def examples(self) -> Examples | None:
        """The examples to learn from where there is no environment."""
        if not self.task.is_supervised:
            return None
        found = Examples.of(self.task, self.plan.seed)
        if found.digest != self.plan.teacher.digest:
            raise ConfigError(f"{self.task.recording} has changed since the run began.")
        return found

    @cached_property
    def normalisation(self) -> Normalisation | None:
        """The normalisation of observations, if the plan asks for it."""
        if not self.plan.normalise:
            return None
        if self._record is not None:
            return self._record.students["final"].normalisation
        if self.plan.ancestor is not None:
            return self.plan.ancestor.normalisation
        if self.examples is not None:
            return Normalisation.of(self.examples.train.observations)
        assert self.teacher is not None
        return normalisation_by(self.teacher, self.task, self.plan.seed)

    @cached_property
    def backend(self) -> Backend:
        """The backend of the episodes."""
        target = self.plan.target_return
        target_return = nan if target is None else target
        aims: Any = {"gain": self.plan.gain, "target_return": target_return}
        if self.examples is not None:
            return ExamplesBackend(self.task, self.examples, self.normalisation, **aims)
        if self.plan.backend == "gymnasium":
            return GymnasiumBackend(self.task, self.normalisation, **aims)
        if self.task.facts.code is None:
            raise ConfigError(f"The task {self.task.id} is not compiled.")
        return CompiledBackend(self.task, **aims)

    @property
    def environment(self) -> GymnasiumBackend:
        """The backend that plays in Python, where a policy can be watched."""
        backend = self.backend
        return backend if isinstance(backend, GymnasiumBackend) else GymnasiumBackend(self.task)

    @property
    def policy(self) -> Policy:
        """The student now, as a policy."""
        return self._policy(self.learner.graph)

    @property
    def candidates(self) -> list[Policy]:
        """The policies that may be selected now: the student, and the one with mean weights."""
        graphs, limit = [self.learner.graph], self.plan.max_parameters
        if self.plan.learning.averaging > 0.0:
            graphs.append(self.learner.averaged_graph)
        return [self._policy(each) for each in graphs if limit is None or each.n_edges <= limit]

    def _policy(self, graph: Graph) -> Policy:
        """Return a graph as a policy, with the gain folded into its weights."""
        return Policy(
            graph._replace(weight=graph.weight * self.plan.gains(graph.source)),
            self.plan.network,
            self.plan.task,
            student=self.plan.student,
            normalisation=self.normalisation,
            names=self.plan.names,
        )

    def train(self, first: int, last: int) -> Episodes:
        """Train on the episodes first … last - 1 and return their table."""
        seeds = episode_seeds(self.plan.seed, first, last, "train")
        progress = np.arange(first, last) / self.plan.n_episodes
        return self.backend.distil(self.learner, self.teacher, seeds, progress, first)

    def take_edits(self) -> Edits:
        """Return the edits since the last call, and forget them."""
        edits = self.learner.forget_log().columns
        return edits._replace(weight=edits.weight * self.plan.gains(edits.rows[:, 3]))

    def try_out(
        self, policy: Policy, first: int, last: int, purpose: Purpose = "choosing"
    ) -> tuple[Floats, int]:
        """Return a policy's scores in the episodes first … last - 1 of a purpose, and its steps.

        The scores are its returns, or how faithful it is to the expert if that is what is selected.
        """
        seeds = episode_seeds(self.plan.seed, first, last, purpose)
        if self.plan.select == "faithful":
            judged = self._judge(policy, seeds)
            return judged.scores, int(judged.episodes.steps.sum())
        played = self.backend.compare(policy, seeds)
        return played.returns, int(played.steps.sum())

    def _judge(self, policy: Policy, seeds: list[int], actor: Actor = "student") -> Judged:
        beside = Beside(self.teacher, self.plan.learning.loss, actor)
        return self.backend.judge(policy, seeds, beside)

    def compare(self, policy: Policy) -> Comparison:
        """Compare the selected network with its expert on the held-out episodes."""
        seeds = episode_seeds(self.plan.seed, 0, self.plan.held_out, "held_out")
        found: dict[str, Any] = self._judge(policy, seeds).likeness
        if isinstance(self.teacher, Expert):
            found["expert_parameters"] = self.teacher.parameters.size
        if self.teacher is not None:
            actors: dict[str, Actor] = {"expert_return": "expert", "random_return": "chance"}
            for name, actor in actors.items():
                found[name] = float(self._judge(policy, seeds, actor).episodes.returns.mean())
        return Comparison(**found)
