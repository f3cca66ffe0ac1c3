"""`smgrnn tune`: search for settings, and write the best and the Pareto front."""

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

from smgrnn.commands.display import Display, stoppable
from smgrnn.commands.distill import named, run_folder
from smgrnn.commands.options import RUN_SETTINGS, TASK, WORKERS, import_from_here, run_settings
from smgrnn.commands.output import Output
from smgrnn.config import USUAL_PRESET, settings_file
from smgrnn.errors import ConfigError, FileFormatError
from smgrnn.storage import check_place, locked, make_folder, write_file, write_files, writing
from smgrnn.text import number, quantity
from smgrnn.tuning.space import find_space
from smgrnn.tuning.study import Point, Study, Trial
from smgrnn.validation import Count, Positive, checked
from smgrnn.workers import find_executor

FIRST_SEED = 1000
"""First seed of trials.  Those of experiments, from 0 on, must not select settings."""
KIND, VERSION = "study", 2

OPTIONS = f"""{TASK}{RUN_SETTINGS}
the search:
  --over SETTING ...  settings to tune, each with a range or values, such as
                      plasticity.window=10:200:log or learning.schedule=constant,falling; or ready
                      spaces: plasticity, learning, frugal
  --trials N [160]    trials in all, rounded up to whole batches
  --minutes MINUTES   stop after this time and report the best so far; the same command resumes
                      the search
  --seeds N [8]       seeds of a trial, from --seed (default: 1000) upwards; poor trials are stopped
                      after one, two, four …
  --batch N [16]      trials in a batch, of which half are stopped at each stage
  --floor RETURN      least return on the Pareto front (default: that of the preset's worst run)
  --out FOLDER        folder of the study; the same command resumes it (default:
                      runs/TASK-tune-SEED)
{WORKERS}"""


def run(args: Namespace, output: Output) -> None:
    """Run a study, or resume it, and write its settings files and its table."""
    import_from_here(args.task, args.expert)
    task = named(args.task)
    config = run_settings(args, task, seed=FIRST_SEED)
    folder = args.out or run_folder(task, "tune", config.seed, None, 1)
    study = Study(
        task=task,
        start=config,
        space=find_space(args.over, config),
        folder=folder,
        n_seeds=args.seeds,
        batch=args.batch,
        floor=args.floor,
    )
    checked(args.trials, Count, "--trials")
    checked(args.minutes, Positive | None, "--minutes")
    until = math.inf if args.minutes is None else time.monotonic() + 60 * args.minutes
    identity = {"smgrnn": KIND, "version": VERSION, **study.identity()}

    def show(study: Study) -> None:
        line = "the preset itself …"
        if study.trials:
            line = f"best: {_describe(study.best.point)} · front of {len(study.front)}"
        line += f" · {quantity(study.n_runs, 'run')}, {study.n_stored} found"
        display.show(line, max(len(study.trials) - 1, 0))

    with writing(folder):
        make_folder(folder)
    with (
        locked(folder),
        stoppable(f"Finished trials are in {folder}; repeat the command to resume."),
        find_executor(args.jobs, args.scheduler) as executor,
    ):
        _check_identity(folder / "study.json", identity)
        n_shown = args.batch * math.ceil(args.trials / args.batch)
        try:
            with Display("trials", n_shown, is_quiet=output.quiet) as display:
                study.run(args.trials, executor, until, show)
        except KeyboardInterrupt:
            if study.trials:
                _report(study, args, output)
            raise
        if study.is_cut:
            executor.shutdown(wait=False)  # ends the runs under way
        if not study.trials:
            raise ConfigError(
                f"No run finished in {args.minutes:g} minutes. Give more --minutes; the same "
                f"command resumes the search."
            )
        _report(study, args, output)


