"""Study: a search for settings, in batches of trials, each a few runs with seeds of their own.

Every decision follows from the records of earlier batches and from one seed.  So the store of
records is all the memory that a study needs: one that was killed asks for the same trials again,
finds the runs that had finished, and goes on as if nothing had happened, on as many processes as
there are.  A batch starts with one seed for each of its trials; the better half goes on, with twice
as many, until the last ones have all of them.
"""

import json
import math
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from smgrnn.batch import Condition, Experiment, Store
from smgrnn.batch.runner import Progress, run_experiments
from smgrnn.config import RunConfig, by_part, setting_of
from smgrnn.errors import ConfigError, FileFormatError, needs, reason
from smgrnn.runs.record import Record
from smgrnn.storage import write_file
from smgrnn.tuning.front import Point, area, best_few, front
from smgrnn.tuning.space import Dimension

with needs("Tuning"):
    import optuna

FAILED = "failed.json"
"""File beside the store with the runs that raised an error, by key."""
ROOM = 10.0
"""Multiple of the parameters of the preset from which on parameters count as equally many."""
FEWEST = 10
"""Finished trials below which nothing can be said about the importance of a setting."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question of a study; equal questions get equal trials."""

    task: str
    start: RunConfig
    """The settings to start from; their seed is the first one, and that of the search."""
    space: tuple[Dimension, ...]
    n_seeds: int = 8
    """Seeds of a trial that is not stopped early."""
    batch: int = 16
    """Trials that are asked for at once."""
    price: float | None = None
    """Return that a parameter costs, for a study of one number; None asks for a front."""
    floor: float | None = None
    """Return below which a point of the front does not count; None is the worst of the preset."""

    def __post_init__(self) -> None:
        for name in ("n_seeds", "batch"):
            if getattr(self, name) < 1:
                word = name.removeprefix("n_")
                raise ConfigError(
                    f"--{word} must be at least 1. Got {getattr(self, name)} instead."
                )
        if self.price is not None and self.floor is not None:
            raise ConfigError("--floor is for a front, and --price for one number: give one.")
        if self.price is not None and not 0 <= self.price < float("inf"):
            raise ConfigError(f"--price must be at least 0. Got {self.price} instead.")
        if self.floor is not None and not math.isfinite(self.floor):
            raise ConfigError(f"--floor must be a finite number. Got {self.floor} instead.")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs."""
        return tuple(range(self.start.seed, self.start.seed + self.n_seeds))

    @cached_property
    def rungs(self) -> list[int]:
        """Numbers of seeds after which the poorer half of a batch is stopped, and the last one.

        >>> Question(task="xor", start=RunConfig(), space=(), n_seeds=6).rungs
        [1, 2, 4, 6]
        """
        found = [1]
        while found[-1] < self.n_seeds:
            found.append(min(2 * found[-1], self.n_seeds))
        return found

    def condition(self, settings: dict[str, Any]) -> Condition:
        """Return the runs of a trial with these settings in place of those to start from."""
        config = self.start.with_changes(**by_part(settings))
        return Condition(self.task, replace(config, checkpoint_every=config.episodes))

    def identity(self) -> dict[str, Any]:
        """Return all that the trials follow from, ready for JSON."""
        return {
            "runs": self.condition({}).key(self.start.seed),
            "over": [each.text for each in self.space],
            "seeds": [self.start.seed, self.n_seeds],
            "batch": self.batch,
            "price": self.price,
            "floor": self.floor,
            "optuna": optuna.__version__,
        }


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Settings that were tried, and what came of them."""

    number: int
    """Its number, from 1; 0 is the preset itself."""
    settings: dict[str, Any]
    """Values of the settings that are tuned; none for the preset."""
    returns: tuple[float, ...] = ()
    """Held-out return of what each run handed over, by seed."""
    parameters: tuple[int, ...] = ()
    """Parameters of what each run handed over."""
    error: str = ""
    """Why it has no runs, or no more; empty if nothing went wrong."""
    is_whole: bool = False
    """Whether it has run with all seeds."""

    @property
    def point(self) -> Point:
        """The mean return and the mean of the parameters."""
        n = len(self.returns)
        return Point(sum(self.returns) / n, sum(self.parameters) / n)


