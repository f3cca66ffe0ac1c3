"""Study: a search for settings in batches of trials, each a few runs with different seeds.

Every decision follows from the records of earlier batches and from one seed, so a study that was
killed asks for the same trials again and finds their finished runs in the store.  A batch starts
with one seed for each trial; the better half continues with twice as many, until the last ones have
all seeds.
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from smgrnn.batch import Condition, Experiment, Store, run_experiments
from smgrnn.batch.runner import Progress
from smgrnn.config import RunConfig, by_part, setting_of
from smgrnn.errors import ConfigError, FileFormatError, needs, reason
from smgrnn.storage import write_file
from smgrnn.tuning.space import Dimension
from smgrnn.validation import Count, Finite, NonNegative, checked

with needs("Tuning"):
    import optuna

FAILED = "failed.json"
"""File beside the store with the runs that raised an error, by key."""
ROOM = 10.0
"""Networks with this many times the parameters of the preset do not count."""
FEWEST = 10
"""Fewest finished trials from which importances are estimated."""


class Point(NamedTuple):
    """A return, of which more is better, and a number of parameters, of which fewer are."""

    mean_return: float
    parameters: float

    def dominates(self, other: "Point") -> bool:
        """Return whether it is nowhere worse than another point, and somewhere better."""
        is_no_worse = self.mean_return >= other.mean_return and self.parameters <= other.parameters
        return is_no_worse and self != other


def front(points: Sequence[Point]) -> list[int]:
    """Return the indices of the Pareto front, from the fewest parameters."""
    order = sorted(range(len(points)), key=lambda place: points[place].parameters)
    return [it for it in order if not any(other.dominates(points[it]) for other in points)]


def area(points: Iterable[Point], worst: Point) -> float:
    """Return the area (hypervolume) between a front and the worst point that counts.

    Parameters count by their decimal logarithm: from 10 to 20 is as far as from 100 to 200.

    >>> area([Point(2.0, 10), Point(3.0, 100)], Point(1.0, 1000))
    3.0
    """
    covered, best = 0.0, worst.mean_return
    for point in sorted(points, key=lambda each: each.parameters):
        if point.mean_return > best and 0 < point.parameters < worst.parameters:
            covered += (point.mean_return - best) * math.log10(worst.parameters / point.parameters)
            best = point.mean_return
    return covered


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
    """Return that a parameter costs, to maximize one number; None asks for a front."""
    floor: float | None = None
    """Least return on the front; None is that of the preset's worst run."""

    def __post_init__(self) -> None:
        checked(self.n_seeds, Count, "--seeds")
        checked(self.batch, Count, "--batch")
        checked(self.price, NonNegative | None, "--price")
        checked(self.floor, Finite | None, "--floor")
        if self.price is not None and self.floor is not None:
            raise ConfigError("--floor is for a front, and --price for one number: give one.")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the runs."""
        return tuple(range(self.start.seed, self.start.seed + self.n_seeds))

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
    """Settings that were tried, and the results of their runs."""

    number: int
    """Its number, from 1; 0 is the preset itself."""
    settings: dict[str, Any]
    """Values of the settings that are tuned; none for the preset."""
    returns: tuple[float, ...] = ()
    """Held-out return of the selected network of each run, by seed."""
    parameters: tuple[int, ...] = ()
    """Parameters of the selected network of each run."""
    error: str = ""
    """Why it has no runs, or no more; empty if nothing failed."""
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
        """The point from which the area counts: the floor, and ten times the preset's size."""
        floor = self.question.floor
        low = min(self.start.returns) if floor is None else floor
        return Point(low, ROOM * self.start.point.parameters)

    @cached_property
    def whole(self) -> list[Trial]:
        """The trials that ran with all seeds."""
        return [trial for trial in self.trials if trial.is_whole]

    def merit(self, point: Point) -> tuple[float, ...]:
        """Return the value by which a point is compared with others: larger is better.

        It is the area beside all whole trials, then return, then size.  Points of one batch are not
        compared with one another: a lucky one among them must not hide the others.
        """
        if self.question.price is not None:
            return (point.mean_return - self.question.price * point.parameters,)
        covered = area([*(each.point for each in self.whole), point], self.worst)
        return covered, point.mean_return, -point.parameters

    @cached_property
    def front(self) -> list[Trial]:
        """The Pareto front, from the fewest parameters; with a price, the best trial alone."""
        if self.question.price is not None:
            return [max(self.whole, key=lambda trial: self.merit(trial.point))]
        counted = [it for it in self.whole if it.point.mean_return >= self.worst.mean_return]
        return [counted[place] for place in front([each.point for each in counted])]

    @property
    def best(self) -> Trial:
        """The trial of the front with the fewest parameters that returns as much as the preset.

        If none does, it is the last of the front; if the front is empty, the preset itself.
        """
        least = self.start.point.mean_return
        good = [each for each in self.front if each.point.mean_return >= least]
        return (good[:1] or self.front[-1:] or [self.start])[0]

    @property
    def area(self) -> float:
        """The area that the front covers."""
        return area([each.point for each in self.whole], self.worst)


