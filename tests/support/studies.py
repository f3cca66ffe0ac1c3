"""Tiny studies to test with.  A process that is killed imports this module."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from smgrnn.batch import Store
from smgrnn.config import RunConfig
from smgrnn.tuning.space import find_space
from smgrnn.tuning.study import Found, Question, Study
from support.trials import Inline, teacher

OVER = ("plasticity.window=2:20:log", "gain=0.5:2", "learning.schedule=constant,falling")
N_TRIALS = 12


def tiny_question(folder: Path, *over: str, **search: Any) -> Question:
    """Return a study on CartPole whose runs take milliseconds; its teacher is in the folder."""
    start = RunConfig.for_task("CartPole-v1", episodes=3, held_out=3, expert=teacher(folder))
    space = find_space(over or OVER, start)
    return Question(task="CartPole-v1", start=start, space=space, n_seeds=2, batch=4, **search)


def tiny_study(folder: Path, *over: str, **search: Any) -> tuple[Study, Inline]:
    """Return a tiny study in a folder, and the executor that counts its runs."""
    executor = Inline()
    return Study(
        tiny_question(folder, *over, **search), Store(folder / "store"), executor
    ), executor


def run_study(folder: Path) -> Found:
    with ThreadPoolExecutor(1) as executor:
        study = Study(tiny_question(folder), Store(folder / "store"), executor)
        return study.run(N_TRIALS)


def outcomes(found: Found) -> list[Any]:
    return [(it.number, it.settings, it.returns, it.parameters, it.is_whole) for it in found.trials]
