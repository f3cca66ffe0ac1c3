"""Odd settings, command lines and environments, many in one child of bounded memory and time."""

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import traceback
import webbrowser
from collections.abc import Callable
from dataclasses import fields
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import smgrnn
import smgrnn_paper
from smgrnn.cli import main
from smgrnn.commands.flags import RunOptions
from smgrnn.config import RunConfig, preset_settings
from smgrnn.errors import SmgrnnError
from smgrnn.learning import LEARNING, OPTIMIZERS
from smgrnn.rules import GROWTH, PRUNING
from smgrnn.runs.distillation import STUDENTS
from smgrnn.runs.run import new_run
from smgrnn_paper import EvolutionConfig
from smgrnn_paper.evolution.evolution import new_evolution
from support.runs import settings, teacher
from torture.children import Child
from torture.files import NUMBERS, Case, kinds, mutated, odd, places
from torture.outcomes import BAD, Found
from torture.works import Bench

MOST_MEMORY = 2 * 2**30
"""Bytes beyond what a child has already: what asks for more cannot be had."""
MOST_CPU = 30.0
"""Seconds of CPU time after which an input hangs."""


def batch(case: Case, seed: str, n: int, bench: Bench) -> list[Found]:
    """Try `n` inputs in a child; if it dies of one, the rest is left out."""
    folder, now = bench.new_folder(), RawValue("q")
    answers = folder.with_name(f"{folder.name}.answers")

    def work() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + MOST_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, whatever it does
        with answers.open("a", buffering=1) as file:
            for number in range(n):
                now.value = number
                signal.setitimer(signal.ITIMER_PROF, MOST_CPU)
                found = judged(case, Random(f"{seed}/{number}"), Path.cwd())
                if found.outcome in BAD:
                    found = Found(found.outcome, f"input {number} of {seed}: {found.detail}")
                file.write(json.dumps(found) + "\n")
        signal.setitimer(signal.ITIMER_PROF, 0)

    ended = Child(work, folder).wait()
    found = [Found(*json.loads(line)) for line in answers.read_text().splitlines()]
    if ended.code == 0 and len(found) == n:
        return found
    words = f"code {ended.code}, input {now.value} of {seed}: {ended.err.strip()[-300:]}"
    is_hang = ended.code == -signal.SIGPROF or ended.is_hung
    return [*found, Found("hang" if is_hang else "crash", words)]


def judged(case: Case, rng: Random, folder: Path) -> Found:
    """Return the outcome of an input; an error of ours is a refusal."""
    try:
        return case(rng, folder)
    except SmgrnnError as error:
        return refusal(str(error))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-3:]
        where = " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in last[::-1])
        return Found("traceback", f"{type(error).__name__}: {str(error)[:200]} at {where}")


def refusal(sentence: str) -> Found:
    """Return whether a refusal is one sentence."""
    is_one = sentence.isprintable() and sentence.endswith((".", "?"))
    return Found("refused") if is_one else Found("wordy", ascii(sentence[-300:]))


# --- settings ------------------------------------------------------------------------------------

FEW = {"episodes": 3, "held_out": 1, "checkpoint_every": 2}
EXTREMES: dict[str, list[Any]] = {
    **{"growth": [*GROWTH, "none"], "pruning": [*PRUNING, "none"], "optimizer": [*OPTIMIZERS]},
    **{"rule": [*LEARNING], "student": [*STUDENTS], "handover": ["best", "final"]},
    **{"interval": [1, 2, "episode"], "max_nodes": [6, 7, 20], "max_edges": [8, 9, 40]},
    **{name: ["keep", "reset"] for name in ("history_on_edit", "optimizer_on_edit")},
    **{"seed": [0, 2**63 - 1], **{name: [1, 2] for name in FEW}},
}
"""Values at the edges of what is allowed, which together no test has tried."""
BY_TYPE: dict[type, list[Any]] = {
    **{bool: [True, False], int: [1, 2, 30], float: [0.0, 1e-9, 1.0, 1e6], type(None): [None, 9]},
}
"""Those of all other settings, by the type of the usual value."""


