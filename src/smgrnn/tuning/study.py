"""Study: a search for settings in batches of trials, each a few runs with different seeds.

Every decision follows from the records of earlier batches and from one seed.  A killed study asks
for the same trials again and finds their finished runs in the store.  A batch starts with one seed
for each trial; the better half continues with twice as many, until the last ones have all seeds.
"""

import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf, log10
from pathlib import Path
from typing import Any, NamedTuple

import optuna

from smgrnn.batch import Condition, Experiment, Store, run_experiments
from smgrnn.batch.runner import Progress
from smgrnn.config import RunConfig
from smgrnn.errors import ConfigError, FileFormatError, reason
from smgrnn.storage import write_file
from smgrnn.tuning.space import Dimension
from smgrnn.validation import Count, Finite, checked

MOST_PARAMETERS = 10.0  # largest network that counts, in multiples of the preset's parameters
Watch = Callable[["Study"], None]


class TimeUpError(Exception):
    """The time of a study has ended while runs are under way."""


class Point(NamedTuple):
    """A return, which is to be large, and a number of parameters, which is to be small."""

    mean_return: float
    parameters: float


def front(points: Sequence[Point]) -> list[int]:
    """Return the indices of the Pareto front, from the fewest parameters; equals are all on it."""
    order = sorted(range(len(points)), key=lambda i: (points[i].parameters, -points[i].mean_return))
    found: list[int] = []
    for index in order:
        best = points[found[-1]] if found else None
        if best is None or points[index] == best or points[index].mean_return > best.mean_return:
            found.append(index)
    return found


def area(points: Iterable[Point], worst: Point) -> float:
    """Return the area (hypervolume) between a front and the worst point that counts.

    Parameters count by their decimal logarithm: from 10 to 20 is as far as from 100 to 200.

    >>> area([Point(2.0, 10), Point(3.0, 100)], Point(1.0, 1000))
    3.0
    """
    covered, best = 0.0, worst.mean_return
    for point in sorted(points, key=lambda each: each.parameters):
        if point.mean_return > best and 0 < point.parameters < worst.parameters:
            covered += (point.mean_return - best) * log10(worst.parameters / point.parameters)
            best = point.mean_return
    return covered


@dataclass(kw_only=True)
class Trial:
    """Settings that were tried, and the results of their runs."""

    number: int  # its number, from 1; 0 is the preset
    settings: dict[str, Any]  # values of the tuned settings; empty for the preset
    returns: tuple[float, ...] = ()  # held-out return of the selected network of each run, by seed
    parameters: tuple[int, ...] = ()  # parameters of the selected network of each run
    error: str = ""  # why a run failed; empty if none did

    @property
    def point(self) -> Point:
        """The mean return and the mean of the parameters."""
        n = len(self.returns)
        return Point(sum(self.returns) / n, sum(self.parameters) / n)


