"""`smgrnn sequence`: one student, several tasks one after the other."""

import json
import shlex
from pathlib import Path
from typing import Any

from smgrnn.commands.display import RunDisplay, describe, stoppable
from smgrnn.commands.distill import draw_pictures
from smgrnn.commands.output import Output
from smgrnn.config import RunConfig
from smgrnn.runs.course import FIGURES
from smgrnn.runs.pictures import draw_course
from smgrnn.runs.record import Record
from smgrnn.runs.sequences import Sequence, plan_sequence
from smgrnn.storage import write_file, writing

SUMMARY, COURSE = "sequence.json", "course.png"


def sequence_command(
    tasks: tuple[str, ...],
    config: RunConfig,
    out: Path | None,
    output: Output,
    *,
    has_cue: bool,
) -> None:
    """Train all stages, show progress, and print what came of them."""
    plans = plan_sequence(tasks, config, cue=has_cue)
    name = f"sequence-{config.student}-{config.seed}"
    folder = Path("runs") / name if out is None else out
    made = Sequence(plans, folder)
    with made.owned():
        while len(made.records) < len(plans):
            record = _train_stage(made, output)
            draw_pictures(record, _folder(made, len(made.records) - 1))
        summary = made.summary()
        with writing(folder / SUMMARY):
            write_file(folder / SUMMARY, (json.dumps(summary, indent=2) + "\n").encode())
        if "course" in summary:
            draw_course(made.record, folder / COURSE)
    words = describe_course(summary) if "course" in summary else describe(summary)
    output.result(words, summary)


def _folder(made: Sequence, number: int) -> Path:
    folder = made.stage_folder(number)
    assert folder is not None
    return folder


def _train_stage(made: Sequence, output: Output) -> Record:
    """Train the next stage, with progress."""
    number = len(made.records)
    plan = made.plans[number]
    name = f"{plan.task.id}, stage {number + 1} of {len(made.plans)}"
    with (
        stoppable(f"The same command goes on in {shlex.quote(str(made.folder))}."),
        RunDisplay(name, plan.n_episodes, is_quiet=output.quiet) as display,
    ):
        return made.train_next(display)


def describe_course(summary: dict[str, Any]) -> str:
    """Return the results of a sequence in a few lines: returns by stage and task, then figures."""
    course, sizes = summary["course"], summary["n_parameters_by_stage"]
    width = max(map(len, [*course["stages"], "before the first stage"])) + 2
    rows = ["before the first stage", *course["stages"]]
    lines = [" " * width + "  ".join(course["tasks"]) + "  parameters"]
    for row, returns, size in zip(rows, course["returns"], ["", *sizes], strict=True):
        cells = (
            f"{value:.1f}".rjust(len(task))
            for value, task in zip(returns, course["tasks"], strict=True)
        )
        lines.append(f"{row:<{width}}{'  '.join(cells)}  {size}")
    figures = {name.replace("_", " "): summary[name] for name in FIGURES}
    words = (f"{word} {value:.2f}" for word, value in figures.items() if value is not None)
    lines.append(f"Of the teachers' gap over random: {', '.join(words)}.")
    return "\n".join(lines)
