"""Run: a distillation from its first episode to its summary."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import Objective
from smgrnn.episodes.table import Episodes, Snapshots
from smgrnn.errors import ConfigError
from smgrnn.experts import ExpertSource, Teacher
from smgrnn.experts.evaluation import expert_and_chance
from smgrnn.graph.drawing import network_html
from smgrnn.graph.log import Edits
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.policy import Policy
from smgrnn.runs.checkpoints import (
    FIRST_ROUND,
    Checkpoint,
    Checkpoints,
    halved,
    in_proportion,
    joined,
    offers,
)
from smgrnn.runs.distillation import FIRST_COMPARED, N_COMPARED, Distillation
from smgrnn.runs.evaluation import score
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.metrics import Comparison
from smgrnn.runs.plan import Plan, check_polish
from smgrnn.runs.polish import Polish, playing, ranking
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import Spent
from smgrnn.runs.session import Session, Watch
from smgrnn.runs.smallest import FIRST_JUDGED, JUDGED, Search
from smgrnn.runs.stage_scores import FIRST_STAGE, NO_SCORES, first_scores, score_on_tasks
from smgrnn.runs.words import one_line
from smgrnn.tasks import Task, TaskSource


class Run(Session[Plan]):
    """A distillation run, in progress or finished; `smgrnn.distill` returns one.

    Parameters
    ----------
    plan
        All settings, as `plan_run` or a record gives them.
    folder
        Folder to keep it in; None keeps nothing until `save`.
    task
        The task, or where to find it; needed if it is your own code.
    expert
        The teacher, or where to find it; needed if it is your own code.
    record
        The record of the run so far, if it has begun.
    stage_scores
        Scores of the stages before, for a stage of a sequence.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("xor", episodes=20, seed=0)
    >>> run.episodes.n, run.summary()["task"]
    (20, 'xor')
    >>> run.score(3).shape  # returns on held-out episodes
    (3,)
    >>> run.save("a-run")
    >>> smgrnn.Run.resume("a-run").graph == run.graph
    True
    """

    plan_kind = Plan

    def __init__(
        self,
        plan: Plan,
        folder: str | Path | RunFolder | None = None,
        *,
        task: TaskSource | Task | None = None,
        expert: ExpertSource | Teacher | None = None,
        record: Record | None = None,
        stage_scores: Floats = NO_SCORES,
    ) -> None:
        super().__init__(plan, folder, record)
        self._stage_scores = stage_scores
        search = None if record is None else record.search
        if record is None and plan.keep is not None:
            search = Search.start(plan.keep, 0.0, 0.0)  # the first size depends on neither
        if search is not None:
            plan = search.plan(plan)
        self._distillation = Distillation(plan, task=task, expert=expert, record=record)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        task: TaskSource | None = None,
        expert: ExpertSource | None = None,
    ) -> Self:
        """Return a run that continues from its last checkpoint; repeat your own code.

        >>> import smgrnn
        >>> run = smgrnn.distill("xor", episodes=3, out="stopped")
        >>> Run.resume("stopped").train().episodes.n
        3
        """
        run = cls._open(path, task=task, expert=expert)
        _ = run._distillation.learner, run._distillation.task  # a wrong one is refused at once
        return run

    def __repr__(self) -> str:
        plan, n_done = self.plan, 0 if self._record is None else self._record.episodes.n
        whose = f"{plan.task.id}, {plan.student}, seed {plan.seed}"
        return f"Run({whose}, {n_done} of {plan.n_episodes} episodes)"

    def __str__(self) -> str:
        if not self.held_out.size:
            return repr(self)
        return "\n".join([one_line(self.summary()), *self.notes])

    def _repr_html_(self) -> str:
        return network_html(f"{self}: {self.graph}", self.graph, self.policy.config.bias)

    @property
    def task(self) -> Task:
        """The facts about the task."""
        return self.plan.task

    @property
    def teacher(self) -> Teacher | None:
        """The expert that the student learns from; None where a task consists of examples."""
        return self._distillation.teacher

    @property
    def seconds(self) -> float:
        """Seconds spent on training."""
        return self.record.times.training

    @property
    def selected(self) -> Checkpoint:
        """The selected network, with the episode that it is from."""
        return self.record.selected

    @property
    def final(self) -> Checkpoint:
        """The network at the end of training, or now: `final.graph`, `final.policy` and so on."""
        return self.record.final

    @property
    def graph(self) -> Graph:
        """The graph of the selected network."""
        return self.selected.graph

    @property
    def policy(self) -> Policy:
        """The selected network, ready to play."""
        return self.selected.policy

    @property
    def n_parameters(self) -> int:
        """The parameters of the selected network."""
        return self.selected.n_parameters

    @property
    def comparison(self) -> Comparison:
        """The returns of the expert and of random actions, the agreement, and the loss."""
        return self.record.comparison

    @property
    def kept(self) -> float | None:
        """The fraction of the expert's return beyond chance that the selected network keeps."""
        mean = float(self.held_out.mean()) if self.held_out.size else None
        return None if mean is None else self.comparison.kept(mean)

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings of the run, and whether it was too short to grow."""
        return self.record.notes

    @property
    def edits(self) -> Edits:
        """All structural changes so far."""
        return self.record.edits

    @property
    def is_finished(self) -> bool:
        """Whether all episodes are done."""
        return self.record.is_finished

    @property
    def late_return(self) -> float:
        """Mean return over the final quarter of the episodes."""
        return float(self.summary()["late_return"])

    def score(self, n: int, *, final: bool = False, max_parameters: int | None = None) -> Floats:
        """Return the returns of the selected network, or of another, on `n` held-out episodes."""
        student = self.record.student(final=final, max_parameters=max_parameters).policy
        return score(self._distillation.backend, student, self.plan.seed, n)

    def begin(self) -> None:
        """Make the folder, if there is to be one, with a first checkpoint in it."""
        _ = self._distillation.learner, self._distillation.teacher  # or they are refused
        super().begin()

    def save(self, folder: str | Path) -> None:
        """Write the run to a new folder."""
        self._update(resume=self._distillation.learner.arrays())
        super().save(folder)

    def _before_first(self) -> dict[str, Any]:
        distillation, scores, search = self._distillation, self._stage_scores, None
        teacher = distillation.teacher  # a wrong one is refused first
        if self.plan.keep is not None:
            assert teacher is not None
            ends = expert_and_chance(teacher, distillation.task, "choosing")
            search = Search.start(self.plan.keep, *ends)
        if self.plan.task_sequence and self.plan.origin is None:
            scores = first_scores(self.plan, distillation.policy)
        return self._untrained() | {"search": search, "stage_scores": scores}

    def _untrained(self) -> dict[str, Any]:
        """Return the fields of the record before the first episode of training."""
        distillation = self._distillation
        student, snapshots, resume = distillation.policy, Snapshots.start(), None
        if self.folder is not None:
            resume = distillation.learner.arrays()
            snapshots = snapshots.followed_by(0, student.graph)
        roles = ("final", "best") if self.plan.select == "final" else ("final",)
        return {
            "students": dict.fromkeys(roles, student),
            "started": (student.graph.n_nodes, student.graph.n_edges),
            "edits": distillation.take_edits(),
            "resume": resume,
            "snapshots": snapshots,
        }

    def _advance(self) -> Iterator[None]:
        plan = self.plan
        yield from self._train_and_select()
        while (search := self.record.search) is not None:
            with interrupts_deferred():
                if not search.judged.size:
                    episodes = FIRST_JUDGED, FIRST_JUDGED + JUDGED
                    judged = self._try_out(self.selected.policy, *episodes)
                    search = search._replace(judged=judged)
                    self._update(search=search)
                if search.is_over(plan.plasticity.size or 0):
                    break
                self._try_next(search.after_failure(self.selected.n_parameters))
            yield from self._train_and_select()
        with interrupts_deferred():
            self._update(comparison=self._distillation.compare(self.policy))
            self._update(held_out=self.score(plan.held_out))
            if plan.task_sequence:
                before = self.record.stage_scores[: FIRST_STAGE + len(plan.stages) - 1]
                now = score_on_tasks(plan, self.selected.policy)
                self._update(stage_scores=np.concatenate([before, [now]]))

    def _try_next(self, search: Search) -> None:
        """Begin to train a network of the next size."""
        last, record = self._distillation, self.record
        plan = search.plan(self.plan)
        self._distillation = Distillation(plan, task=last.task, expert=last.teacher)
        spent = Spent(record.spent.steps, record.before.seconds)  # the total of seconds continues
        fresh: Any = {
            "episodes": Episodes.start(0),
            "checkpoints": (),
            "polish": None,
            "search": search,
            "before": spent,
        }
        self._update(**fresh, **self._untrained())
        self._checkpoint()

    def _train_and_select(self) -> Iterator[None]:
        """Train a network, select one of its checkpoints and polish it."""
        distillation = self._distillation
        plan, search = distillation.plan, self.record.search
        with interrupts_deferred():
            distillation.train(0, 0)  # compiles outside of the measured time
        while not self.is_finished:
            with interrupts_deferred():
                self._train_chunk()
            yield
        limit = plan.max_parameters
        if limit is not None and self.final.n_parameters > limit and not self.record.checkpoints:
            with interrupts_deferred():
                distillation.learner.settle()  # the run was too short to prune to the limit
                self._note_student()
        if plan.select != "final":
            offered, n_first = self.record.checkpoints, in_proportion(FIRST_ROUND, plan.n_episodes)
            is_begun = any(each.returns.size > n_first for each in offered)
            if not is_begun and all(each.episode != self.episodes.n for each in offered):
                self._update(checkpoints=self._offered(offered, self.episodes.n))
            for checkpoints in halved(self.record.checkpoints, self._try_out, plan.n_episodes):
                self._update(checkpoints=checkpoints)
        is_hopeless = search is not None and search.is_hopeless(self.selected.mean)
        if plan.polish and self.selected.n_parameters and not is_hopeless:
            yield from self._polish()

    def _polish(self) -> Iterator[None]:
        """Polish the selected network."""
        distillation = self._distillation
        plan = distillation.plan
        policy, order = self.selected.policy, ranking(plan.polish_for, plan.task.reward_threshold)
        found = self.record.polish
        with playing(policy, distillation.task, distillation.backend) as play:
            while True:
                with interrupts_deferred(), self._timed("polishing"):
                    if found is None:
                        found = Polish.start(policy, distillation.environment, plan.seed)
                    later = found.advanced(play, plan.seed, plan.polish, order)
                if later is None:
                    break
                found = later
                self._update(polish=found)
                self._checkpoint()
                yield
        with interrupts_deferred():
            unpolished = policy.with_weights(found.offered[0])
            before = score(distillation.backend, unpolished, self.plan.seed, plan.held_out)
            self._update(polish=found._replace(before=before))

    def polish(
        self,
        episodes: int = 15_000,
        *,
        objective: Objective = "mean",
        watch: Watch[Self] | None = None,
    ) -> Self:
        """Search the weights of the selected network for a higher return, and return the run.

        It is as if the run had been asked for it at once.  A search of fewer episodes is continued,
        one for another objective begins again.

        Parameters
        ----------
        episodes
            Episodes of the search; a few hundred more select and evaluate the result.
        objective
            "mean" return, mean of the "worst" tenth, or "share-above" the task's threshold.
        watch
            Called with the run after every generation.

        Examples
        --------
        >>> import smgrnn
        >>> run = smgrnn.distill("CartPole-v1", episodes=100, max_parameters=4, seed=0)
        >>> figures = run.polish(1000).summary()["polish"]
        >>> figures["after"]["held_out_mean"] >= figures["before"]["held_out_mean"]
        True
        """
        asked: Any = {"polish": episodes, "polish_for": objective}
        plan = replace(self.plan, **asked)
        if self.plan.asked is not None:
            plan = replace(plan, asked=replace(self.plan.asked, **asked))
        self._take_polish(plan)
        self.train(*([] if watch is None else [watch]))
        return self

    def _take_polish(self, plan: Plan) -> None:
        """Ask for the polish of a plan, if the run does not have it already."""
        before, found = self.plan, self.record.polish
        if before.keep is not None:
            raise ConfigError("--keep polishes each size: give polish=N to distill, with keep.")
        if before.polish_for != plan.polish_for or not before.polish:
            found = None
        elif before.polish >= plan.polish:
            return
        check_polish(plan, plan.task)
        self.plan = self._distillation.plan = plan
        kept = None if found is None else found.reopened()
        self._update(plan=plan, polish=kept, held_out=np.empty(0))
        if self._home is not None:
            with self._owned():
                self._home.save(self.record)

    def _train_chunk(self) -> None:
        """Train up to the next checkpoint or the end of the backend's chunk."""
        distillation, episodes = self._distillation, self.episodes
        plan = distillation.plan
        first, n, every = episodes.n, plan.n_episodes, plan.checkpoint_every
        last = min(first + distillation.backend.chunk, n, (first // every + 1) * every)
        offered = offers(n) if plan.select != "final" else []
        offered = [episode for episode in offered if first < episode <= last]
        checkpoints = self.record.checkpoints
        for start, end in pairwise(sorted({first, *offered, last})):
            with self._timed("training"):
                episodes = episodes.followed_by(distillation.train(start, end))
            if end in offered:
                checkpoints = self._offered(checkpoints, end)
        self._update(episodes=episodes, checkpoints=checkpoints)
        self._note_student()
        if self.folder is not None:
            self._update(snapshots=self.record.snapshots.followed_by(last, self.final.graph))
        if last % every == 0 or self.is_finished:
            if plan.select == "final":
                student, best = self.record.students["final"], self.record.best_score
                numbers = FIRST_COMPARED, FIRST_COMPARED + N_COMPARED
                found = float(distillation.try_out(student, *numbers, "held_out")[0].mean())
                if best is None or found > best:
                    self._update(students={"final": student, "best": student}, best_score=found)
            self._checkpoint()

    def _note_student(self) -> None:
        """Record the student and its edits since the last call, so that an error loses nothing."""
        distillation = self._distillation
        self._update(
            edits=self.edits.followed_by(distillation.take_edits()),
            students={**self.record.students, "final": distillation.policy},
            resume=None if self.folder is None else distillation.learner.arrays(),
        )

    def _try_out(self, policy: Policy, first: int, last: int) -> Floats:
        with interrupts_deferred(), self._timed("choosing"):
            scores, n_steps = self._distillation.try_out(policy, first, last)
        times = self.record.times
        self._update(
            times=times._replace(
                choosing_episodes=times.choosing_episodes + last - first,
                choosing_steps=times.choosing_steps + n_steps,
            )
        )
        return scores

    def _offered(self, checkpoints: Checkpoints, episode: int) -> Checkpoints:
        """Return the checkpoints including the current students, each after its first round."""
        now = self._distillation.candidates
        n = in_proportion(FIRST_ROUND, self.plan.n_episodes)
        new = [Checkpoint(each, episode, self._try_out(each, 0, n)) for each in now]
        return joined(checkpoints, new)
