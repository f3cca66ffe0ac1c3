"""A run from its first episode to its summary: train, checkpoint, resume, evaluate."""

import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import USUAL_PRESET, EnvBackend, RunConfig
from smgrnn.episodes.table import Edits, Episodes
from smgrnn.errors import ConfigError, FileFormatError, GrowthLimitWarning, SmgrnnError, reason
from smgrnn.experts import ExpertSource, Teacher, TeacherId, find_teacher
from smgrnn.graph.drawing import network_html
from smgrnn.graph.state import Graph
from smgrnn.interrupts import interrupts_deferred
from smgrnn.policy import Policy
from smgrnn.rules.settings import ForeignRule
from smgrnn.runs.ancestor import Ancestor
from smgrnn.runs.course import EMPTY_COURSE, FIRST_STAGE, course_scores, start_course
from smgrnn.runs.distillation import Distillation
from smgrnn.runs.evaluation import score
from smgrnn.runs.family import FIRST_ROUND, Family, Member, halved, joined, offers
from smgrnn.runs.folder import (
    RunFolder,
    as_run_folder,
    check_same,
    folder_summary,
    new_run_folder,
    write_results,
)
from smgrnn.runs.keep import judge, next_size, stage_ends, stage_of, stage_offers
from smgrnn.runs.plan import Plan, Start, plan_run
from smgrnn.runs.record import Record, record_file, versions
from smgrnn.runs.snapshots import Snapshots
from smgrnn.runs.times import Times
from smgrnn.runs.watch import Watch
from smgrnn.tasks import Task, TaskSource, find_task