def settings_cases(folder: Path) -> Case:
    """Return what makes odd settings and tries them."""
    expert = teacher(folder, "CartPole-v1")

    def case(rng: Random, here: Path) -> Found:
        if rng.random() < 0.1:
            return _evolve(rng)
        task = rng.choice(["CartPole-v1", "xor"])
        given: dict[str, Any] = {"preset": rng.choice(["paper", "frugal"]), **FEW}
        given |= {"expert": expert} if task == "CartPole-v1" else {}
        config = RunConfig.for_task(task, **given)
        if rng.random() < 0.5:
            config = settings(folder, task, **given)
        values = config.to_dict()
        for _ in range(rng.randrange(8)):
            holder, name = rng.choice(list(places(values)))
            known = EXTREMES.get(name) or BY_TYPE.get(type(holder[name]))
            holder[name] = rng.choice(known) if known else holder[name]
        if rng.random() < 0.5:
            values = mutated(rng, values, rng.choice([1, 1, 2]))
        config = RunConfig.from_dict(values)
        run = new_run(task, config)
        if run.plan.n_episodes <= FEW["episodes"] and config.held_out <= FEW["held_out"]:
            run.train()
        return Found("worked")

    return case


def _evolve(rng: Random) -> Found:
    values = EvolutionConfig(rollouts=8, population=4, held_out=1).to_dict()
    values["method"] = rng.choice(["neat", "ndp"])
    values[rng.choice(sorted(values))] = rng.choice(NUMBERS)
    config = EvolutionConfig.from_dict(values)
    search = new_evolution("CartPole-v1", config)
    if config.rollouts <= 20 and config.held_out == 1:
        search.train()
    return Found("worked")


# --- command lines -------------------------------------------------------------------------------

VALUES = [
    *("0", "1", "-1", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "9" * 30, "True", "None", ""),
    *("a", "--", "-", "é", "\ud800", "..", "a/b", "CartPole-v1", "xor"),
    *("a:b", "os:system", "json:loads", "a.zip", "a.npz", "a.csv", "a-run", "best", "\x1b[31m"),
]
COMMANDS = {
    "distill": "{task} --expert {expert} --episodes 2 --held-out 1 --quiet",
    "evolve": "{task} --rollouts 8 --population 4 --held-out 1 --quiet",
    "evaluate": "{run} --episodes 1",
    "export": "{run} --to {format} --out out",
    "view": "{run} --no-open --out out",
    **{"frontier": "{run}", "expert": "list", "report": "{run}", "list": "", "distil": ""},
    **{"reproduce": "--jobs 0", "bench": "--repeats x", "--help": "", "": "", "--version": ""},
}
"""Words that keep a command from going on for hours."""
FLAGS = {
    name: [f"--{each.name.replace('_', '-')}" for each in fields(options)] + ["--seeds", "--out"]
    for name, options in (("distill", RunOptions), ("evolve", EvolutionConfig))
}
FLAGS["distill"] += [*["--set"] * 20, "--preset", "--resume", "--dry-run"]
OTHERS = ["--out", "--to", "--final", "--parameters", "--json", "--task", "--store", "--record"]
ENDLESS = {"--episodes", "--rollouts", "--held-out", "--seeds"}
"""Flags whose value may rightly be so large that a command never ends."""
SETTINGS = {*preset_settings(), *preset_settings(RunConfig.for_task("", preset="frugal")), "windw"}


