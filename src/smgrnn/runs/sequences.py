"""Sequence: one student, several tasks one after the other, each stage a run of its own.

Every stage starts from the selected network of the stage before, with a new optimizer.  At the end
of each stage the network is scored on all tasks: see `runs.stage_scores`.
"""

from collections.abc import Iterator
from collections.abc import Sequence as Listed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from smgrnn.arrays import Floats
from smgrnn.config import USUAL_PRESET, RunConfig
from smgrnn.errors import ConfigError, known_arguments
from smgrnn.experts import find_teacher
from smgrnn.runs.plan import Ancestor, Plan, plan_run, require
from smgrnn.runs.record import Record
from smgrnn.runs.record_file import Spent, record_file
from smgrnn.runs.run import Run
from smgrnn.runs.session import Watch
from smgrnn.runs.stage_scores import BEFORE, NO_SCORES
from smgrnn.storage import check_place, locked, make_folder, remove_empty
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
    >>> with kept.owned():  # no other process has the folder meanwhile
    ...     kept.train_next().episodes.n
    5
    >>> kept.train().record.fingerprint == learned.record.fingerprint
    True
    """

    def __init__(self, plans: Listed[Plan], folder: Path | None = None) -> None:
        self.plans = tuple(plans)
        self.folder = folder
        self.records: list[Record] = []
        """The records of the stages that are finished."""

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
        """Train the next stage, inside `owned`, or read it if it is finished; return its record."""
        number = len(self.records)
        plan, stage_scores = self.plans[number], NO_SCORES
        if number:
            plan = replace(plan, ancestor=Ancestor.of(self.record))
            stage_scores = self.record.stage_scores
        run = Run._start_or_resume(plan, self.stage_folder(number), stage_scores=stage_scores)
        self.records.append(run.train(*watches))
        return self.record

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Make the folder if need be, and keep other processes out during the block."""
        if self.folder is None:
            yield
            return
        self._check_folder(self.folder)
        made = make_folder(self.folder)
        try:
            with locked(self.folder):
                yield
        finally:
            remove_empty(made)

    def _check_folder(self, folder: Path) -> None:
        """Refuse a folder with other content, and one of a sequence that has more stages."""
        if not holds_sequence(folder):
            check_place(folder, "sequence")
        n = len(self.plans)
        if _stage_folder(folder, n).exists():
            raise ConfigError(
                f"{folder} holds a sequence of more than {n} stages. Use another --out."
            )

    @property
    def record(self) -> Record:
        """The record of the last finished stage."""
        return self.records[-1]

    @property
    def returns(self) -> Floats:
        """Mean held-out returns before the first stage and after each (n_stages + 1, n_tasks)."""
        return self.record.stage_scores[BEFORE:]

    @property
    def spent_before(self) -> Spent:
        """The effort of all stages before the last finished one."""
        spent = [record.spent for record in self.records[:-1]]
        return Spent(sum(each.steps for each in spent), sum(each.seconds for each in spent))

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


def plan_sequence(tasks: Listed[str], config: RunConfig, *, cue: bool = False) -> tuple[Plan, ...]:
    """Return the plans of the stages; refuse tasks that one student cannot learn."""
    if not all(isinstance(task, str) for task in tasks):
        raise ConfigError("The tasks of a sequence are given by their names.")
    found = [find_task(task) for task in tasks]
    _check_tasks(found, config, cue=cue)
    if cue:
        ids = list(dict.fromkeys(task.id for task in found))
        numbers = [ids.index(task.id) + 1 for task in found]
        cued = zip(found, numbers, strict=True)
        found = [find_task(f"{task.id},cue={number}of{len(ids)}") for task, number in cued]
    names = tuple(dict.fromkeys(task.id for task in found)) if len(found) > 1 else ()
    plans: list[Plan] = []
    for task in found:
        plan = plan_run(replace(config, protect=0.0), task, find_teacher(None, task)[0])
        plan = replace(plan, task_sequence=names)
        if plans:
            plan = replace(plan, origin=plans[-1], protect=config.protect)
        plans.append(plan)
    return tuple(plans)


def _check_tasks(tasks: list[Task], config: RunConfig, *, cue: bool) -> None:
    require(tasks, "A sequence needs at least one task")
    require(config.expert is None, "A sequence uses the expert of each task: leave --expert out")
    require(not config.normalise, "Tasks of a sequence differ in scale: leave normalise out")
    first, is_one = tasks[0], len(tasks) == 1
    for task in tasks:
        require(
            is_one or not task.is_supervised,
            f"The tasks of a sequence need an environment, and {task.id} has none",
        )
        require(not task.is_own_code, f"{task.id} is your own code, which no sequence can resume")
        require(not task.variant.cue, f"{task.id} has a cue already: leave it out and give --cue")
        require(
            (task.n_inputs, task.n_outputs) == (first.n_inputs, first.n_outputs),
            f"One student cannot learn {first.id}, of {first.n_inputs} inputs and "
            f"{first.n_outputs} actions, and {task.id}, of {task.n_inputs} and {task.n_outputs}",
        )
    is_single = len({task.id for task in tasks}) == 1
    require(not (cue and is_single), f"A cue tells tasks apart, and {first.id} is the only one")
    require(
        config.protect == 0.0 or not is_one,
        "protect needs an earlier stage: leave it out for a single task",
    )


@known_arguments
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
        Names of tasks of one shape, in the order of learning; a task may be repeated.
    cue
        Add one input per task that says which it is.
    out
        Folder of the stages; an equal call resumes a sequence that was stopped.  None keeps
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
    first = str(tasks[0]) if tasks else ""
    config = RunConfig.for_task(first, **{"preset": USUAL_PRESET, **settings})
    made = Sequence(plan_sequence(tasks, config, cue=cue), None if out is None else Path(out))
    return made.train(*([] if watch is None else [watch]))