@dataclass(kw_only=True)
class Study:
    """A search for settings; equal questions get equal trials."""

    task: str
    start: RunConfig  # the preset's settings; their seed is that of the search, and of first runs
    space: tuple[Dimension, ...]
    folder: Path  # folder of the store, and of the runs that raised an error
    n_seeds: int = 8  # seeds of a trial that is not stopped early
    batch: int = 16  # trials that Optuna proposes at once
    floor: float | None = None  # least return on the front; None is that of the preset's worst run
    trials: list[Trial] = field(default_factory=list)  # of finished batches; first is the preset
    n_runs: int = 0  # runs of this session
    n_stored: int = 0  # runs that the store had already
    is_cut: bool = False  # whether it was stopped early, and is only good for a report

    def __post_init__(self) -> None:
        checked(self.n_seeds, Count, "--seeds")
        checked(self.batch, Count, "--batch")
        checked(self.floor, Finite | None, "--floor")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of a whole trial."""
        return tuple(range(self.start.seed, self.start.seed + self.n_seeds))

    def identity(self) -> dict[str, Any]:
        """Return everything that decides the trials, ready for JSON."""
        return {
            "runs": self._condition({}).key(self.start.seed),
            "over": [f"{each.name}={each.range}" for each in self.space],
            "seeds": [self.start.seed, self.n_seeds],
            "batch": self.batch,
            "floor": self.floor,
            "optuna": optuna.__version__,
        }

    @property
    def whole(self) -> list[Trial]:
        """The trials that ran with all seeds."""
        return [trial for trial in self.trials if len(trial.returns) == self.n_seeds]

    @property
    def worst(self) -> Point:
        """The point from which the area counts: the floor, and ten times the preset's size."""
        preset = self.trials[0]
        low = min(preset.returns) if self.floor is None else self.floor
        return Point(low, MOST_PARAMETERS * preset.point.parameters)

    @property
    def area(self) -> float:
        """The area that the front covers."""
        return area([each.point for each in self.whole], self.worst)

    @property
    def front(self) -> list[Trial]:
        """The Pareto front of the whole trials above the floor, from the fewest parameters."""
        counted = [it for it in self.whole if it.point.mean_return >= self.worst.mean_return]
        return [counted[index] for index in front([each.point for each in counted])]

    @property
    def best(self) -> Trial:
        """The trial of the front with the fewest parameters that returns as much as the preset.

        Without one, it is the last of the front; with an empty front, the preset.
        """
        least, found = self.trials[0].point.mean_return, self.front
        good = [each for each in found if each.point.mean_return >= least]
        return (good[:1] or found[-1:] or self.trials)[0]

    def merit(self, point: Point) -> tuple[float, ...]:
        """Return the value by which points are compared: area beside whole trials, return, size.

        Points of one batch are not compared with one another: a lucky one must not hide the others.
        """
        covered = area([*(each.point for each in self.whole), point], self.worst)
        return covered, point.mean_return, -point.parameters

    def run(
        self, n_trials: int, executor: Executor, until: float = inf, watch: Watch = lambda _: None
    ) -> None:
        """Run whole batches until there are `n_trials`, or the monotonic clock reaches `until`.

        The end of the time or a Ctrl-C also stops runs under way.  Trials are then compared by the
        seeds that the furthest of them had.
        """

        def show(study: Study) -> None:
            watch(study)
            if time.monotonic() >= until:
                raise TimeUpError

        try:
            if not self.trials:
                self._begin(executor, show)
            while len(self.trials) - 1 < n_trials:
                self._run_batch(executor, show)
        except TimeUpError:
            self._cut()
        except KeyboardInterrupt:
            self._cut()
            raise

    def _run_batch(self, executor: Executor, watch: Watch) -> None:
        ranges = {each.name: each.distribution for each in self.space}
        asked = [self._search.ask(ranges) for _ in range(self.batch)]
        first, n_done = len(self.trials), 0
        trials = [Trial(number=first + i, settings=it.params) for i, it in enumerate(asked)]
        alive = trials
        try:
            while n_done < self.n_seeds:
                if n_done:
                    alive.sort(key=lambda trial: self.merit(trial.point), reverse=True)
                    alive = alive[: (len(alive) + 1) // 2]
                n_next = min(2 * n_done or 1, self.n_seeds)
                self._evaluate(alive, self.seeds[n_done:n_next], executor, watch)
                alive, n_done = [trial for trial in alive if not trial.error], n_next
        finally:
            self.trials += trials
        for each, trial in zip(asked, trials, strict=True):
            if trial.error:
                self._search.tell(each, state=optuna.trial.TrialState.FAIL)
            else:  # a poor one by the seeds that it had
                each.set_constraint("floor", self.worst.mean_return - trial.point.mean_return)
                self._search.tell(each, list(trial.point))
        watch(self)

    def _cut(self) -> None:
        self.is_cut = True
        tried = [it for it in self.trials[1:] if it.returns and not it.error] or self.trials[:1]
        self.n_seeds = max((len(trial.returns) for trial in tried), default=0)
        for each in self.trials:
            each.returns = each.returns[: self.n_seeds]
            each.parameters = each.parameters[: self.n_seeds]

    def _condition(self, settings: dict[str, Any]) -> Condition:
        config = self.start.with_named(settings)
        return Condition(self.task, replace(config, checkpoint_every=config.episodes))

    def _begin(self, executor: Executor, watch: Watch) -> None:
        """Run the preset with all seeds, and begin a search that knows it."""
        preset = Trial(number=0, settings={})
        try:
            self._evaluate([preset], self.seeds, executor, watch)
        finally:
            self.trials += [preset] if preset.returns else []
        if preset.error:
            raise ConfigError(f"The preset itself cannot be run: {preset.error}")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(
                seed=self.start.seed,
                n_startup_trials=self.batch,
                multivariate=True,
                constant_liar=True,  # without it a batch repeats one proposal
            )
        aims: Any = ["maximize", "minimize"]
        self._search: Any = optuna.create_study(sampler=sampler, directions=aims)
        now = self.start.named()
        with suppress(ValueError):  # Optuna refuses a preset outside of the space
            known = optuna.trial.create_trial(
                params={each.name: now[each.name] for each in self.space},
                distributions={each.name: each.distribution for each in self.space},
                values=list(preset.point),
                constraints={"floor": self.worst.mean_return - preset.point.mean_return},
            )
            self._search.add_trial(known)
        watch(self)

    def _evaluate(
        self, trials: list[Trial], seeds: tuple[int, ...], executor: Executor, watch: Watch
    ) -> None:
        """Run trials with more seeds where the store lacks the runs, and add the results."""
        store, failed = Store(self.folder / "store"), self.folder / "failed.json"
        try:
            failures = json.loads(failed.read_text(encoding="utf-8")) if failed.is_file() else {}
        except ValueError as error:
            raise FileFormatError(f"{failed} is damaged: {reason(error)}.") from error
        conditions: dict[str, Condition] = {}
        keys: dict[int, list[str]] = {}
        for trial in trials:
            try:
                condition = self._condition(trial.settings)
                keys[trial.number] = [condition.key(seed) for seed in seeds]
            except ConfigError as error:  # settings that contradict each other
                trial.error = str(error)
                continue
            if not failures.keys() & keys[trial.number]:
                conditions[str(trial.number)] = condition
        n_runs, n_stored = self.n_runs, self.n_stored

        def show(progress: Progress) -> None:
            self.n_runs, self.n_stored = n_runs + progress.n_done, n_stored + progress.n_found
            watch(self)

        def take_in() -> None:
            for trial in trials:
                if trial.error:
                    continue
                trial.error = next((failures[k] for k in keys[trial.number] if k in failures), "")
                if not trial.error:
                    records = [store.load(key) for key in keys[trial.number]]
                    trial.returns += tuple(float(record.held_out.mean()) for record in records)
                    trial.parameters += tuple(record.selected.n_parameters for record in records)

        experiment = Experiment(id="tune-v1", conditions=conditions, seeds=seeds)
        try:
            progress = run_experiments([experiment], store, executor, watch=show)
        except (KeyboardInterrupt, TimeUpError):
            keys = {number: list(takewhile(store.find, them)) for number, them in keys.items()}
            take_in()
            raise
        if own := {each.key: each.error for each in progress.failures if each.is_own}:
            failures |= own  # they would fail again
            write_file(failed, json.dumps(failures, indent=1).encode())
        for failure in progress.failures:
            if not failure.is_own:
                raise ConfigError(
                    f"The study stopped because no worker could run a trial. Repeat the command to "
                    f"resume it: {failure.error}"
                )
        take_in()
