"""`smgrnn evaluate`: score the students of runs on held-out episodes."""

from collections.abc import Iterable
from pathlib import Path

from smgrnn.arrays import Floats
from smgrnn.commands.display import print_score, score_figures
from smgrnn.commands.flags import Which
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.folder import load_runs
from smgrnn.runs.metrics import held_out_likeness
from smgrnn.runs.record import Record


def evaluate_command(
    paths: Iterable[Path], episodes: int, task: str | None, which: Which, output: Output
) -> None:
    """Score the student of each run, in a folder or in a file of the store."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    records = load_runs(paths)
    scores = (_score(name, each, episodes, task, which) for name, each in records.items())
    if output.as_json and len(records) > 1:
        output.result("", [score_figures(*score) for score in scores])
        return
    for score in scores:
        print_score(*score, output)


def _score(
    name: str, record: Record, n: int, task: str | None, which: Which
) -> tuple[str, Floats, dict[str, float]]:
    """Return the name of a student, its returns, and its likeness to a recording."""
    returns = evaluate(record, n, task=task, **vars(which))
    student = record.student(**vars(which))
    moment = "the champion" if record.is_evolved else f"episode {student.episode}"
    what = f"{record.plan.task.id}, {student.n_parameters} parameters, {moment} of {name}"
    return what, returns, held_out_likeness(record.plan.task, returns)