@dataclass(frozen=True)
class Found:
    """Progress of a study; at its end, the result."""

    question: Question
    trials: tuple[Trial, ...]
    """Every trial of the batches that are finished; the first is the preset itself."""
    n_runs: int = 0
    """Runs of this session."""
    n_stored: int = 0
    """Runs that the store had already."""

    @property
    def start(self) -> Trial:
        """The trial of the preset itself."""
        return self.trials[0]

    @cached_property
    def worst(self) -> Point:
        """The point at which nothing counts any more, in return or in parameters."""
        floor = self.question.floor
        low = min(self.start.returns) if floor is None else floor
        return Point(low, ROOM * self.start.point.parameters)

    @cached_property
    def whole(self) -> list[Trial]:
        """The trials that ran with all seeds."""
        return [trial for trial in self.trials if trial.is_whole]

    @cached_property
    def front(self) -> list[Trial]:
        """The trials that none dominates, or the best by one number, from the fewest parameters."""
        price = self.question.price
        if price is not None:
            return [max(self.whole, key=lambda trial: score(trial.point, price))]
        counted = [it for it in self.whole if it.point.mean_return >= self.worst.mean_return]
        return [counted[place] for place in front([each.point for each in counted])]

    @property
    def best(self) -> Trial:
        """The trial with the fewest parameters that returns no less than the preset.

        It is the preset itself where no trial returns as much as the floor.
        """
        if not self.front:
            return self.start
        least = self.start.point.mean_return
        good = (each for each in self.front if each.point.mean_return >= least)
        return next(good, self.front[-1])

    @property
    def area(self) -> float:
        """The area that the front covers."""
        return area([each.point for each in self.whole], self.worst)


Watch = Callable[[Found], None]


def score(point: Point, price: float) -> float:
    """Return the one number of a point, at a price of each parameter.

    >>> score(Point(10.0, 20.0), 0.1)
    8.0
    """
    return point.mean_return - price * point.parameters


