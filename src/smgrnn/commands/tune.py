"""`smgrnn tune`: search for settings, and write those that were found."""

import csv
import io
import json
import math
import re
import shlex
import time
from pathlib import Path
from typing import Any

from rich import progress as bars

from smgrnn.batch import Store
from smgrnn.batch.workers import find_executor
from smgrnn.commands.display import Display, stoppable
from smgrnn.commands.distill import named, run_folder
from smgrnn.commands.flags import Effort, Workers
from smgrnn.commands.output import Output
from smgrnn.config import RunConfig, by_part, settings_file
from smgrnn.errors import ConfigError, FileFormatError, short
from smgrnn.pages.page import html
from smgrnn.pages.tuning import describe_best, describe_point, tuning_page
from smgrnn.storage import locked, make_folder, write_file, write_files, writing
from smgrnn.text import quantity
from smgrnn.tuning.space import find_space
from smgrnn.tuning.study import Found, Question, Study, Trial

IDENTITY = "study.json"
"""File that says what a study asks, so that no other one goes on in its folder."""
KIND, VERSION = "study", 2
STORE = "store"
BEST = "settings.toml"
"""File of the settings that were found."""
FRONT = "front"
"""Folder of the settings of all points of the front."""
TABLE = "trials.csv"
"""File of all trials, which says whose settings are in the folder of the front."""


def ask(task: str, config: RunConfig, over: tuple[str, ...], effort: Effort) -> Question:
    """Return the question of a study over a search space; refuse a wrong one."""
    return Question(
        task=named(task),
        start=config,
        space=find_space(over, config),
        n_seeds=effort.seeds,
        batch=effort.batch,
        price=effort.price,
        floor=effort.floor,
    )


class TuneDisplay(Display):
    """Live progress of a study: give an instance as a watch, inside a `with` block."""

    def __init__(self, n_trials: int, *, is_quiet: bool = False) -> None:
        left = bars.TimeElapsedColumn()
        super().__init__("trials", "the preset itself …", left, is_quiet=is_quiet, total=n_trials)

    def __call__(self, found: Found) -> None:
        """Show the progress of the study."""
        runs = f"{quantity(found.n_runs, 'run')}, {found.n_stored} found"
        if found.trials:
            best = describe_point(found.best.point)
            self.line = f"best: {best} · front of {len(found.front)} · {runs}"
        self.update(self.bar, completed=max(len(found.trials) - 1, 0))


def tune_command(
    question: Question,
    preset: str | Path,
    out: Path | None,
    effort: Effort,
    workers: Workers,
    output: Output,
    *,
    command: list[str],
) -> None:
    """Run a study, or go on with it, and write its settings files and its page."""
    n_trials, minutes = effort.trials, effort.minutes
    if n_trials < 1:
        raise ConfigError(f"The number of trials must be at least 1. Got {n_trials} instead.")
    if minutes is not None and not minutes > 0:
        raise ConfigError(f"The minutes must be more than 0. Got {minutes} instead.")
    identity = question.identity()
    folder = out or run_folder(named(question.task), "tune", question.start.seed, None, 1)
    until = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    with writing(folder):
        make_folder(folder)
    told = f"Finished trials are in {folder}; the same command goes on."
    with (
        locked(folder),
        stoppable(told),
        find_executor(workers.jobs, workers.scheduler) as executor,
    ):
        _check_identity(folder, identity)
        study = Study(question, Store(folder / STORE), executor)
        n_shown = question.batch * math.ceil(n_trials / question.batch)
        with TuneDisplay(n_shown, is_quiet=output.quiet) as display:
            found = study.run(n_trials, until=until, watch=display)
        with writing(folder):
            figures = _write(study, found, preset, folder, shlex.join(["smgrnn", *command]))
    output.result(describe(found, folder), figures)


