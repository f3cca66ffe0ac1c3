"""Run: a distillation from its first episode to its summary."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from smgrnn.arrays import Arrays, Floats
from smgrnn.config import USUAL_PRESET, EnvBackend, RunConfig
from smgrnn.episodes.table import Edits
from smgrnn.errors import ConfigError, FileFormatError, reason
from smgrnn.experts import ExpertSource, Teacher, TeacherId, find_teacher
from smgrnn.graph.drawing import network_html
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.policy import Policy
from smgrnn.rules.settings import ForeignRule
from smgrnn.runs.checkpoints import FIRST_ROUND, Checkpoint, Checkpoints, halved, joined, offers
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.evaluation import score
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.plan import Ancestor, Plan, Start, plan_run
from smgrnn.runs.record import Record
from smgrnn.runs.session import Session, Watch
from smgrnn.runs.shrink import judge, next_size, stage_ends, stage_of, stage_offers
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.stage_scores import FIRST_STAGE, NO_SCORES, first_scores, score_on_tasks
from smgrnn.tasks import Task, TaskSource, find_task


class Run(Session[Plan]):
    """A distillation run, in progress or finished; `smgrnn.distill` returns one.

    Parameters
    ----------
    plan
        All settings, as `plan_run` or a record gives them.
    folder
        Folder to keep it in; None keeps nothing until `save`.
    task
        The task, or where to find it; one that is code of the user's own must be given.
    expert
        The teacher, or where to find it; one that is code must be given.
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
    >>> run.score(3).shape  # returns of the frozen student on held-out episodes
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
        self._course = stage_scores
        self._is_alive = record is None or record.resume is not None
        self._distillation = Distillation(
            plan,
            task=task,
            expert=expert,
            normalisation=None if record is None else record.students["final"].normalisation,
        )
        if record is not None and record.resume is not None:
            self._restore(record.resume)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        task: TaskSource | None = None,
        expert: ExpertSource | None = None,
    ) -> Self:
        """Return a run that continues from its last checkpoint; give code of your own again.

        >>> run = new_run("xor", RunConfig.for_task("xor"), Path("stopped"))
        >>> run.begin()
        >>> Run.resume("stopped").train().episodes.n > 0
        True
        """
        run = cls._open(path, task=task, expert=expert)
        run._check_alive()
        _ = run._distillation.task  # found now, so that a missing one is met at once
        return run

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return a run to look at, not to play: it needs neither its environment nor its expert.

        >>> new_run("xor", RunConfig.for_task("xor"), Path("looked-at")).begin()
        >>> Run.read("looked-at").episodes.n
        0
        """
        return cls._open(path)

    def _restore(self, state: Arrays) -> None:
        """Bring the student to where the record was made."""
        for rule in (self.plan.plasticity.growth, self.plan.plasticity.pruning):
            if isinstance(rule, ForeignRule):
                raise ConfigError(
                    f"The run in {self.folder} was trained by the rule {rule['name']!r}, which is "
                    f"your own code. Call smgrnn.distill again with the same settings and the same "
                    f"`out`."
                )
        try:
            self._distillation.learner.restore(state)
        except Exception as error:  # a stranger may have made it, so anything can be in it
            where = self.folder or "The record"
            raise FileFormatError(f"{where} does not describe a run ({reason(error)}).") from error

    def _check_alive(self) -> None:
        if not self._is_alive:
            raise ConfigError(
                "This is the result of a run, as the store keeps it; it cannot go on."
            )

    def __repr__(self) -> str:
        plan, n_done = self.plan, 0 if self._record is None else self._record.episodes.n
        whose = f"{plan.task.id}, {plan.student}, seed {plan.seed}"
        return f"Run({whose}, {n_done} of {plan.n_episodes} episodes)"

    def _repr_html_(self) -> str:
        return network_html(f"{self}: {self.graph}", self.graph)

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
    def graph(self) -> Graph:
        """The student's graph as it is now."""
        return self.record.graph

    @property
    def selected(self) -> Checkpoint:
        """The student that the run hands over."""
        return self.record.selected

    @property
    def edits(self) -> Edits:
        """The record of all structural changes so far."""
        return self.record.edits

    @property
    def is_finished(self) -> bool:
        """Whether no episode is still to come."""
        return self.record.is_finished

    @property
    def late_return(self) -> float:
        """Mean return over the final quarter of the episodes."""
        return float(self.summary()["late_return"])

    def score(self, n: int, *, final: bool = False, parameters: int | None = None) -> Floats:
        """Return the returns of what is handed over, or of another student, on held-out episodes.

        `n` is how many episodes it plays, frozen and greedy.
        """
        student = self.record.student(final=final, parameters=parameters).policy
        return score(self._distillation.backend, student, self.plan.seed, n)

    def begin(self) -> None:
        """Make the folder, if there is to be one, with a first checkpoint in it.

        >>> new_run("xor", RunConfig.for_task("xor"), Path("begun")).begin()
        >>> [file.name for file in Path("begun").glob("*.safetensors")]
        ['model.safetensors']
        """
        self._check_alive()
        _ = self._distillation.teacher  # a wrong one is met before anything is made
        super().begin()

    def save(self, folder: str | Path) -> None:
        """Write the run to a new folder."""
        if self._is_alive:
            self._update(resume=self._distillation.learner.arrays())
        super().save(folder)

    def _before_first(self) -> dict[str, Any]:
        distillation = self._distillation
        _ = distillation.teacher  # found first
        student, stage_scores, graph = distillation.policy, self._course, distillation.policy.graph
        if self.plan.task_sequence and self.plan.origin is None:
            stage_scores = first_scores(self.plan, student)
        facts = {
            "students": {"final": student} | ({} if self._chooses else {"best": student}),
            "started": (graph.n_nodes, graph.n_edges),
            "edits": distillation.take_edits(),
            "target_return": distillation.target_return if self._is_staged else None,
            "stage_scores": stage_scores,
        }
        if self.folder is None:
            return facts
        snapshots = Snapshots.start().followed_by(0, graph)
        return facts | {"resume": distillation.learner.arrays(), "snapshots": snapshots}

    @property
    def _chooses(self) -> bool:
        """Whether the run hands over the best student that it saw."""
        return self.plan.select == "best"

    @property
    def _is_staged(self) -> bool:
        """Whether the run prunes in stages, to the smallest student that keeps a share."""
        return self.plan.keep is not None

    def _advance(self) -> Iterator[None]:
        with interrupts_deferred():
            self._distillation.train(0, 0)  # compiles, which the clock is not to count
        while not self.is_finished:
            with interrupts_deferred():
                self._train_chunk()
            yield
        limit = self.plan.parameters
        if self._chooses and not self._is_staged:
            self._choose()
        elif limit is not None and self.graph.n_edges > limit:
            self._settle()
        with interrupts_deferred():
            self._update(held_out=self.score(self.plan.held_out))
            if self.plan.task_sequence:
                n_before = FIRST_STAGE + len(self.plan.stages) - 1
                now = score_on_tasks(self.plan, self.selected.policy)
                self._update(
                    stage_scores=np.concatenate([self.record.stage_scores[:n_before], [now]])
                )

    def _train_chunk(self) -> None:
        """Train up to the next checkpoint, stage end or end of the backend's chunk."""
        learner, episodes, checkpoints = (
            self._distillation.learner,
            self.episodes,
            self.record.checkpoints,
        )
        first, number = episodes.n, self.plan.n_episodes
        every = self.plan.checkpoint_every
        last = min(first + self._distillation.backend.chunk, number, (first // every + 1) * every)
        offered = offers(number) if self._chooses else []
        if self._is_staged:
            last, offered = min(last, stage_of(first, number)[1]), stage_offers(number)
        offered = [episode for episode in offered if first < episode <= last]
        for start, end in pairwise(sorted({first, *offered, last})):
            with self._timed("training"):
                episodes = episodes.followed_by(self._distillation.train(start, end))
            if end in offered:
                checkpoints = self._offered(checkpoints, end)
        self._update(episodes=episodes, checkpoints=checkpoints)
        if self._is_staged and last in stage_ends(number):
            self._judge(last)
        self._note_student()
        if self.folder is not None:  # what an error in the next chunk must not lose
            snapshots = self.record.snapshots.followed_by(last, self.graph)
            self._update(resume=learner.arrays(), snapshots=snapshots)
        if last % every == 0 or self.is_finished:
            if not self._chooses:
                self._compare()
            self._checkpoint()

    def _offered(self, checkpoints: Checkpoints, episode: int) -> Checkpoints:
        """Return the checkpoints including the current students, each after its first round."""
        now = self._distillation.candidates
        new = [Checkpoint(each, episode, self._try_out(each, 0, FIRST_ROUND)) for each in now]
        return (*checkpoints, *new) if self._is_staged else joined(checkpoints, new)

    def _judge(self, end: int) -> None:
        """Judge the students of the stage that ends; if one is good enough, prune for the next."""
        first, target_return = stage_of(end - 1, self.plan.n_episodes)[0], self.record.target_return
        assert target_return is not None
        checkpoints = judge(self.record.checkpoints, first, self._try_out)
        self._update(checkpoints=checkpoints)
        size, learner = next_size(checkpoints, target_return), self._distillation.learner
        if size is not None and not self.is_finished:
            learner.size = size
            learner.settle()

    def _choose(self) -> None:
        """Offer the last students too, and let the best play on until one is chosen."""
        if not (self.record.checkpoints or self._distillation.candidates):  # all were too large
            self._settle()
        checkpoints, last = self.record.checkpoints, self.episodes.n
        if all(checkpoint.episode != last for checkpoint in checkpoints):
            self._update(checkpoints=self._offered(checkpoints, last))
        for checkpoints in halved(self.record.checkpoints, self._try_out):
            self._update(checkpoints=checkpoints)

    def _settle(self) -> None:
        """Prune the student to the size that was asked for, as a run too short for it did not."""
        self._distillation.learner.settle()
        self._note_student()

    def _note_student(self) -> None:
        """Record the student as it is now, and how it came about."""
        self._update(
            edits=self.edits.followed_by(self._distillation.take_edits()),
            students={**self.record.students, "final": self._distillation.policy},
        )

    def _try_out(self, policy: Policy, first: int, last: int) -> Floats:
        with interrupts_deferred(), self._timed("choosing"):
            return self._distillation.try_out(policy, first, last)

    def _compare(self) -> None:
        """Keep the final student as the best if it scores higher than the checkpoints before."""
        student, best = self.record.students["final"], self.record.best_score
        found = self._distillation.compare(student)
        if best is None or found > best:
            self._update(students={"final": student, "best": student}, best_score=found)


def new_run(
    task: TaskSource,
    config: RunConfig,
    folder: Path | None = None,
    expert: ExpertSource | None = None,
    start: Start | None = None,
) -> Run:
    """Return a run that has not begun, or the one that was begun in the folder with these settings.

    The folder is made when the run begins.  With a `start` it goes on from another run.
    """
    found = find_task(task)
    source = config.expert if expert is None else expert
    if source is None and start is not None and start.plan.task.id == found.id:
        _check_teacher(start.plan.teacher)
    identity, teacher = find_teacher(source, found)
    plan = plan_run(config, found, identity, start)
    return Run._start_or_resume(plan, folder, task=found, expert=teacher)


def _check_teacher(teacher: TeacherId) -> None:
    """Refuse to go on with another teacher than the function that a run learned from."""
    if teacher.kind == "function":
        raise ConfigError(
            f"The run to go on from learned from {teacher.name}, which is code of your own; give "
            f"it, or another expert, as --expert."
        )


def start_from(source: Run | Record | str | Path) -> Start:
    """Return the student that a distillation hands over, for another run to go on from.

    >>> start_from(distill("xor", episodes=3)).ancestor.task
    'xor'
    """
    if isinstance(source, str | Path):
        source = Record.load(source)
    record = source.record if isinstance(source, Run) else source
    plan, student = record.plan, record.selected
    if not isinstance(plan, Plan):
        raise ConfigError("A run goes on from a distillation. Got an evolution instead.")
    ancestor = Ancestor.of(student.policy, run=plan.key(), seed=plan.seed, episode=student.episode)
    return Start(ancestor, student.policy, plan)


def settings_to_continue(start: Start, task: str) -> RunConfig:
    """Return the settings that a run on a task goes on with: those of its ancestor.

    Another task has another expert, and perhaps another backend.
    """
    plan = start.plan
    asked = RunConfig() if plan.asked is None else plan.asked
    is_named = plan.teacher.kind in ("shipped", "file")
    expert = plan.teacher.name if is_named else None
    is_elsewhere = plan.backend == "gymnasium" and plan.task.compiled is not None
    backend: EnvBackend | None = "gymnasium" if is_elsewhere else None
    found = replace(asked, seed=plan.seed, expert=expert, env_backend=backend)
    is_same = task == start.plan.task.id
    return found if is_same else replace(found, expert=None, env_backend=None)


def distill(
    task: TaskSource,
    *,
    expert: ExpertSource | None = None,
    out: str | Path | None = None,
    watch: Watch[Run] | None = None,
    start: Run | Record | str | Path | None = None,
    **settings: Any,
) -> Run:
    """Distil the expert of a task into a growing student; every field of RunConfig is a keyword.

    Parameters
    ----------
    task
        A Gymnasium id, "xor", a file of recorded examples, or a function that makes an environment.
    expert
        The name of a shipped expert, a file, the name of a function, or a function that gives the
        action for an observation; by default the smooth expert that comes with the package.
    out
        Folder to keep the run in, with checkpoints; where an equal call was stopped, this one goes
        on.  None keeps nothing.
    watch
        Called with the run every few episodes.
    start
        A run, a record or a folder to go on from: the student that it hands over learns on, on
        this or another task of the same shape, with the settings of that run and the changes given
        here.  Optimizer and statistics start afresh; `resume` is what goes on exactly.
    **settings
        Fields of `RunConfig` and of `NetworkSettings`, and `preset` ("frugal" by default, "paper"
        or "as_printed"), which the others start from.

    Examples
    --------
    >>> import smgrnn
    >>> run = smgrnn.distill("CartPole-v1", episodes=50, seed=0)
    >>> run.late_return > 20  # what acting at random brings
    True
    >>> smgrnn.distill("CartPole-v1", episodes=10, start=run).plan.ancestor.episode
    50
    """
    name = "" if callable(task) else str(task)
    beginning = None if start is None else start_from(start)
    if beginning is None:
        config = RunConfig.for_task(name, **{"preset": USUAL_PRESET, **settings})
    elif "preset" in settings:
        raise ConfigError("A run goes on with the settings of the one before: leave `preset` out.")
    else:
        config = settings_to_continue(beginning, name).with_changes(**settings)
    run = new_run(task, config, Path(out) if out is not None else None, expert, beginning)
    run.train(*([watch] if watch is not None else []))
    return run