class Run:
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
    course
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

    def __init__(
        self,
        plan: Plan,
        folder: str | Path | RunFolder | None = None,
        *,
        task: TaskSource | Task | None = None,
        expert: ExpertSource | Teacher | None = None,
        record: Record | None = None,
        course: Floats = EMPTY_COURSE,
    ) -> None:
        self.plan = plan
        self._home = as_run_folder(folder)
        self._course = course
        student = None if record is None else record.students["final"]
        self._distillation = Distillation(
            plan,
            task=task,
            expert=expert,
            normalisation=None if student is None else student.normalisation,
        )
        self._record = record
        self._is_alive = record is None or record.resume is not None
        self._caught: list[warnings.WarningMessage] = []

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        task: TaskSource | None = None,
        expert: ExpertSource | None = None,
    ) -> "Run":
        """Return a run that continues from its last checkpoint; give code of your own again.

        >>> run = new_run("xor", RunConfig.for_task("xor"), Path("stopped"))
        >>> run.begin()
        >>> Run.resume("stopped").train().episodes.n > 0
        True
        """
        run = cls._of(path, task=task, expert=expert)
        run._check_alive()
        _ = run._distillation.task  # found now, so that a missing one is met at once
        return run

    @classmethod
    def read(cls, path: str | Path) -> "Run":
        """Return a run to look at, not to play: it needs neither its environment nor its expert.

        >>> new_run("xor", RunConfig.for_task("xor"), Path("looked-at")).begin()
        >>> Run.read("looked-at").episodes.n
        0
        """
        return cls._of(path)

    @classmethod
    def _of(cls, path: str | Path, **sources: Any) -> "Run":
        home = RunFolder(Path(path)) if Path(path).is_dir() else None
        record = Record.load(path) if home is None else home.load()
        if not isinstance(record.plan, Plan):
            raise ConfigError(
                f"{path} was evolved, not distilled; go on with smgrnn evolve --resume."
            )
        run = cls(record.plan, home, record=record, **sources)
        run._restore(record_file(Path(path)))
        return run

    def _restore(self, file: Path) -> None:
        """Bring the student to where the record was made."""
        for rule in (self.plan.plasticity.growth, self.plan.plasticity.pruning):
            if self.record.resume is not None and isinstance(rule, ForeignRule):
                raise ConfigError(
                    f"{file} was trained by the rule {rule['name']!r}, which is your own code. "
                    f"Call smgrnn.distill again with the same settings and the same `out`."
                )
        try:
            if self.record.resume is not None:
                self._distillation.learner.restore(self.record.resume)
        except Exception as error:  # a stranger may have made it, so anything can be in it
            raise FileFormatError(f"{file} does not describe a run ({reason(error)}).") from error

    def _check_alive(self) -> None:
        if not self._is_alive:
            raise ConfigError(
                "This is the result of a run, as the store keeps it; it cannot go on."
            )

    def __repr__(self) -> str:
        plan, n_done = self.plan, 0 if self._record is None else self._record.episodes.n
        whose = f"{plan.task.id}, {plan.student}, seed {plan.seed}"
        return f"Run({whose}, {n_done} of {plan.episodes.number} episodes)"

    def _repr_html_(self) -> str:
        return network_html(f"{self}: {self.graph}", self.graph)

    @property
    def folder(self) -> Path | None:
        """The folder it is kept in, if any."""
        return None if self._home is None else self._home.path

    @property
    def record(self) -> Record:
        """The record of the run so far."""
        if self._record is None:
            self._record = self._start()
        return self._record

    def _start(self) -> Record:
        """Return the record of a run that has not begun; finds its teacher first."""
        distillation = self._distillation
        _ = distillation.teacher
        student = distillation.policy
        return Record(
            plan=self.plan,
            episodes=Episodes.start(0),
            edits=distillation.take_edits(),
            snapshots=Snapshots.start(),
            students={"final": student} if self._chooses else {"final": student, "best": student},
            started=(student.graph.n_nodes, student.graph.n_edges),
            versions=versions(self.plan),
            times=Times(began=time.time()),
            bar=distillation.bar if self._is_staged else None,
            course=self._first_course(student),
            resume=None if self.folder is None else distillation.learner.arrays(),
        )

    def _first_course(self, student: Policy) -> Floats:
        """Return the scores before the run: those of the stages before, or of a new student."""
        is_first = bool(self.plan.episodes.course) and self.plan.origin is None
        return start_course(self.plan, student) if is_first else self._course

    def _followed_course(self) -> Floats:
        """Return the scores so far, with those of the student that is handed over."""
        n_before = FIRST_STAGE + len(self.plan.stages) - 1
        now = course_scores(self.plan, self.handed_over.policy)
        return np.concatenate([self.record.course[:n_before], [now]])

    def _update(self, **changes: Any) -> None:
        self._record = replace(self.record, **changes)

    @property
    def _chooses(self) -> bool:
        """Whether the run hands over the best student that it saw."""
        return self.plan.episodes.handover == "best"

    @property
    def _is_staged(self) -> bool:
        """Whether the run prunes in stages, to the smallest student that keeps a share."""
        return self.plan.episodes.keep is not None

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
    def handed_over(self) -> Member:
        """The student that the run hands over."""
        return self.record.handed_over

    @property
    def episodes(self) -> Episodes:
        """The record of all episodes so far."""
        return self.record.episodes

    @property
    def edits(self) -> Edits:
        """The record of all structural changes so far."""
        return self.record.edits

    @property
    def snapshots(self) -> Snapshots:
        """Weights at moments during training, if the run has a folder to keep them in."""
        return self.record.snapshots

    @property
    def held_out(self) -> Floats:
        """Returns of the student that is handed over on held-out episodes."""
        return self.record.held_out

    @property
    def is_finished(self) -> bool:
        """Whether no episode is still to come."""
        return self.record.is_finished

    @property
    def late_return(self) -> float:
        """Mean return over the final quarter of the episodes."""
        return float(self.summary()["late_return"])

    def begin(self) -> None:
        """Make the folder, if there is to be one, with a first checkpoint in it.

        >>> new_run("xor", RunConfig.for_task("xor"), Path("begun")).begin()
        >>> [file.name for file in Path("begun").glob("*.safetensors")]
        ['model.safetensors']
        """
        self._check_alive()
        _ = self._distillation.teacher, self.record  # a wrong one is met before anything is made
        if self._home is None:
            return
        with self._home.owned():
            if self._home.is_empty:
                self._take_snapshot()
                self._save()

    def train(self, *watches: Watch["Run"]) -> Record:
        """Train to the last episode, checkpointing on the way, and evaluate the student.

        Every few episodes each of `watches` is called with the run.

        >>> run = new_run("xor", RunConfig.for_task("xor", episodes=4))
        >>> run.train().episodes.n
        4
        """
        with self._owned():
            self.begin()
            if self.held_out.size:  # judged once for all; tables may be missing after a kill
                self._write_results()
                return self.record
            try:
                return self._train_and_save(watches)
            except SmgrnnError:
                if self._home is not None and not self.episodes.n:
                    self._home.discard()
                raise

    def _owned(self) -> AbstractContextManager[None]:
        return nullcontext() if self._home is None else self._home.owned()

    def _train_and_save(self, watches: Iterable[Watch["Run"]]) -> Record:
        start, spent = time.perf_counter(), self.record.times.total
        try:
            with warnings.catch_warnings(record=True) as self._caught:
                warnings.simplefilter("always", GrowthLimitWarning)
                self._train_all(watches)
        finally:  # after a Ctrl-C too: what was recorded must not be lost
            total = spent + time.perf_counter() - start
            self._update(times=self.record.times._replace(total=total))
            self._save()
            self._write_results()
        for each in self._caught:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        return self.record

    def _train_all(self, watches: Iterable[Watch["Run"]]) -> None:
        with interrupts_deferred():
            self._distillation.train(0, 0)  # compiles, which the clock is not to count
        for first, last in self._chunks():
            with interrupts_deferred():
                self._train_chunk(first, last)
            for watch in watches:
                watch(self)
        if self._chooses and not self._is_staged:
            self._choose()
        elif self._is_too_large:
            self._settle()
        with interrupts_deferred():
            self._update(held_out=self.score(self.plan.held_out))
            if self.plan.episodes.course:
                self._update(course=self._followed_course())

    def _chunks(self) -> Iterator[tuple[int, int]]:
        """Yield the remaining episodes in parts, cut at checkpoints and chunks of the backend."""
        first, end = self.episodes.n, self.plan.episodes.number
        every = self.plan.episodes.checkpoint_every
        while not self.is_finished:
            chunk = self._distillation.backend.chunk
            last = min(first + chunk, end, (first // every + 1) * every)
            if self._is_staged:
                last = min(last, stage_of(first, end)[1])
            yield first, last
            first = last

    def _train_chunk(self, first: int, last: int) -> None:
        learner, episodes, family = self._distillation.learner, self.episodes, self.record.family
        offered = self._offers(first, last)
        for start, end in pairwise(sorted({first, *offered, last})):
            with self._timed("training"):
                episodes = episodes.followed_by(self._distillation.train(start, end))
            if end in offered:
                family = self._offered(family, end)
        self._update(episodes=episodes, family=family)
        if self._is_staged and last in stage_ends(self.plan.n_episodes):
            self._judge(last)
        self._note_student()
        if self.folder is not None:  # what an error in the next chunk must not lose
            self._update(resume=learner.arrays())
            self._take_snapshot()
        if last % self.plan.episodes.checkpoint_every == 0 or self.is_finished:
            self._checkpoint()

    def _offers(self, first: int, last: int) -> list[int]:
        """Return the episodes from first + 1 to last after which students are offered."""
        found = offers(self.plan.n_episodes) if self._chooses else []
        if self._is_staged:
            found = stage_offers(self.plan.n_episodes)
        return [episode for episode in found if first < episode <= last]

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        """Add the time that the block takes to the times of the run."""
        begin = time.perf_counter()
        yield
        before = self.record.times
        spent = getattr(before, what) + time.perf_counter() - begin
        self._update(times=before._replace(**{what: spent}))

    def _offered(self, family: Family, episode: int) -> Family:
        """Return a family that the students of now, after their first round, have joined."""
        now = self._distillation.candidates
        new = [Member(each, episode, self._try_out(each, 0, FIRST_ROUND)) for each in now]
        return (*family, *new) if self._is_staged else joined(family, new)

    def _judge(self, end: int) -> None:
        """Judge the students of the stage that ends; if one is good enough, prune for the next."""
        first, bar = stage_of(end - 1, self.plan.n_episodes)[0], self.record.bar
        assert bar is not None
        family = judge(self.record.family, first, self._try_out)
        self._update(family=family)
        size, learner = next_size(family, bar), self._distillation.learner
        if size is not None and not self.is_finished:
            learner.size = size
            learner.settle()

    def _choose(self) -> None:
        """Offer the last students too, and let the best play on until one is chosen."""
        if not (self.record.family or self._distillation.candidates):  # all were too large
            self._settle()
        family, last = self.record.family, self.episodes.n
        if all(member.episode != last for member in family):
            self._update(family=self._offered(family, last))
        for family in halved(self.record.family, self._try_out):
            self._update(family=family)

    @property
    def _is_too_large(self) -> bool:
        limit = self.plan.parameters
        return limit is not None and self.graph.n_edges > limit

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

    def _take_snapshot(self) -> None:
        self._update(snapshots=self.snapshots.followed_by(self.episodes.n, self.graph))

    def _checkpoint(self) -> None:
        """Keep the record; if the final student is handed over, keep it if it is the best."""
        if not self._chooses:
            student, best = self.record.students["final"], self.record.best_score
            found = self._distillation.compare(student)
            if best is None or found > best:
                self._update(students={"final": student, "best": student}, best_score=found)
        self._note_warnings()
        if self._home is not None:
            self._home.keep(self.record)

    def _save(self) -> None:
        self._note_warnings()
        if self._home is not None:
            self._home.save(self.record)

    def _note_warnings(self) -> None:
        limits = (each for each in self._caught if issubclass(each.category, GrowthLimitWarning))
        noted = dict.fromkeys([*self.record.warnings, *(str(each.message) for each in limits)])
        self._update(warnings=tuple(noted))

    def _write_results(self) -> None:
        if self.folder is not None and self.episodes.n:
            write_results(self.folder, self.record)

    def score(self, n: int, *, final: bool = False, parameters: int | None = None) -> Floats:
        """Return the returns of what is handed over, or of another student, on held-out episodes.

        `n` is how many episodes it plays, frozen and greedy.
        """
        student = self.record.student(final=final, parameters=parameters).policy
        return score(self._distillation.backend, student, self.plan.seed, n)

    def summary(self) -> dict[str, Any]:
        """Return every figure of the run so far."""
        return folder_summary(self.record, self.folder)

    def save(self, folder: str | Path) -> None:
        """Write the run to a new folder."""
        self._home = new_run_folder(folder)
        if self._is_alive:
            self._update(resume=self._distillation.learner.arrays())
        with self._owned():
            self._save()
            self._write_results()


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
    home = None if folder is None else RunFolder(folder)
    record = None if home is None else home.find_record()
    found = find_task(task)
    source = config.expert if expert is None else expert
    if source is None and start is not None and start.plan.task.id == found.id:
        _check_teacher(start.plan.teacher)
    identity, teacher = find_teacher(source, found)
    plan = plan_run(config, found, identity, start)
    if home is None or record is None:
        return Run(plan, home, task=found, expert=teacher)
    check_same(plan, record.plan, home.path)
    run = Run(plan, home, task=found, expert=teacher, record=record)
    run._restore(record_file(home.path))
    return run


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
    plan, student = record.plan, record.handed_over
    if not isinstance(plan, Plan):
        raise ConfigError("A run goes on from a distillation. Got an evolution instead.")
    ancestor = Ancestor.of(student.policy, run=plan.key(), seed=plan.seed, episode=student.episode)
    return Start(ancestor, student.policy, plan)


def settings_to_go_on(start: Start, task: str) -> RunConfig:
    """Return the settings that a run on a task goes on with: those of its ancestor.

    Another task has another expert, and perhaps another backend.
    """
    plan = start.plan
    asked = RunConfig() if plan.asked is None else plan.asked
    is_named = plan.teacher.kind in ("shipped", "file")
    expert = plan.teacher.name if is_named else None
    is_elsewhere = plan.episodes.backend == "gymnasium" and plan.task.compiled is not None
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
        config = settings_to_go_on(beginning, name).with_changes(**settings)
    run = new_run(task, config, Path(out) if out is not None else None, expert, beginning)
    run.train(*([watch] if watch is not None else []))
    return run
