"""Tiny experiments to test with, and executors that do what tests ask of them."""

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from smgrnn.batch import AnyCondition, Condition, Experiment, Store
from smgrnn.batch.runner import Failure, attempt, execute
from smgrnn.experts import Expert, write_expert
from smgrnn.runs.record import Record
from support.errands import PATIENCE
from support.flat import flat_rules

RULES = {
    "window": 5,
    "interval": 20,
    "prune_period": 4,
    "scale": "update",
    "explore_probability": 0.5,
    "explore_ratio": 0.05,
    "max_relays": 1,
    "weight_threshold": 0.05,
    "update_threshold": 0.01,
}
"""Change the network a few times in an episode and in every way."""


def teacher(folder: Path) -> str:
    path = folder / "teacher.safetensors"
    if not path.exists():
        write_expert(path, Expert.from_layers([([[0, 0, 0, 0], [0, 0, 1, 0]], [0, 0])]), {})
    return str(path)


def tiny(folder: Path, **changes: Any) -> Condition:
    settings = {"preset": "paper", "episodes": 5, "expert": teacher(folder), **changes}
    return Condition.distill("CartPole-v1", **settings)


def busy(folder: Path, **changes: Any) -> Condition:
    """Return a tiny condition whose network changes in every way."""
    return tiny(folder, episodes=20, plasticity=flat_rules(RULES), **changes)


def asking(
    conditions: Mapping[str, AnyCondition], n_seeds: int = 2, name: str = "trial-v1"
) -> Experiment:
    return Experiment(
        id=name,
        question="Does it run?",
        artefacts=(),
        conditions=conditions,
        seeds=tuple(range(n_seeds)),
    )


class Inline(Executor):
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls.append(args)
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Replacing(Executor):
    """Hands another function than the one given to another executor."""

    def __init__(self, inner: Executor, fn: Callable[..., Any], *first: Any) -> None:
        self.inner, self.fn, self.first = inner, fn, first

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self.inner.submit(self.fn, *self.first, *args, **kwargs)


def hang_once(folder: Path, *args: Any) -> Any:
    """Run seed 0 only the second time; the first time tell the process's id and do nothing."""
    told = folder / "pid"
    if args[1] == 0 and not told.exists():
        partial = folder / "pid.partial"
        partial.write_text(str(os.getpid()))
        partial.rename(told)
        time.sleep(PATIENCE)
    return execute(*args)


def save_often(store: Store, record: Record, n: int) -> None:
    for _ in range(n):
        store.save(record)


class UnspeakableError(Exception):
    """Raised by whatever it is asked for: its words, or a plan, as if it were a condition."""

    def plan(self, *_: Any) -> Any:
        raise UnspeakableError

    __str__ = __repr__ = plan


def without_plan(_: Condition, *args: Any) -> Record | Failure:
    """Attempt a run whose plan cannot be built in a worker."""
    condition: Any = UnspeakableError()
    return attempt(condition, *args)


def results(record: Record) -> dict[str, Any]:
    found = {name: value for name, value in record.summary().items() if "seconds" not in name}
    return {
        "fingerprint": record.fingerprint,
        "summary": found,
        "warnings": record.warnings,
        "versions": dict(record.versions),
    }
