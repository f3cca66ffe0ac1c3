"""`smgrnn tune`: search for settings, and write those that were found."""

import csv
import io
import json
import math
import re
import shlex
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from smgrnn.batch import Store
from smgrnn.batch.workers import find_executor
from smgrnn.commands.display import Display, stoppable
from smgrnn.commands.distill import named, run_folder
from smgrnn.commands.options import RUN_SETTINGS, TASK, WORKERS, import_from_here, run_settings
from smgrnn.commands.output import Output
from smgrnn.config import USUAL_PRESET, by_part, settings_file
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.pages.page import html
from smgrnn.pages.tuning import describe_best, describe_point, tuning_page
from smgrnn.storage import locked, make_folder, write_file, write_files, writing
from smgrnn.text import quantity
from smgrnn.tuning.space import find_space
from smgrnn.tuning.study import Found, Question, Study, Trial

FIRST_SEED = 1000
"""First seed of trials: those of experiments, from 0 on, are to choose no settings."""
IDENTITY = "study.json"
"""File that says what a study asks, so that no other one is resumed in its folder."""
KIND, VERSION = "study", 2
STORE = "store"
BEST = "settings.toml"
"""File of the settings that were found."""
FRONT = "front"
"""Folder of the settings of all points of the front."""

OPTIONS = f"""{TASK}{RUN_SETTINGS}
the search:
  --over SETTING ...  settings to tune, each with a range or values, such as
                      plasticity.window=10:200:log or learning.schedule=constant,falling; or ready
                      spaces: plasticity, learning, frugal
  --trials N [160]    trials in all, rounded up to whole batches
  --minutes MINUTES   begin no batch after this time; the same command resumes the search
  --seeds N [8]       seeds of a trial, from --seed (default: 1000) upwards; poor trials are stopped
                      after one, two, four …
  --batch N [16]      trials in a batch, of which half are stopped at each stage
  --price RETURN      maximize the return less this price per parameter, instead of a Pareto front
  --floor RETURN      least return on the front (default: that of the preset's worst run)
  --out FOLDER        folder of the study; the same command resumes it (default:
                      runs/TASK-tune-SEED)
{WORKERS}"""


def run(args: Namespace, output: Output) -> None:
    """Run a study, or resume it, and write its settings files and its page."""
    import_from_here(args.task, args.expert)
    task = named(args.task)
    config = run_settings(args, task, seed=FIRST_SEED)
    question = Question(
        task=task,
        start=config,
        space=find_space(args.over, config),
        n_seeds=args.seeds,
        batch=args.batch,
        price=args.price,
        floor=args.floor,
    )
    if args.trials < 1:
        raise ConfigError(f"The number of trials must be at least 1. Got {args.trials} instead.")
    if args.minutes is not None and not args.minutes > 0:
        raise ConfigError(f"The minutes must be more than 0. Got {args.minutes} instead.")
    identity = question.identity()
    folder = args.out or run_folder(task, "tune", config.seed, None, 1)
    until = float("inf") if args.minutes is None else time.monotonic() + 60 * args.minutes
    with writing(folder):
        make_folder(folder)
    with (
        locked(folder),
        stoppable(f"Finished trials are in {folder}; repeat the command to resume."),
        find_executor(args.jobs, args.scheduler) as executor,
    ):
        _check_identity(folder, {"smgrnn": KIND, "version": VERSION, **identity})
        study = Study(question, Store(folder / STORE), executor)
        n_shown = args.batch * math.ceil(args.trials / args.batch)
        with Display("trials", n_shown, is_quiet=output.quiet) as display:

            def show(found: Found) -> None:
                line = "the preset itself …"
                if found.trials:
                    best = describe_point(found.best.point)
                    line = f"best: {best} · front of {len(found.front)}"
                line += f" · {quantity(found.n_runs, 'run')}, {found.n_stored} found"
                display.show(line, max(len(found.trials) - 1, 0))

            found = study.run(args.trials, until=until, watch=show)
        importances = study.importances()
        with writing(folder):
            _write(found, importances, args.preset or USUAL_PRESET, folder)
    n_stopped = sum(not each.is_whole and not each.error for each in found.trials)
    n_failed = sum(bool(each.error) for each in found.trials)
    n_trials, best, page = len(found.trials) - 1, folder / BEST, folder / "index.html"
    words = (
        f"The preset: {describe_point(found.start.point)}. {describe_best(found)}\n"
        f"{quantity(n_trials, 'trial')} ({n_stopped} stopped early, {n_failed} failed), "
        f"{quantity(found.n_runs, 'run')}; {found.n_stored} were in the store.\n"
        f"Use the settings by --preset {shlex.quote(str(best))}; the whole front is in "
        f"{folder / FRONT}, and {page} shows it."
    )
    figures = {
        "task": task,
        "trials": n_trials,
        "runs": found.n_runs,
        "found": found.n_stored,
        "preset": _figures(found.start),
        "best": _figures(found.best),
        "front": [_figures(each) for each in found.front],
        "area": found.area,
        "importances": importances,
        "settings": str(best),
        "page": str(page),
    }
    output.result(words, figures)


def _figures(trial: Trial) -> dict[str, Any]:
    mean, parameters = trial.point
    shown = {"trial": trial.number, "return": mean, "parameters": parameters}
    return shown | {"settings": trial.settings}


def _check_identity(folder: Path, content: dict[str, Any]) -> None:
    """Write what the study asks into a new folder; refuse a folder of anything else."""
    path = folder / IDENTITY
    if not path.exists():
        if any(not each.name.startswith(".") for each in folder.iterdir()):  # a lock is no content
            raise ConfigError(f"{folder} holds other things than a study: choose another --out.")
        write_file(path, json.dumps(content, indent=1).encode())
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
        differing = [name for name in content if there.get(name) != content[name]]
    except (ValueError, AttributeError) as error:
        raise FileFormatError(f"{path} does not describe a study.") from error
    if differing:
        raise ConfigError(
            f"{folder} holds another study, with another {differing[0]!r}: choose another --out."
        )


def _write(found: Found, importances: dict[str, float], preset: str, folder: Path) -> None:
    """Write the settings files, the table of trials and the page."""
    question = found.question

    def settings(trial: Trial) -> bytes:
        about = {
            "command": shlex.join(["smgrnn", *sys.argv[1:]]),
            "result": f"{describe_point(trial.point)}, where the preset has "
            f"{describe_point(found.start.point)}; means over seeds {question.seeds[0]} to "
            f"{question.seeds[-1]}, which chose the settings",
        }
        config = question.start.with_changes(**by_part(trial.settings))
        return settings_file(question.task, preset, config, about).text().encode()

    names, table = [each.name for each in question.space], io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["trial", "seeds", "return", "parameters", "front", "error", *names])
    for each in found.trials:
        point = each.point if each.returns else ("", "")
        file = f"{each.number}.toml" if each in found.front else ""
        values = [each.settings.get(name, "") for name in names]
        writer.writerow([each.number, len(each.returns), *point, file, each.error, *values])
    page = html(tuning_page(found, importances)).encode()
    results = {BEST: settings(found.best), "trials.csv": table.getvalue().encode()}
    files = {f"{each.number}.toml": settings(each) for each in found.front}
    make_folder(folder / FRONT)
    for old in (folder / FRONT).iterdir():
        if re.fullmatch(r"[0-9]+\.toml", old.name) and old.name not in files:
            old.unlink()
    write_files(folder, results | {"index.html": page})
    write_files(folder / FRONT, files)
