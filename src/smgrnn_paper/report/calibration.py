"""Calibration: how far each reading of the text is from the numbers that the paper prints.

The distance is the mean over five groups of numbers, each the mean over its numbers:

* returns: late returns of growing, static and growth-only networks on CartPole and Acrobot;
* convergence of the same, by the definition among `WINDOWS` that fits the reading best;
* sizes: nodes and edges after 2000 episodes, and CartPole's nodes after 1000;
* growth only: net growth and edges without pruning;
* spreads: the deviations that are printed beside these returns and sizes.

A number is as far as |ours − the paper's| in the paper's standard deviations, and a deviation as
far as |ln(ours / the paper's)| in units of what chance does to it; either at most `FARTHEST`.
LunarLander, the other optimizers and the other initial topologies are held out: the mean distance
of their numbers stands beside it and chooses nothing.  All of this was fixed before the first run.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from smgrnn.arrays import Floats
from smgrnn.config import PlasticityConfig
from smgrnn.pages.page import Column, DataTable
from smgrnn.runs.record import Record
from smgrnn.tasks import find_task
from smgrnn.text import number
from smgrnn_paper.experiments.calibration import FITTED, ROWS, Reading, Stage, condition_name
from smgrnn_paper.report.paper import METRICS, WORDS, Paper
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.statistics import UNKNOWN, Estimate
from smgrnn_paper.report.tables import NOTHING, Entry, report_table

FARTHEST = 5.0
"""The largest distance that a number counts with."""
WINDOWS = ("1", "10", "20", "50", "100", "up to 100")
"""Episodes over which returns are averaged to see whether they reach the threshold; "up to 100"
averages as many as there are before the hundredth."""
CONVERGENCE = "sustained_episode"
SHOWN = 20
"""Readings that are shown, from the closest."""
PAPER_RUNS = 10
"""Runs behind a number of the fitted tables."""
ENOUGH = 3
"""Fewest runs whose deviation is compared."""
MOST_STEPS = 500
"""Steps of the longest episode in the tasks that the refutations are about."""
HELD_OUT = "held out"
"""The group of the numbers that choose nothing."""
HALF_TIME, LONGER = 1000, "CartPole-v1/smgrnn"
"""Episodes of the optimizer tables, and the longer runs that pass through the same size."""


class Target(NamedTuple):
    """A number of the paper that the distance counts."""

    group: str
    row: str
    """The condition whose runs have it."""
    metric: str
    mean: float
    std: float
    at: int | None = None
    """The episode after which it is taken; None is the last."""

    def values(self, runs: Runs, window: str = "1") -> Floats:
        """Return our number of each run."""
        if self.at is not None:
            sizes = [it.episodes.n_nodes for it in runs.records]
            return np.array([float(it[min(self.at, it.size) - 1]) for it in sizes])
        if self.metric == CONVERGENCE:
            return np.array([converged(record, window) for record in runs.records])
        return runs.values(self.metric)

    def distance(self, ours: float) -> float:
        """Return how far our mean is from it, in standard deviations, at most `FARTHEST`."""
        return min(abs(ours - self.mean) / self.std, FARTHEST)

    def spread_distance(self, ours: float, n: int) -> float:
        """Return how far our deviation over `n` runs is from the paper's, at most `FARTHEST`."""
        if ours == 0:
            return FARTHEST
        chance = math.sqrt(1 / (2 * n - 2) + 1 / (2 * PAPER_RUNS - 2))
        return min(abs(math.log(ours / self.std)) / chance, FARTHEST)


def converged(record: Record, window: str) -> float:
    """Return the first episode at whose end the mean of the last returns reaches the threshold."""
    n, threshold = int(window.split()[-1]), record.plan.task.reward_threshold
    assert threshold is not None
    sums = np.concatenate([[0.0], record.episodes.returns.cumsum()])
    ends = np.arange(1 if window.startswith("up to") else n, sums.size)
    starts = np.maximum(ends - n, 0)
    means = (sums[ends] - sums[starts]) / (ends - starts)
    reached = ends[means >= threshold - 1e-9]
    return float(reached[0]) if reached.size else math.inf


