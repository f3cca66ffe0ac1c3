"""Tiny studies to test with.  A process that is killed imports this module."""

from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from smgrnn.config import RunConfig
from smgrnn.tuning.space import find_space
from smgrnn.tuning.study import Study
from support.trials import teacher

OVER = ("plasticity.window=2:20:log", "gain=0.5:2", "learning.schedule=constant,falling")
N_TRIALS = 12


def tiny_study(folder: Path, *over: str, **search: Any) -> Study:
    """Return a study on CartPole whose runs take milliseconds; its teacher is in the folder."""
    folder.mkdir(exist_ok=True)
    start = RunConfig.for_task(
        "CartPole-v1", preset="paper", episodes=3, held_out=3, expert=teacher(folder)
    )
    about: Any = {"task": "CartPole-v1", "start": start, "space": find_space(over or OVER, start)}
    return Study(folder=folder, n_seeds=2, batch=4, **about, **search)


def run_tiny(folder: Path, executor: Executor, n_trials: int = 4) -> Study:
    study = tiny_study(folder)
    study.run(n_trials, executor)
    return study


def run_study(folder: Path) -> Study:
    with ThreadPoolExecutor(1) as executor:
        return run_tiny(folder, executor, N_TRIALS)


def outcomes(study: Study) -> list[Any]:
    return [(it.number, it.settings, it.returns, it.parameters) for it in study.trials]