def _report(study: Study, args: Namespace, output: Output) -> None:
    """Write the files of a study, and print its result."""
    folder, trials = study.folder, study.trials
    with writing(folder):
        _write(study, args.preset or USUAL_PRESET)
    best = folder / "settings.toml"
    n_failed = sum(bool(each.error) for each in trials)
    n_stopped = len(trials) - len(study.whole) - n_failed
    words = (
        f"The preset: {_describe(trials[0].point)}. {_describe_best(study)}\n"
        f"{quantity(len(trials) - 1, 'trial')} ({n_stopped} stopped early, {n_failed} failed), "
        f"{quantity(study.n_runs, 'run')}; {study.n_stored} were in the store.\n"
        f"Use the settings by --preset {shlex.quote(str(best))}; the whole front is in "
        f"{folder / 'front'}."
    )
    if study.is_cut:
        words += (
            f"\nThis is the best so far, compared by {study.n_seeds} of "
            f"{quantity(args.seeds, 'seed')}. The same command resumes the search."
        )
    figures = {
        "task": study.task,
        "trials": len(trials) - 1,
        "seeds": study.n_seeds,
        "stopped": study.is_cut,
        "runs": study.n_runs,
        "found": study.n_stored,
        "preset": _figures(trials[0]),
        "best": _figures(study.best),
        "front": [_figures(each) for each in study.front],
        "area": study.area,
        "settings": str(best),
    }
    output.result(words, figures)


def _figures(trial: Trial) -> dict[str, Any]:
    mean, parameters = trial.point
    shown = {"trial": trial.number, "return": mean, "parameters": parameters}
    return shown | {"settings": trial.settings}


def _check_identity(path: Path, content: dict[str, Any]) -> None:
    """Write the identity of a study into a new folder; refuse a folder of anything else."""
    folder = path.parent
    if not path.is_file():  # a pipe of a stranger would be waited for
        check_place(folder, "study")
        write_file(path, json.dumps(content, indent=1).encode())
        return
    try:
        there = dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{path} does not describe a study.") from error
    for name in content | there:
        if there.get(name) != content.get(name):
            raise ConfigError(
                f"{folder} holds another study, with another {name!r}: choose another --out."
            )


def _write(study: Study, preset: str) -> None:
    """Write the settings files and the table of trials."""

    def settings(trial: Trial) -> bytes:
        about = {
            "command": shlex.join(["smgrnn", *sys.argv[1:]]),
            "result": f"{_describe(trial.point)}, where the preset has "
            f"{_describe(study.trials[0].point)}; means over seeds {study.seeds[0]} to "
            f"{study.seeds[-1]}, which chose the settings",
        }
        config = study.start.with_named(trial.settings)
        return settings_file(study.task, preset, config, about).text().encode()

    front = {f"{each.number}.toml": settings(each) for each in study.front}
    names, table = [each.name for each in study.space], io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["trial", "seeds", "return", "parameters", "front", "error", *names])
    for each in study.trials:
        point, file = each.point if each.returns else ("", ""), f"{each.number}.toml"
        values = [each.settings.get(name, "") for name in names]
        shown = [each.number, len(each.returns), *point, file if file in front else "", each.error]
        writer.writerow([*shown, *values])
    results = {
        "settings.toml": settings(study.best),
        "trials.csv": table.getvalue().encode(),
    }
    make_folder(study.folder / "front")
    for old in (study.folder / "front").iterdir():
        if re.fullmatch(r"[0-9]+\.toml", old.name) and old.name not in front:
            old.unlink()
    write_files(study.folder, results)
    write_files(study.folder / "front", front)


def _describe(point: Point) -> str:
    """Return a return and a number of parameters in words.

    >>> _describe(Point(-81.04, 21.5))
    'return −81.0 with 21.5 parameters'
    """
    return f"return {number(point.mean_return, 1)} with {number(point.parameters, 1)} parameters"


def _describe_best(study: Study) -> str:
    """Return in a sentence which settings are the best."""
    if not study.front:
        floor = number(study.worst.mean_return, 1)
        return f"No trial returns {floor} or more: the settings are those of the preset."
    best = study.best
    which = f"trial {best.number}" if best.number else "the preset itself"
    return f"The best settings: {_describe(best.point)}, {which}."
