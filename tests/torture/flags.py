"""Odd command lines: flags that are none, values out of place, files of another kind."""

import contextlib
import io
import os
import shutil
import sys
import webbrowser
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

from smgrnn.cli import main
from smgrnn.commands.options import RUN_OPTIONS
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


def _flags(names: Iterable[str]) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in names]


ENDLESS = {"--episodes", "--rollouts", "--held-out", "--seeds"}
"""Flags whose value may rightly be so large that a command never ends."""
FLAGS = {
    "distill": [
        *_flags(RUN_OPTIONS),
        *["--set"] * 20,
        "--out",
        "--preset",
        "--resume",
        "--seeds",
        "--json",
    ],
    "evolve": [
        *_flags(entry.name for entry in fields(EvolutionConfig)),
        "--out",
        "--seeds",
        "--json",
    ],
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
        words = _line(rng, expert, folder, runs)
        return _said(*_run(words))

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


def _run(words: list[str]) -> tuple[int, str]:
    """Run a command line here; return its code and what it said on stderr."""
    sys.argv = ["smgrnn", *words]
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    return (code if isinstance(code, int) else 1), err.getvalue()


def _said(code: int, err: str) -> Found:
    if code == 0:
        return Found("worked")
    if code not in (1, 2) or "Traceback" in err:
        return Found("traceback", f"code {code}: {err[-300:]}")
    told = [line for line in err.splitlines() if line.startswith("smgrnn: ")]
    return refusal(told[0]) if told and len(err.splitlines()) == 1 else Found("refused")


os.environ.setdefault("COLUMNS", "100")
