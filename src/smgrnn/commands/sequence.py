"""`smgrnn sequence`: one network, several tasks one after the other."""

import json
import shlex
from argparse import Namespace
from pathlib import Path

from smgrnn.commands.display import Display, draw_pictures, stoppable
from smgrnn.commands.options import RUN_SETTINGS, run_settings
from smgrnn.commands.output import Output, aligned
from smgrnn.runs.pictures import draw_stage_scores
from smgrnn.runs.sequences import Sequence, plan_sequence
from smgrnn.runs.stage_scores import FIGURES
from smgrnn.runs.words import describe
from smgrnn.storage import write_file

SUMMARY, COURSE = "sequence.json", "stage_scores.png"

OPTIONS = f"""
[TASK ...]            tasks of one shape, in the order of learning; a task may be repeated
{RUN_SETTINGS}
the sequence:
  --cue               add one input per task that names it
  --out FOLDER        folder of the stages; the same command resumes a sequence that was stopped
                      (default: runs/sequence-STUDENT-SEED)
"""


def run(args: Namespace, output: Output) -> None:
    """Train all stages, show progress, and print returns by stage and task."""
    config = run_settings(args, "".join(args.tasks[:1]))
    plans = plan_sequence(tuple(args.tasks), config, cue=args.cue)
    folder = args.out or Path("runs") / f"sequence-{config.student}-{config.seed}"
    made = Sequence(plans, folder)
    with made.owned():
        while (number := len(made.records)) < len(plans):
            name = f"{plans[number].task.id}, stage {number + 1} of {len(plans)}"
            with (
                stoppable(f"Repeat the command to resume in {shlex.quote(str(folder))}."),
                Display(name, plans[number].n_episodes, is_quiet=output.quiet) as display,
            ):
                record = made.train_next(display.show_run)
            stage_folder = made.stage_folder(number)
            assert stage_folder is not None
            draw_pictures(record, stage_folder)
        summary = made.summary()
        write_file(folder / SUMMARY, (json.dumps(summary, indent=2) + "\n").encode())
        if "stage_scores" not in summary:
            output.result(describe(summary), summary)
            return
        draw_stage_scores(made.record, folder / COURSE)
    stage_scores, sizes = summary["stage_scores"], summary["n_parameters_by_stage"]
    rows = [("", *stage_scores["tasks"], "parameters")]
    names = ("before the first stage", *stage_scores["stages"])
    for name, returns, size in zip(names, stage_scores["returns"], ("", *sizes), strict=True):
        rows.append((name, *(f"{value:.1f}" for value in returns), str(size)))
    figures = {name.replace("_", " "): summary[name] for name in FIGURES}
    words = (f"{word} {value:.2f}" for word, value in figures.items() if value is not None)
    last = f"As fractions of the experts' return beyond random: {', '.join(words)}."
    output.result("\n".join([*aligned(rows, 1), last]), summary)
