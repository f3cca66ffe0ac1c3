"""`smgrnn evaluate`: score the student of a run on held-out episodes."""

from pathlib import Path

from smgrnn.commands.display import print_score
from smgrnn.errors import ConfigError
from smgrnn.runs.evaluation import evaluate
from smgrnn.runs.metrics import held_out_likeness
from smgrnn.runs.record import Record


def evaluate_command(
    path: Path, episodes: int, task: str | None = None, *, is_best: bool, as_json: bool
) -> None:
    """Score the student of a run, in a folder or in a file of the store."""
    if episodes < 1:
        raise ConfigError(f"The number of episodes must be at least 1. Got {episodes} instead.")
    record = Record.load(path)
    returns = evaluate(record, episodes, best=is_best, task=task)
    which = "best checkpoint" if is_best else "final student"
    likeness = held_out_likeness(record.plan.task, returns)
    print_score(f"{record.plan.task.id}, {which} of {path}", returns, likeness, as_json=as_json)
