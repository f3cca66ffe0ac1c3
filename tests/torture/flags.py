"""Odd command lines: flags that are none, values out of place, files of another kind."""

import contextlib
import io
import os
import shutil
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.cli import main
from smgrnn.commands.flags import RunOptions
from smgrnn.config import RunConfig, preset_settings
from smgrnn_paper import EvolutionConfig
from support.runs import teacher
from torture.batches import refusal
from torture.files import kinds
from torture.outcomes import Found

VALUES = [
    *("0", "1", "-1", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "9" * 30, "True", "None", ""),
    *("a", "--", "-", "é", "\ud800", "..", "a/b", "CartPole-v1", "xor"),
    *("a:b", "os:system", "json:loads", "a.zip", "a.npz", "a.csv", "a-run", "best", "\x1b[31m"),
]
COMMANDS = [
    *("distill", "evolve", "evaluate", "export", "view", "frontier", "expert", "report", "list"),
    *("reproduce", "bench", "distil", "--help", "", "--version", "-h"),
]
SAFE = {"bench": "--repeats x", "reproduce": "--jobs 0", "expert": "list"}
"""Words that keep a command from going on for hours."""


def _flags(options: Any) -> list[str]:
    return [f"--{entry.name.replace('_', '-')}" for entry in fields(options)]


ENDLESS = {"--episodes", "--rollouts", "--held-out", "--seeds"}
"""Flags whose value may rightly be so large that a command never ends."""
COMMON = ["--out", "--seeds", "--json"]
FLAGS = {
    "distill": [*_flags(RunOptions), *["--set"] * 20, *COMMON, "--preset", "--resume"],
    "evolve": [*_flags(EvolutionConfig), *COMMON],
}
SETTINGS = sorted(
    {*preset_settings(), *preset_settings(RunConfig.for_task("", preset="frugal")), "windw", "seed"}
    - {"episodes"}
)
OTHERS = ["--out", "--to", "--final", "--parameters", "--json", "--task", "--store", "--record"]


def flag_cases(folder: Path) -> Callable[[Random, Path], Found]:
    """Return what makes an odd command line and runs it."""
    expert = teacher(folder, "CartPole-v1")
    runs = [f"{each}/model.safetensors" for each in ("a-run", "best", "evolved")]
    kinds(folder)
    webbrowser.open = lambda *_, **__: True

    def case(rng: Random, here: Path) -> Found:
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        sys.argv = ["smgrnn", *_line(rng, expert, folder, runs)]
        code: Any = 0
        err = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                code = stop.code or 0
        lines = err.getvalue().splitlines()
        if code == 0:
            return Found("worked")
        if code not in (1, 2) or "Traceback" in err.getvalue():
            return Found("traceback", f"code {code}: {lines[-3:]}")
        is_ours = len(lines) == 1 and lines[0].startswith("smgrnn: ")
        return refusal(lines[0]) if is_ours else Found("refused")

    return case


def _line(rng: Random, expert: str, folder: Path, runs: list[str]) -> list[str]:
    name = rng.choice([*COMMANDS[:7], *COMMANDS])
    words = [name, *SAFE.get(name, "").split()]
    if name in ("distill", "evolve"):
        words.append(rng.choice(["CartPole-v1", "xor", "CartPole-v1", rng.choice(VALUES)]))
        short = "--episodes 2 --set checkpoint_every=1" if name == "distill" else "--rollouts 8"
        words += [*short.split(), "--held-out", "1", "--quiet"]
        words += ["--expert", expert] if name == "distill" and words[1] != "xor" else []
        words += ["--dry-run"] if name == "distill" and rng.random() < 0.5 else []
        words += ["--population", "4"] if name == "evolve" else []
    elif name in ("evaluate", "export", "view", "frontier", "report"):
        words.append(str(folder / rng.choice(runs)) if rng.random() < 0.7 else rng.choice(VALUES))
        words += {"evaluate": ["--episodes", "1"], "view": ["--no-open"]}.get(name, [])
        words += ["--to", rng.choice(["c", "json", "graphml", "x"])] if name == "export" else []
        words += ["--out", "out"] if name in ("view", "export") else []
    for _ in range(rng.randrange(4)):
        flag = rng.choice(FLAGS.get(name, OTHERS))
        few = VALUES[:4] if flag in ENDLESS else VALUES
        value = rng.choice(few)
        value = f"{rng.choice(SETTINGS)}={value}" if flag == "--set" else value
        words += [flag, value] if rng.random() < 0.9 else [flag]
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(VALUES))
    return words


os.environ.setdefault("COLUMNS", "100")
