"""`smgrnn evaluate`: score the student of a run on held-out episodes."""

from pathlib import Path

from smgrnn.commands.display import print_score
from smgrnn.errors import ConfigError
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.metrics import held_out_likeness
from smgrnn.runs.record import Record


def evaluate_command(
    path: Path,
    episodes: int,
    task: str | None = None,
    *,
    final: bool = False,
    parameters: int | None = None,
    as_json: bool,
    is_quiet: bool = False,
) -> None:
    """Score the student of a run, in a folder or in a file of the store."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    record = Record.load(path)
    returns = evaluate(record, episodes, final=final, parameters=parameters, task=task)
    student = record.student(final=final, parameters=parameters)
    moment = "the champion" if record.is_evolved else f"episode {student.episode}"
    what = f"{record.plan.task.id}, {student.n_parameters} parameters, {moment} of {path}"
    likeness = held_out_likeness(record.plan.task, returns)
    print_score(what, returns, likeness, as_json=as_json, is_quiet=is_quiet)