class Study:
    """Asks Optuna for batches of trials, runs them, and tells it what came of them."""

    def __init__(self, question: Question, store: Store, executor: Executor) -> None:
        self._question, self._store, self._executor = question, store, executor
        self._failed = store.folder.parent / FAILED
        self._failures = _read_failures(self._failed)
        self._found = Found(question, ())
        self._search: Any = None

    def run(
        self, n_trials: int, *, until: float = float("inf"), watch: Watch | None = None
    ) -> Found:
        """Run trials in whole batches, until there are so many or the clock (monotonic) strikes."""
        watch = watch or (lambda _: None)
        self._begin(watch)
        while len(self._found.trials) - 1 < n_trials and time.monotonic() < until:
            first = len(self._found.trials)
            asked = [self._search.ask(self._distributions) for _ in range(self._question.batch)]
            trials = [Trial(number=first + i, settings=it.params) for i, it in enumerate(asked)]
            trials = self._try_out(trials, watch)
            for each, trial in zip(asked, trials, strict=True):
                self._tell(each, trial)
            self._found = replace(self._found, trials=(*self._found.trials, *trials))
            watch(self._found)
        return self._found

    def importances(self) -> dict[str, float]:
        """Return the share of each setting in being on the front, or the best, by PED-ANOVA.

        There is none of fewer than ten trials.
        """
        n = sum(not trial.error for trial in self._found.trials)
        if n < FEWEST or len(self._question.space) == 1:
            return {}
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(self._search, evaluator=evaluator)
        return {name: float(share) for name, share in found.items()}

    def _begin(self, watch: Watch) -> None:
        """Run the preset itself with all seeds, and begin a search that knows it."""
        trial = Trial(number=0, settings={})
        for n_seeds in self._question.rungs:
            [trial] = self._runs([trial], n_seeds, watch)
            if trial.error:
                raise ConfigError(f"The preset itself cannot be run: {trial.error}")
        trial = replace(trial, is_whole=True)
        self._found = replace(self._found, trials=(trial,))
        self._search = _new_search(self._question)
        values = {it.name: setting_of(self._question.start, it.name) for it in self._question.space}
        if all(each.holds(values[each.name]) for each in self._question.space):
            self._search.add_trial(
                optuna.trial.create_trial(
                    params=values,
                    distributions=self._distributions,
                    values=self._values(trial),
                    constraints=self._constraints(trial),
                )
            )
        watch(self._found)

    @cached_property
    def _distributions(self) -> dict[str, Any]:
        return {each.name: _distribution(each) for each in self._question.space}

    def _try_out(self, trials: list[Trial], watch: Watch) -> list[Trial]:
        """Return the trials of a batch with their results, the poorer ones from fewer seeds."""
        results = dict(enumerate(trials))
        alive = list(results)
        for n_seeds in self._question.rungs:
            done = self._runs([results[place] for place in alive], n_seeds, watch)
            results |= dict(zip(alive, done, strict=True))
            alive = [place for place in alive if not results[place].error]
            if n_seeds < self._question.n_seeds:
                alive = self._better_half(alive, results)
        for place in alive:
            results[place] = replace(results[place], is_whole=True)
        return list(results.values())

    def _better_half(self, alive: list[int], results: dict[int, Trial]) -> list[int]:
        points, n = [results[place].point for place in alive], (len(alive) + 1) // 2
        price = self._question.price
        if price is not None:
            order = sorted(range(len(points)), key=lambda it: -score(points[it], price))
            return sorted(alive[place] for place in order[:n])
        known = [trial.point for trial in self._found.whole]
        return [alive[place] for place in best_few(points, n, known, self._found.worst)]

    def _runs(self, trials: list[Trial], n_seeds: int, watch: Watch) -> list[Trial]:
        """Return trials with the results of so many seeds, run where the store lacks them."""
        seeds, before = self._question.seeds[:n_seeds], self._found
        conditions: dict[int, Condition] = {}
        keys: dict[int, list[str]] = {}
        errors: dict[int, str] = {}
        for trial in trials:
            try:
                condition = self._question.condition(trial.settings)
                keys[trial.number] = [condition.key(seed) for seed in seeds]
                conditions[trial.number] = condition
            except ConfigError as error:  # settings that contradict each other
                errors[trial.number] = str(error)

        def note_failures() -> None:
            for number, some in keys.items():
                failed = [self._failures[key] for key in some if key in self._failures]
                errors.update({number: failed[0]} if failed else {})

        def show(progress: Progress) -> None:
            n_runs, n_stored = before.n_runs + progress.n_done, before.n_stored + progress.n_found
            self._found = replace(self._found, n_runs=n_runs, n_stored=n_stored)
            watch(self._found)

        note_failures()
        n_done = len(trials[0].returns) if trials else 0
        experiment = Experiment(
            id="tune-v1",
            question="",
            artefacts=(),
            conditions={str(n): each for n, each in conditions.items() if n not in errors},
            seeds=seeds[n_done:],
        )
        progress = run_experiments([experiment], self._store, self._executor, watch=show)
        if own := {each.key: each.error for each in progress.failures if each.is_own}:
            self._failures |= own  # they would fail again
            write_file(self._failed, json.dumps(self._failures, indent=1).encode())
        for failure in progress.failures:
            if not failure.is_own:
                raise ConfigError(
                    f"The study stopped where no worker could run a trial, and goes on by the same "
                    f"command: {failure.error}"
                )
        note_failures()
        return [
            replace(each, error=errors[each.number])
            if each.number in errors
            else _with_results(each, [self._store.load(key) for key in keys[each.number]])
            for each in trials
        ]

    def _tell(self, asked: Any, trial: Trial) -> None:
        """Tell the search how good a trial is; a poor one by the seeds that it had."""
        if trial.error:
            self._search.tell(asked, state=optuna.trial.TrialState.FAIL)
            return
        for name, lack in self._constraints(trial).items():
            asked.set_constraint(name, lack)
        self._search.tell(asked, self._values(trial))

    def _values(self, trial: Trial) -> list[float]:
        """Return the numbers that the search compares trials by."""
        price = self._question.price
        return list(trial.point) if price is None else [score(trial.point, price)]

    def _constraints(self, trial: Trial) -> dict[str, float]:
        """Return how far a trial is from counting, by name; it counts at 0 or less."""
        if self._question.price is not None:
            return {}
        return {"floor": self._found.worst.mean_return - trial.point.mean_return}


def _with_results(trial: Trial, records: list[Record]) -> Trial:
    return replace(
        trial,
        returns=tuple(float(record.held_out.mean()) for record in records),
        parameters=tuple(record.handed_over.n_parameters for record in records),
    )


def _new_search(question: Question) -> Any:
    """Return a study of Optuna in memory, all of whose choices follow from the seed."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=question.start.seed,
            n_startup_trials=question.batch,
            multivariate=True,
            constant_liar=True,  # or a batch would ask for one place many times
        )
    if question.price is not None:
        return optuna.create_study(sampler=sampler, direction="maximize")
    return optuna.create_study(sampler=sampler, directions=["maximize", "minimize"])


def _distribution(dimension: Dimension) -> Any:
    kinds = optuna.distributions
    if dimension.values:
        return kinds.CategoricalDistribution(dimension.values)
    if dimension.is_whole:
        low, high = int(dimension.low), int(dimension.high)
        return kinds.IntDistribution(low, high, log=dimension.is_log)
    return kinds.FloatDistribution(dimension.low, dimension.high, log=dimension.is_log)


def _read_failures(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise FileFormatError(f"{path} is damaged: {reason(error)}.") from error
    return {str(key): str(value) for key, value in found.items()}