def targets(paper: Paper) -> list[Target]:
    """Return the numbers that the distance counts, each once."""

    def printed(group: str, table: str, row: str, metric: str, at: int | None = None) -> Target:
        cell = paper.tables[table].cell(row, metric)
        assert cell.mean is not None
        assert cell.std is not None
        return Target(group, row if at is None else LONGER, metric, cell.mean, cell.std, at)

    found = []
    for row in FITTED:
        table = "A.IV" if row.endswith("static") else "II"
        found.append(printed("returns", table, row, "late_return"))
        found.append(printed("convergence", table, row, CONVERGENCE))
        if row.endswith("smgrnn"):
            found.append(printed("sizes", "A.VI", row, "n_nodes"))
            found.append(printed("sizes", "II", row, "n_edges"))
        if row.endswith("growth-only"):  # a net growth has the relative deviation of the edges
            edges = printed("growth only", "II", row, "n_edges")
            grown = paper.tables["II"].cell(row, "net_growth_nodes").mean
            assert grown is not None
            found.append(edges)
            found.append(
                edges._replace(
                    metric="net_growth_nodes", mean=grown, std=edges.std * grown / edges.mean
                )
            )
    for table, row in (("A.I", "optimizer=adam"), ("A.II", "learning_rate=0.01")):
        found.append(printed("sizes", table, f"CartPole-v1/{row}", "n_nodes", HALF_TIME))
    return found


def held_out(paper: Paper) -> list[Target]:
    """Return the other numbers of those tables that have a deviation, each once.

    >>> from smgrnn_paper.report.paper import load_paper
    >>> found = held_out(load_paper())
    >>> len(found), {each.row for each in found} & set(FITTED)
    (41, set())
    """
    found, seen = [], {(ROWS[row].key(0), metric) for row, metric in _fitted_cells(paper)}
    for table in ("II", "A.I", "A.II", "A.IV", "A.V", "A.VI"):
        for (row, metric), cell in paper.tables[table].cells.items():
            if row not in ROWS or cell.mean is None or not cell.std or metric == "best_return":
                continue
            identity = (ROWS[row].key(0), metric)
            if identity not in seen:
                seen.add(identity)
                found.append(Target(HELD_OUT, row, metric, cell.mean, cell.std))
    return found


def _fitted_cells(paper: Paper) -> Iterable[tuple[str, str]]:
    """Yield row and column of the cells that the distance counts."""
    for target in targets(paper):
        yield target.row, target.metric
    yield f"{LONGER.partition('/')[0]}/optimizer=adam", "n_nodes"


class Distances(NamedTuple):
    """How far a reading is from the paper."""

    reading: Reading
    numbers: dict[Target, float]
    """Our mean for each target whose runs are there."""
    deviations: dict[Target, tuple[float, int]]
    """Our deviation for some of them, and the number of runs behind it."""
    window: str
    """The definition of convergence that fits best."""
    refuted: tuple[Target, ...] = ()
    """The printed numbers that cannot be under the reading."""

    @property
    def groups(self) -> dict[str, float]:
        """The distance from each group of numbers whose runs are there."""
        far: dict[str, list[float]] = {}
        for target, ours in self.numbers.items():
            if target.group != HELD_OUT:
                far.setdefault(target.group, []).append(target.distance(ours))
        for target, (ours, n) in self.deviations.items():
            far.setdefault("spreads", []).append(target.spread_distance(ours, n))
        return {group: float(np.mean(distances)) for group, distances in far.items()}

    @property
    def overall(self) -> float:
        """The distance: the mean over the groups."""
        return float(np.mean(list(self.groups.values())))

    @property
    def held_out(self) -> float | None:
        """The mean distance of the numbers that are held out; None if none has run."""
        far = [each.distance(ours) for each, ours in self.numbers.items() if each.group == HELD_OUT]
        return float(np.mean(far)) if far else None


def measure_reading(reading: Reading, found: dict[Target, Runs]) -> Distances:
    """Return the distances of a reading from targets, by the runs of their conditions."""
    values = {target: target.values(runs) for target, runs in found.items()}
    by_window = {
        window: {
            target: target.values(runs, window)
            for target, runs in found.items()
            if target.metric == CONVERGENCE
        }
        for window in WINDOWS
    }
    window = min(
        WINDOWS,
        key=lambda it: sum(
            target.distance(v.mean())
            for target, v in by_window[it].items()
            if target.group != HELD_OUT
        ),
    )
    values |= by_window[window]
    deviations = {
        target: (float(ours.std()), ours.size)
        for target, ours in values.items()
        if target.group in ("returns", "sizes") and target.at is None and ours.size >= ENOUGH
    }
    numbers = {target: float(ours.mean()) for target, ours in values.items()}
    return Distances(reading, numbers, deviations, window, refutations(reading, found))


