"""Sequence: one student, several tasks one after the other, each stage a run that goes on.

Every stage starts from the student that the stage before hands over, with a new optimizer.  In the
end of each the student is scored on all tasks: see `runs.stage_scores`.
"""

from collections.abc import Iterator
from collections.abc import Sequence as Listed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from smgrnn.arrays import Floats
from smgrnn.config import USUAL_PRESET, RunConfig
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.experts import find_teacher
from smgrnn.runs.folder import RunFolder
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.runs.record import Record, Spent, record_file
from smgrnn.runs.run import Run, start_from
from smgrnn.runs.session import Watch
from smgrnn.runs.stage_scores import BEFORE, NO_SCORES
from smgrnn.storage import LOCK, locked, make_folder, remove_empty
from smgrnn.tasks import Task, find_task


class Sequence:
    """A student that learns tasks one after the other; `smgrnn.sequence` returns one.

    Examples
    --------
    >>> import smgrnn
    >>> tasks = ["CartPole-v1", "CartPole-v1,mirrored"]
    >>> learned = smgrnn.sequence(tasks, preset="paper", episodes=5, held_out=2)
    >>> learned.returns.shape  # before the first stage and after each, on each task
    (3, 2)
    >>> learned.summary()["stage_scores"]["stages"]
    ['CartPole-v1', 'CartPole-v1,mirrored']
    >>> kept = Sequence(learned.plans, Path("two-tasks"))  # the same again, in a folder
    >>> kept.train_next().episodes.n, kept.stage_folder(0).name
    (5, 'stage-1')
    >>> with kept.owned():  # no other process has the folder meanwhile
    ...     kept.train().record.fingerprint == learned.record.fingerprint
    True
    >>> Sequence.read("two-tasks").joined().episodes.n
    10
    """

    def __init__(self, plans: Listed[Plan], folder: Path | None = None) -> None:
        self.plans = tuple(plans)
        self.folder = folder
        self.records: list[Record] = []
        """The records of the stages that are finished."""
        self._is_owned = False

    def stage_folder(self, number: int) -> Path | None:
        """Return the folder of a stage, which is a run folder like any other."""
        return None if self.folder is None else _stage_folder(self.folder, number)

    def train(self, *watches: Watch[Run]) -> "Sequence":
        """Train all stages; those that are finished in the folder are read from it.

        Every few episodes each of `watches` is called with the run of the stage.
        """
        with self.owned():
            while len(self.records) < len(self.plans):
                self.train_next(*watches)
        return self

    def train_next(self, *watches: Watch[Run]) -> Record:
        """Train the next stage, unless its folder has the whole of it, and return its record."""
        with self.owned():
            number = len(self.records)
            plan, stage_scores = self.plans[number], NO_SCORES
            if number:
                plan = replace(plan, ancestor=start_from(self.record).ancestor)
                stage_scores = self.record.stage_scores
            run = Run._start_or_resume(plan, self.stage_folder(number), stage_scores=stage_scores)
            self.records.append(run.train(*watches))
        return self.record

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes out while the block runs."""
        if self.folder is None or self._is_owned:
            yield
            return
        self._check_folder(self.folder)
        made = make_folder(self.folder)
        try:
            with locked(self.folder):
                self._is_owned = True
                yield
        finally:
            self._is_owned = False
            remove_empty(made)

    def _check_folder(self, folder: Path) -> None:
        """Refuse a folder of other things, and one of a sequence that has more stages."""
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} exists and is no folder; choose another with --out.")
        has_others = folder.is_dir() and any(each.name != LOCK for each in folder.iterdir())
        if has_others and not holds_sequence(folder):
            raise ConfigError(
                f"{folder} exists and holds no sequence; choose another folder with --out."
            )
        if _stage_folder(folder, len(self.plans)).exists():
            raise ConfigError(
                f"{folder} holds a sequence of more than {len(self.plans)} stages; choose another "
                f"folder with --out."
            )

    @property
    def record(self) -> Record:
        """The record of the last stage that is finished."""
        return self.records[-1]

    @property
    def returns(self) -> Floats:
        """Mean held-out returns before the first stage and after each (n_stages + 1, n_tasks)."""
        return self.record.stage_scores[BEFORE:]

    @property
    def spent_before(self) -> Spent:
        """The effort of all stages before the last that is finished."""
        spent = [record.spent for record in self.records[:-1]]
        return Spent(sum(each.steps for each in spent), sum(each.seconds for each in spent))

    def joined(self) -> Record:
        """Return all stages as one record, to watch the student grow through them.

        Each ends with the student that the next one goes on with.
        """
        return join_stages(self.records)

    @classmethod
    def read(cls, folder: str | Path) -> "Sequence":
        """Return the stages that have begun in a folder, to look at; the last may be under way."""
        made = cls((), Path(folder))
        plans: list[Plan] = []
        while record_file(place := _stage_folder(Path(folder), len(plans))).exists():
            record = RunFolder(place).load()
            before = record.plan.stages[:-1] if isinstance(record.plan, Plan) else None
            if before is None or [each.key() for each in before] != [each.key() for each in plans]:
                raise FileFormatError(f"{place} does not go on from the stage before.")
            assert isinstance(record.plan, Plan)
            plans.append(record.plan)
            made.records.append(record)
        if not plans:
            raise FileFormatError(f"{folder} holds no stage of a sequence yet.")
        made.plans = tuple(plans)
        return made

    def summary(self) -> dict[str, Any]:
        """Return the figures of the last stage, those of the sequence, and the size after each."""
        sizes = [record.selected.n_parameters for record in self.records]
        folder = None if self.folder is None else str(self.folder)
        return self.record.summary() | {"n_parameters_by_stage": sizes, "run_dir": folder}


def holds_sequence(folder: Path) -> bool:
    """Return whether a folder has stages, and is no run itself."""
    return _stage_folder(folder, 0).is_dir() and not record_file(folder).exists()


def _stage_folder(folder: Path, number: int) -> Path:
    return folder / f"stage-{number + 1}"


def join_stages(records: Listed[Record]) -> Record:
    """Return the stages of a sequence as one record, its time running on through all of them.

    Its plan counts the episodes of all stages, and has no threshold, as tasks have their own.
    """
    parts = [record.until(record.selected) for record in records]
    joined, last = parts[0], records[-1]
    for part in parts[1:]:
        n_updates, n_episodes = int(joined.episodes.steps.sum()), joined.episodes.n
        later = part.edits._replace(update=part.edits.update + n_updates)
        joined = replace(
            part,
            episodes=joined.episodes.followed_by(part.episodes),
            edits=joined.edits.followed_by(later),
            snapshots=joined.snapshots.then(part.snapshots, n_episodes),
            started=joined.started,
        )
    plan, n_left = last.plan, 0 if last.is_finished else last.plan.n_episodes - last.episodes.n
    assert isinstance(plan, Plan)
    n_episodes = max(joined.episodes.n + n_left, 1)
    task = replace(plan.task, reward_threshold=None) if len(records) > 1 else plan.task
    return replace(joined, plan=replace(plan, episodes=n_episodes, stop_after=0, task=task))


def plan_sequence(tasks: Listed[str], config: RunConfig, *, cue: bool = False) -> tuple[Plan, ...]:
    """Return the plans of the stages; refuse tasks that one student cannot learn.

    >>> config = RunConfig.for_task("CartPole-v1")
    >>> [plan.task.id for plan in plan_sequence(["CartPole-v1"], config)]
    ['CartPole-v1']
    """
    found = [find_task(_name(task)) for task in tasks]
    _check_tasks(found, config, cue=cue)
    if cue:
        names = list(dict.fromkeys(task.id for task in found))
        numbers = {name: f"{number}of{len(names)}" for number, name in enumerate(names, start=1)}
        found = [find_task(f"{task.id},cue={numbers[task.id]}") for task in found]
    task_sequence = tuple(dict.fromkeys(task.id for task in found)) if len(found) > 1 else ()
    plans: list[Plan] = []
    for task in found:
        plan = plan_run(replace(config, protect=0.0), task, find_teacher(None, task)[0])
        plan = replace(plan, task_sequence=task_sequence)
        if plans:
            plan = replace(plan, origin=plans[-1], protect=config.protect)
        plans.append(plan)
    return tuple(plans)


def _name(task: Any) -> str:
    if not isinstance(task, str):
        raise ConfigError("The tasks of a sequence are given by their names.")
    return task


def _check_tasks(tasks: list[Task], config: RunConfig, *, cue: bool) -> None:
    if not tasks:
        raise ConfigError("A sequence needs at least one task.")
    if config.expert is not None:
        raise ConfigError("A sequence takes the expert of each of its tasks: leave --expert out.")
    if config.normalise:
        raise ConfigError("A sequence has no one scale to normalise by: leave normalise out.")
    first = tasks[0]
    for task in tasks:
        if task.is_supervised and len(tasks) > 1:
            raise ConfigError(f"The tasks of a sequence are played, and {task.id} is not.")
        if task.is_own_code:
            raise ConfigError(f"{task.id} is code of your own, which a sequence cannot find again.")
        if task.cue:
            raise ConfigError(f"{task.id} has a cue of its own: leave it out and give --cue.")
        if (task.n_inputs, task.n_outputs) != (first.n_inputs, first.n_outputs):
            raise ConfigError(
                f"One student cannot learn {first.id}, of {first.n_inputs} inputs and "
                f"{first.n_outputs} actions, and {task.id}, of {task.n_inputs} and "
                f"{task.n_outputs}."
            )
    if cue and len({task.id for task in tasks}) < 2:
        raise ConfigError(f"A cue tells tasks apart, and {first.id} is the only one: leave it out.")
    if config.protect > 0.0 and len(tasks) < 2:
        raise ConfigError("protect is for what was learned before, and there is one stage only.")


def sequence(
    tasks: Listed[str],
    *,
    cue: bool = False,
    out: str | Path | None = None,
    watch: Watch[Run] | None = None,
    **settings: Any,
) -> Sequence:
    """Teach one student several tasks one after the other; every field of RunConfig is a keyword.

    Parameters
    ----------
    tasks
        Names of tasks of one shape, in the order in which they are learned; a task may come again.
    cue
        Add one input per task that says which it is.
    out
        Folder to keep the stages in; where an equal call was stopped, this one goes on.  None keeps
        nothing.
    watch
        Called with the run of the stage every few episodes.
    **settings
        Settings of every stage, as `distill` takes them, and `protect`, by which edges that matter
        to earlier stages learn more slowly.

    Examples
    --------
    >>> import smgrnn
    >>> learned = smgrnn.sequence(["CartPole-v1", "CartPole-v1,gravity=20"], episodes=4, held_out=2)
    >>> [record.plan.task.id for record in learned.records]
    ['CartPole-v1', 'CartPole-v1,gravity=20']
    """
    names = [_name(task) for task in tasks]
    config = RunConfig.for_task(names[0] if names else "", **{"preset": USUAL_PRESET, **settings})
    made = Sequence(plan_sequence(names, config, cue=cue), None if out is None else Path(out))
    return made.train(*([] if watch is None else [watch]))