Watch = Callable[[Found], None]


class Study:
    """Asks Optuna for batches of trials, runs them, and reports their results to it."""

    def __init__(self, question: Question, store: Store, executor: Executor) -> None:
        self._question, self._store, self._executor = question, store, executor
        self._failed = store.folder.parent / FAILED
        self._failures: dict[str, str] = {}
        if self._failed.exists():
            try:
                self._failures = dict(json.loads(self._failed.read_text(encoding="utf-8")))
            except ValueError as error:
                raise FileFormatError(f"{self._failed} is damaged: {reason(error)}.") from error
        self._found = Found(question, ())
        kinds, self._distributions = optuna.distributions, {}
        for each in question.space:
            kind: Any = kinds.IntDistribution if each.is_whole else kinds.FloatDistribution
            self._distributions[each.name] = (
                kinds.CategoricalDistribution(each.values)
                if each.values
                else kind(each.low, each.high, log=each.is_log)
            )
        self._search: Any = None

    def run(
        self, n_trials: int, *, until: float = float("inf"), watch: Watch = lambda _: None
    ) -> Found:
        """Run whole batches until there are `n_trials`, or the monotonic clock reaches `until`."""
        self._begin(watch)
        while len(self._found.trials) - 1 < n_trials and time.monotonic() < until:
            first = len(self._found.trials)
            asked = [self._search.ask(self._distributions) for _ in range(self._question.batch)]
            trials = [Trial(number=first + i, settings=it.params) for i, it in enumerate(asked)]
            trials = self._try_out(trials, watch)
            for each, trial in zip(asked, trials, strict=True):
                if trial.error:
                    self._search.tell(each, state=optuna.trial.TrialState.FAIL)
                    continue
                values, lacks = self._judge(trial)  # a poor one by the seeds that it had
                for name, lack in lacks.items():
                    each.set_constraint(name, lack)
                self._search.tell(each, values)
            self._found = replace(self._found, trials=(*self._found.trials, *trials))
            watch(self._found)
        return self._found

    def importances(self) -> dict[str, float]:
        """Return the importance of each setting for the best trials, by PED-ANOVA.

        It is empty after fewer than ten trials.
        """
        n = sum(not trial.error for trial in self._found.trials)
        if n < FEWEST or len(self._question.space) == 1:
            return {}
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(self._search, evaluator=evaluator)
        return {name: float(share) for name, share in found.items()}

    def _begin(self, watch: Watch) -> None:
        """Run the preset itself with all seeds, and begin a search that knows it."""
        question = self._question
        [preset] = self._runs([Trial(number=0, settings={})], question.n_seeds, watch)
        if preset.error:
            raise ConfigError(f"The preset itself cannot be run: {preset.error}")
        preset = replace(preset, is_whole=True)
        self._found = replace(self._found, trials=(preset,))
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(
                seed=question.start.seed,
                n_startup_trials=question.batch,
                multivariate=True,
                constant_liar=True,  # or a batch would ask for one place many times
            )
        aims: Any = ["maximize", "minimize"] if question.price is None else ["maximize"]
        self._search = optuna.create_study(sampler=sampler, directions=aims)
        params = {each.name: setting_of(question.start, each.name) for each in question.space}
        if all(each.holds(params[each.name]) for each in question.space):
            values, lacks = self._judge(preset)
            known: Any = {"params": params, "distributions": self._distributions}
            known |= {"values": values, "constraints": lacks}
            self._search.add_trial(optuna.trial.create_trial(**known))
        watch(self._found)

    def _judge(self, trial: Trial) -> tuple[list[float], dict[str, float]]:
        """Return the values of a trial for Optuna, and the return that it lacks to the floor."""
        if self._question.price is not None:
            return list(self._found.merit(trial.point)), {}
        lack = self._found.worst.mean_return - trial.point.mean_return
        return list(trial.point), {"floor": lack}

    def _try_out(self, trials: list[Trial], watch: Watch) -> list[Trial]:
        """Return the trials of a batch with their results, the poorer ones from fewer seeds."""
        results = {trial.number: trial for trial in trials}
        alive, n_all, n_seeds = list(results), self._question.n_seeds, 1
        while True:
            done = self._runs([results[number] for number in alive], n_seeds, watch)
            results |= dict(zip(alive, done, strict=True))
            alive = [number for number in alive if not results[number].error]
            if n_seeds == n_all:
                break
            merits = {number: self._found.merit(results[number].point) for number in alive}
            order = sorted(alive, key=lambda number: merits[number], reverse=True)
            alive, n_seeds = sorted(order[: (len(order) + 1) // 2]), min(2 * n_seeds, n_all)
        for number in alive:
            results[number] = replace(results[number], is_whole=True)
        return list(results.values())

    def _runs(self, trials: list[Trial], n_seeds: int, watch: Watch) -> list[Trial]:
        """Return trials with the results of so many seeds, run where the store lacks them."""
        seeds, before = self._question.seeds[:n_seeds], self._found
        conditions: dict[str, Condition] = {}
        keys: dict[int, list[str]] = {}
        errors: dict[int, str] = {}
        for trial in trials:
            try:
                condition = self._question.condition(trial.settings)
                keys[trial.number] = [condition.key(seed) for seed in seeds]
            except ConfigError as error:  # settings that contradict each other
                errors[trial.number] = str(error)
                continue
            if not self._failures.keys() & keys[trial.number]:
                conditions[str(trial.number)] = condition

        def show(progress: Progress) -> None:
            n_runs, n_stored = before.n_runs + progress.n_done, before.n_stored + progress.n_found
            self._found = replace(self._found, n_runs=n_runs, n_stored=n_stored)
            watch(self._found)

        n_done = len(trials[0].returns) if trials else 0
        experiment = Experiment(id="tune-v1", conditions=conditions, seeds=seeds[n_done:])
        progress = run_experiments([experiment], self._store, self._executor, watch=show)
        if own := {each.key: each.error for each in progress.failures if each.is_own}:
            self._failures |= own  # they would fail again
            write_file(self._failed, json.dumps(self._failures, indent=1).encode())
        for failure in progress.failures:
            if not failure.is_own:
                raise ConfigError(
                    f"The study stopped because no worker could run a trial. Repeat the command to "
                    f"resume it: {failure.error}"
                )
        results = []
        for trial in trials:
            tried = keys.get(trial.number, [])
            failed = (self._failures[key] for key in tried if key in self._failures)
            if why := errors.get(trial.number) or next(failed, ""):
                results.append(replace(trial, error=why))
                continue
            records = [self._store.load(key) for key in tried]
            returns = tuple(float(record.held_out.mean()) for record in records)
            sizes = tuple(record.selected.n_parameters for record in records)
            results.append(replace(trial, returns=returns, parameters=sizes))
        return results