def flag_cases(folder: Path) -> Case:
    """Return what makes an odd command line and runs it."""
    expert = teacher(folder, "CartPole-v1")
    kinds(folder)
    webbrowser.open = lambda *_, **__: True
    os.environ.setdefault("COLUMNS", "100")

    def line(rng: Random) -> list[str]:
        name = rng.choice([*list(COMMANDS)[:7], *COMMANDS])
        run = folder / rng.choice(["a-run", "best", "evolved"]) / "model.safetensors"
        given = {
            "task": rng.choice(["CartPole-v1", "CartPole-v1", rng.choice(VALUES)]),
            "run": str(run) if rng.random() < 0.7 else rng.choice(VALUES),
            "format": rng.choice(["c", "json", "graphml", "x"]),
            "expert": expert,
        }
        words = [name, *(word.format(**given) for word in COMMANDS[name].split())]
        for _ in range(rng.randrange(4)):
            flag = rng.choice(FLAGS.get(name, OTHERS))
            value = rng.choice(VALUES[:4] if flag in ENDLESS else VALUES)
            if flag == "--set":
                value = f"{rng.choice(sorted(SETTINGS - {'episodes'}))}={value}"
            words += [flag, value] if rng.random() < 0.9 else [flag]
        if rng.random() < 0.1:
            words.insert(rng.randrange(len(words) + 1), rng.choice(VALUES))
        return words

    def case(rng: Random, here: Path) -> Found:
        for path in here.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        sys.argv = ["smgrnn", *line(rng)]
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


# --- environments --------------------------------------------------------------------------------

PLACES = [
    *("first observation", "reset", "observation", "reward", "terminated", "truncated"),
    *("info", "step", "close", "expert"),
]
ANSWERS: list[Any] = [
    *(np.array([True, False]), np.array(True), np.array([]), np.bool_(True), np.float32(1.0)),
    *(np.zeros((2, 3)), np.array(["a"]), np.array([None]), np.zeros(3, complex), b"a", 1j, object),
]
ERRORS = [RuntimeError, KeyError, StopIteration, MemoryError, RecursionError, AssertionError]


class Odd(gym.Env[Any, Any]):
    """An environment of three numbers and two actions that answers oddly at one place."""

    observation_space = spaces.Box(-1, 1, (3,))
    action_space: Any = spaces.Discrete(2)

    def __init__(self, answer: Callable[[str, int, Any], Any]) -> None:
        self._answer, self._n = answer, 0

    def _say(self, place: str, usual: Any) -> Any:
        return self._answer(place, self._n, usual)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode."""
        return self._say("reset", (self._say("first observation", np.zeros(3, np.float32)), {}))

    def step(self, action: Any) -> Any:
        """Answer an action."""
        self._n += 1
        is_over = self._n % 4 == 0
        usual: Any = (np.full(3, 0.1, np.float32), 1.0, is_over, is_over, {})
        said = map(self._say, ("observation", *PLACES[3:7]), usual)
        return self._say("step", tuple(said))

    def close(self) -> None:
        """End it."""
        self._say("close", None)


def environment_cases(_: Path) -> Case:
    """Return what makes an odd environment, or an odd expert, and learns in it."""

    def case(rng: Random, here: Path) -> Found:
        odd_one = rng.choice([odd(rng), rng.choice(ANSWERS), rng.choice(ERRORS)])
        where, at = rng.choice(PLACES), rng.choice([0, 0, 1, 5, 9])

        def answer(place: str, n: int, usual: Any) -> Any:
            if place != where or n < at:
                return usual
            if isinstance(odd_one, type) and issubclass(odd_one, BaseException):
                raise odd_one("odd")
            return odd_one

        def made() -> Odd:
            return Odd(answer)

        if rng.random() < 0.2 and where != "expert":
            smgrnn_paper.evolve(made, rollouts=8, population=4, held_out=1)
        else:
            few: dict[str, Any] = {"episodes": 2, "held_out": 1}
            preset = rng.choice(["paper", "frugal"])
            smgrnn.distill(made, expert=lambda _: answer("expert", at, 1), preset=preset, **few)
        return Found("worked")

    return case
