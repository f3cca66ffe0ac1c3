"""Start: a run from a task and settings, or one that continues from the network of another."""

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from smgrnn.config import USUAL_PRESET, EnvBackend, RunConfig
from smgrnn.errors import ConfigError, known_arguments, short
from smgrnn.experts import ExpertSource, find_teacher
from smgrnn.runs.plan import Plan, plan_run
from smgrnn.runs.record import Record
from smgrnn.runs.run import Run
from smgrnn.runs.session import Watch
from smgrnn.tasks import Task, TaskSource, find_task


def new_run(
    task: TaskSource | Task,
    config: RunConfig,
    folder: Path | None = None,
    expert: ExpertSource | None = None,
    start: Record | None = None,
) -> Run:
    """Return a run that has not begun, or the one begun in the folder with these settings.

    The folder is made when the run begins.  With `start` it continues from that record's selected
    network.
    """
    found, source = find_task(task), config.expert if expert is None else expert
    before = None if start is None else start.plan
    if (
        source is None
        and isinstance(before, Plan)
        and before.task.id == found.id
        and before.teacher.kind == "function"
    ):
        raise ConfigError(
            f"The run to continue learned from {before.teacher.name}, which is your own code. Pass "
            f"it or another expert: as --expert on the command line, as expert= in Python."
        )
    identity, teacher = find_teacher(source, found)
    plan = plan_run(config, found, identity, start)
    run = Run._start_or_resume(plan, folder, task=found, expert=teacher)
    if plan.polish and run.plan != plan:
        run._take_polish(plan)
    return run


def start_from(source: Run | Record | str | Path) -> Record:
    """Return the record of a run to continue from."""
    if isinstance(source, str | Path):
        source = Record.load(source)
    record = source.record if isinstance(source, Run) else source
    if not isinstance(record.plan, Plan):
        raise ConfigError("A run can only continue a distillation. Got an evolution instead.")
    return record


def settings_to_continue(start: Record, task: str) -> RunConfig:
    """Return the settings with which a run continues on a task; another task has another expert."""
    plan, expert = start.plan, None
    assert isinstance(plan, Plan)
    backend: EnvBackend | None = None
    if task == plan.task.id:
        if plan.teacher.kind in ("shipped", "file"):
            expert = plan.teacher.name
        if plan.backend == "gymnasium" and plan.task.facts.code is not None:
            backend = "gymnasium"
    return replace(plan.asked or RunConfig(), seed=plan.seed, expert=expert, env_backend=backend)


@known_arguments
def distill(
    task: TaskSource,
    *,
    expert: ExpertSource | None = None,
    out: str | Path | None = None,
    watch: Watch[Run] | None = None,
    start: Run | Record | str | Path | None = None,
    **settings: Any,
) -> Run:
    """Distill the expert of a task into a growing student; every field of RunConfig is a keyword.

    Parameters
    ----------
    task
        A Gymnasium id, a Gymnasium environment, "xor", a file of recorded examples, or a function
        that makes an environment.
    expert
        A model of Stable-Baselines3, an `nn.Module`, a function that gives the action for an
        observation, a file, or the name of a bundled expert or of a function; by default the
        bundled smooth expert.
    out
        Folder of the run, with checkpoints; an equal call resumes a run that was stopped.  None
        keeps nothing.
    watch
        Called with the run every few episodes; by default a terminal shows the progress.
    start
        A run, a record or a folder to continue from: its selected network learns on, on this or
        another task of the same shape, with its settings and the changes given here.  Optimizer and
        statistics start afresh; `Run.resume` continues exactly.
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
    for path, what in ((out, "out"), (start, "start")):
        if not isinstance(path, str | Path | Run | Record | None):
            raise ConfigError(f"The {what!r} of distill is a path. Got {short(path)} instead.")
    if watch is not None and not callable(watch):
        raise ConfigError(f"The 'watch' of distill is a function. Got {short(watch)} instead.")
    found = find_task(task)
    name = "" if found.is_made else found.id
    before = None if start is None else start_from(start)
    if before is None:
        config = RunConfig.for_task(name, **{"preset": USUAL_PRESET, **settings})
    elif "preset" in settings:
        raise ConfigError("A run continues with the settings of the one before: leave preset out.")
    else:
        config = settings_to_continue(before, name).with_changes(**settings)
    run = new_run(found, config, None if out is None else Path(out), expert, before)
    if watch is not None or run.held_out.size or not sys.stderr.isatty():
        run.train(*([] if watch is None else [watch]))
        return run
    display = import_module("smgrnn.commands.display")  # which builds on runs
    with display.Display(f"{found.id} seed {config.seed}", run.plan.n_episodes) as shown:
        run.train(shown.show_run)
    return run