def refutations(reading: Reading, printed: Iterable[Target]) -> tuple[Target, ...]:
    """Return the printed numbers that cannot be under a reading.

    A call that may insert `max_relays` relays bounds the nodes; and numbers between bounds whose
    mean is known cannot vary by more than the root of the product of its distances from them.
    """
    found: list[Target] = []
    if reading.max_relays is None:
        return ()
    for target in printed:
        condition = ROWS[target.row]
        n_start = find_task(condition.task).n_inputs + find_task(condition.task).n_outputs
        calls = condition.episodes
        if "episode" not in (reading.interval, reading.update):
            n_steps = reading.update if isinstance(reading.update, int) else 1
            assert isinstance(reading.interval, int)
            calls = condition.episodes * math.ceil(MOST_STEPS / n_steps) // reading.interval
        most = reading.max_relays * (calls - calls // PlasticityConfig.paper().prune_period)
        if target.metric == "net_growth_nodes" and target.mean > most:
            found.append(target)
        elif target.metric == "n_nodes":
            room = (n_start + most - target.mean) * (target.mean - n_start)
            if room < 0 or target.std > room**0.5:
                found.append(target)
    return tuple(found)


def rank_readings(stage: Stage, results: Results, paper: Paper) -> list[Distances]:
    """Return the readings of a stage that have run in full, the closest to the paper first."""
    found, (experiment, readings) = [], stage
    for reading in readings:
        there = {
            target: results.runs(experiment, name)
            for target in (*targets(paper), *held_out(paper))
            if (name := condition_name(reading, target.row)) in experiment.conditions
        }
        if not any(each.n_missing for each in there.values()):
            found.append(measure_reading(reading, there))
    return sorted(found, key=lambda each: each.overall)


def calibration_tables(stage: Stage, results: Results, paper: Paper) -> list[DataTable]:
    """Return the tables on a stage of the calibration; none if no reading has run in full.

    They are the closest readings, the values of each open setting, and every number.
    """
    ranked = rank_readings(stage, results, paper)
    if not ranked:
        return []
    axes = tuple(Reading.__dataclass_fields__)
    readings, values, numbers = [], [], []
    for rank, found in enumerate(ranked[:SHOWN], 1):
        labels = (str(rank), *(str(getattr(found.reading, axis)) for axis in axes))
        refuted = "yes" if found.refuted else ""
        apart = "–" if found.held_out is None else found.held_out
        shown = (found.overall, apart, refuted, found.window, *found.groups.values())
        readings.append((labels, shown))
    for axis in axes:
        for value in dict.fromkeys(getattr(each.reading, axis) for each in ranked):
            far = [each.overall for each in ranked if getattr(each.reading, axis) == value]
            values.append(((axis, str(value)), (min(far), float(np.median(far)))))
    for target, ours in ranked[0].numbers.items():
        best = min(target.distance(each.numbers[target]) for each in ranked)
        word = METRICS[target.metric].word + (f" at {target.at}" if target.at else "")
        cells = (target.mean, ours, target.distance(ours), best)
        numbers.append(((target.row, word), tuple(number(value, 1) for value in cells)))
    groups = {name: name.capitalize() for name in ranked[0].groups}
    return [
        _table("readings", readings, columns=groups, headings=("Rank", *axes)),
        _table("axes", values),
        _table("numbers", numbers),
    ]


def _table(id: str, rows: Any, columns: Any = NOTHING, **changes: Any) -> DataTable:
    """Return a table of numbers and texts; its words are in `words.toml`."""
    words = WORDS["calibration"][id] | changes
    names = words.pop("columns") | columns
    heads = tuple(map(Column, names, names.values()))
    cells = [
        (labels, [Entry.of(c, v if isinstance(v, str) else Estimate(v, UNKNOWN)) for c, v in pairs])
        for labels, values in rows
        for pairs in [zip(heads, values, strict=True)]
    ]
    return report_table(id, columns=heads, rows=cells, **words)
