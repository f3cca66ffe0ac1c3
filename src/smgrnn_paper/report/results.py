"""Results: the runs that a report is about, found by the content of their conditions."""

import re
from collections.abc import Container, Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.batch import AnyCondition, Experiment, Store
from smgrnn.errors import MetricError
from smgrnn.runs.record import Record
from smgrnn.text import quantity
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.experiments.registry import ALL, find_experiment
from smgrnn_paper.report.topology import measure


class Runs(NamedTuple):
    """The runs of a condition that have been found."""

    condition: AnyCondition
    seeds: tuple[int, ...]
    """Seeds that were asked for."""
    records: tuple[Record, ...]
    """One for each of the seeds that have run, in their order."""
    table_seeds: tuple[int, ...]
    """Those of the seeds that tables and figures are over; claims are decided by all."""

    @property
    def table(self) -> "Runs":
        """The runs that tables and figures are over."""
        return self.among(self.table_seeds)

    def taught_by(self, teacher: str) -> "Runs":
        """Return the runs that learned from one of the teachers of the condition."""
        return self.among([seed for seed in self.seeds if self.condition.expert(seed) == teacher])

    def among(self, seeds: Container[int]) -> "Runs":
        """Return the runs of some of the seeds."""
        return self._replace(
            seeds=tuple(seed for seed in self.seeds if seed in seeds),
            records=tuple(record for record in self.records if record.plan.seed in seeds),
            table_seeds=tuple(seed for seed in self.table_seeds if seed in seeds),
        )

    @property
    def n_missing(self) -> int:
        """Seeds that have not run."""
        return len(self.seeds) - len(self.records)

    def values(self, metric: str) -> Floats:
        """Return a metric, one number per run; an empty array if such runs do not have it.

        It is over all seeds, as claims need it; `table.values` is over those of the tables.
        """
        try:
            found = [measure(record, metric) for record in self.records]
        except MetricError:
            found = []
        return np.array(found, dtype=np.float64)


class Results:
    """The records of a store, each read once, for experiments at a chosen length.

    Seeds and episodes are by default those of the experiments, with more seeds for claims.
    """

    def __init__(
        self,
        store: Store,
        names: Iterable[str] = (),
        *,
        seeds: int | None = None,
        episodes: int | None = None,
    ) -> None:
        names = list(names)
        every = choose_experiments([ALL, *names], seeds=seeds, episodes=episodes)
        self.every = {base_name(each): each for each in every}
        """All of the paper's experiments and those that are reported, by name, because one of them
        may show the runs of another."""
        self.chosen = choose_experiments(names, seeds=seeds, episodes=episodes)
        """The experiments that are reported."""
        self.store = store
        self.damaged = store.damaged
        """Files that could not be read, and why."""
        self._records: dict[str, Record | None] = {}
        self._runs: dict[tuple[str, str], Runs] = {}

    def runs(self, experiment: Experiment, name: str) -> Runs:
        """Return the runs found of a condition of an experiment."""
        if (experiment.id, name) not in self._runs:
            condition = experiment.conditions[name]
            seeds = experiment.all_seeds(name)
            records = (self._load(condition.key(seed)) for seed in seeds)
            there = tuple(record for record in records if record is not None)
            self._runs[experiment.id, name] = Runs(condition, seeds, there, experiment.seeds)
        return self._runs[experiment.id, name]

    def find(self, task: str, condition: str) -> Runs:
        """Return the runs found of a condition on a task, whichever experiment runs it."""
        return self.runs(*self._names[task, condition])

    def all_records(self) -> list[Record]:
        """Return the records found of the experiments that are reported, each run once."""
        return [record for record in map(self._load, self._keys) if record is not None]

    def missing(self) -> dict[str, str]:
        """Return the runs that are missing, by key: experiment, condition and seed of each."""
        return {key: name for key, name in self._keys.items() if self._load(key) is None}

    @cached_property
    def _keys(self) -> dict[str, str]:
        """The names of all runs that are reported, by key."""
        return {
            condition.key(seed): f"{experiment.id} {name} seed {seed}"
            for experiment in self.chosen
            for name, condition, seed in experiment.runs()
        }

    @cached_property
    def _names(self) -> dict[tuple[str, str], tuple[Experiment, str]]:
        """The experiment and full name of each condition, by its task and short name."""
        places: dict[tuple[str, str], tuple[Experiment, str]] = {}
        for experiment in self.every.values():
            for name, it in experiment.conditions.items():
                places.setdefault((it.task, short_name(it, name)), (experiment, name))
        return places

    def _load(self, key: str) -> Record | None:
        if key not in self._records:
            self._records[key] = self.store.find(key)
        return self._records[key]


def find_results(
    store: Store,
    names: Iterable[str] = (),
    *,
    seeds: int | None = None,
    episodes: int | None = None,
) -> Results:
    """Return the runs of experiments, at their own length or else at the longest there is."""
    names = list(names)
    results = Results(store, names, seeds=seeds, episodes=episodes)
    if results.all_records() or episodes is not None:
        return results
    for length, n_seeds in sorted(store.lengths().items(), reverse=True):
        shorter = Results(store, names, seeds=seeds or n_seeds, episodes=length)
        if shorter.all_records():
            return shorter
    return results


def describe_shortness(chosen: Iterable[Experiment]) -> str:
    """Return a sentence on experiments with fewer seeds or episodes than are their own."""
    seeds, episodes = set(), set()
    for each in chosen:
        whole = find_experiment(each.id)
        seeds.add((len(each.seeds), len(whole.seeds)))
        for name, condition in each.conditions.items():
            episodes.add((condition.episodes, whole.conditions[name].episodes))
    fewer = [
        f"{span((n for n, _ in found), '').strip('s ')} of {span((n for _, n in found), noun)}"
        for noun, pairs in (("seed", seeds), ("episode", episodes))
        if (found := [(n, asked) for n, asked in pairs if n < asked])
    ]
    said = f"Short runs: {', '.join(fewer)}. These are not the numbers of the experiments."
    return said if fewer else ""


def span(numbers: Iterable[int], noun: str) -> str:
    """Return numbers of things by the least and the largest of them.

    >>> span([10, 5, 10], "run"), span([1], "run"), span([], "run")
    ('5 to 10 runs', '1 run', 'no runs')
    """
    found = sorted(set(numbers))
    if not found:
        return f"no {noun}s"
    return f"{found[0]} to " * (len(found) > 1) + quantity(found[-1], noun)


def base_name(experiment: Experiment) -> str:
    """Return the name of an experiment without its version."""
    return re.sub(r"-v\d+$", "", experiment.id)


def short_name(condition: AnyCondition, name: str) -> str:
    """Return the name of a condition in its experiment without the task."""
    return name.removeprefix(f"{condition.task}/")