def _check_identity(folder: Path, identity: dict[str, Any]) -> None:
    """Write what the study asks into a new folder; refuse that of another study, or of none."""
    path, content = folder / IDENTITY, {"smgrnn": KIND, "version": VERSION, **identity}
    if not path.exists():
        if any(not each.name.startswith(".") for each in folder.iterdir()):  # a lock is no content
            raise ConfigError(f"{folder} holds other things than a study: choose another --out.")
        write_file(path, json.dumps(content, indent=1).encode())
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
        version = there.get("version")
        differing = [name for name in content if there.get(name) != content[name]]
    except (ValueError, AttributeError) as error:
        raise FileFormatError(f"{path} does not describe a study.") from error
    if version != VERSION:
        raise FileFormatError(
            f"{folder} holds a study of version {short(version)}, and this smgrnn goes on with "
            f"version {VERSION}: choose another --out."
        )
    if differing:
        raise ConfigError(
            f"{folder} holds another study, with another {differing[0]!r}: choose another "
            f"--out, or go on by the command that it was begun with."
        )


def _write(
    study: Study, found: Found, preset: str | Path, folder: Path, command: str
) -> dict[str, Any]:
    """Write the settings files, the table of trials and the page; return the result as values."""
    importances = study.importances()
    results = {
        BEST: _file(found, found.best, preset, command),
        TABLE: _table(found).encode(),
        "index.html": html(tuning_page(found, importances)).encode(),
    }
    files = {_name(each): _file(found, each, preset, command) for each in found.front}
    make_folder(folder / FRONT)
    for old in _listed(folder / TABLE) - set(files):
        (folder / FRONT / old).unlink(missing_ok=True)
    write_files(folder, results)  # first, as what the table does not list is never removed
    write_files(folder / FRONT, files)
    return {
        "task": found.question.task,
        "trials": len(found.trials) - 1,
        "runs": found.n_runs,
        "found": found.n_stored,
        "preset": _figures(found.start),
        "best": _figures(found.best),
        "front": [_figures(each) for each in found.front],
        "area": found.area,
        "importances": importances,
        "settings": str(folder / BEST),
        "page": str(folder / "index.html"),
    }


def _figures(trial: Trial) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "return": trial.point.mean_return,
        "parameters": trial.point.parameters,
        "settings": trial.settings,
    }


def _file(found: Found, trial: Trial, preset: str | Path, command: str) -> bytes:
    question = found.question
    seeds = f"seeds {question.seeds[0]} to {question.seeds[-1]}"
    about = {
        "command": command,
        "result": f"{describe_point(trial.point)}, where the preset has "
        f"{describe_point(found.start.point)}; means over {seeds}, which chose the settings",
    }
    config = question.start.with_changes(**by_part(trial.settings))
    return settings_file(question.task, preset, config, about).text().encode()


def _name(trial: Trial) -> str:
    return f"{trial.number}.toml"


def _table(found: Found) -> str:
    names = [each.name for each in found.question.space]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "seeds", "return", "parameters", "front", "error", *names])
    for each in found.trials:
        point = each.point if each.returns else ("", "")
        file = _name(each) if each in found.front else ""
        values = [each.settings.get(name, "") for name in names]
        writer.writerow([each.number, len(each.returns), *point, file, each.error, *values])
    return text.getvalue()


def _listed(table: Path) -> set[str]:
    """Return the files of the front that the table of an earlier session lists, if there is one."""
    if not table.exists():
        return set()
    with table.open(encoding="utf-8", errors="replace", newline="") as file:
        names = {row.get("front") or "" for row in csv.DictReader(file)}
    return {name for name in names if re.fullmatch(r"[0-9]+\.toml", name)}


def describe(found: Found, folder: Path) -> str:
    """Return the result of a study in a few sentences."""
    n_stopped = sum(not each.is_whole and not each.error for each in found.trials)
    n_failed = sum(bool(each.error) for each in found.trials)
    failed = f", {n_failed} could not be run" if n_failed else ""
    lines = [
        f"The preset: {describe_point(found.start.point)}. {describe_best(found)}",
        f"{quantity(len(found.trials) - 1, 'trial')}, of which {n_stopped} were stopped early"
        f"{failed}; {quantity(found.n_runs, 'run')}, and {found.n_stored} that were there already.",
        f"Use them by --preset {shlex.quote(str(folder / BEST))}; the whole front is in "
        f"{folder / FRONT}, and {folder / 'index.html'} shows it.",
    ]
    return "\n".join(lines)
