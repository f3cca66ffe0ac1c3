"""Calibration: how far each reading of the text is from the sizes that the paper prints.

A number is as far away as |ours − the paper's| in standard deviations of the paper, at most
`FARTHEST`; a table as far as its numbers on average, and a reading as far as the tables on average.
That is the first distance.  The second counts the deviations as one more table:
|ln(ours / the paper's)| in units of what chance does to it.  Both were fixed before the first run.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from smgrnn.batch import Experiment
from smgrnn.config import PlasticityConfig
from smgrnn.pages.page import Column, DataTable
from smgrnn.tasks import find_task
from smgrnn.text import number
from smgrnn_paper.experiments.calibration import AXES, ROWS, Reading, condition_name
from smgrnn_paper.experiments.paper import TASKS
from smgrnn_paper.report.paper import METRICS, WORDS, Paper
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.statistics import UNKNOWN, Estimate
from smgrnn_paper.report.tables import NOTHING, Entry, report_table

FARTHEST = 10.0
"""The largest distance that a number counts with: beyond it a network is simply of another size."""
SIZES = {
    "II": ("net_growth_nodes", "n_edges"),
    "A.I": ("n_nodes", "churn_ratio"),
    "A.II": ("n_nodes", "churn_ratio"),
    "A.V": ("net_growth_nodes",),
    "A.VI": ("n_nodes", "net_growth_nodes"),
}
"""Tables with structural numbers, and the columns that have them.  Table A.IV repeats A.VI."""
FIRST = "first episode"
"""Name for the growth in the first episode: final size less net growth less inputs and outputs, as
if net growth were counted from the end of that episode on."""
SHOWN = 20
"""Readings that are shown, from the closest."""
SPREADS = "spreads"
"""Name for the deviations, which the second distance counts as one more table."""
PAPER_RUNS = 10
"""Runs behind a number of the paper; five in its appendix, which is not told apart here."""
ENOUGH = 5
"""Fewest runs whose deviation is compared."""
MOST_STEPS = 500
"""Steps of the longest episode in the tasks that the refutations are about."""


class PrintedSize(NamedTuple):
    """A structural number of the paper."""

    table: str
    row: str
    metric: str
    mean: float
    std: float
    has_spread: bool = False
    """Whether the deviation is the paper's own for this number."""

    def of(self, runs: Runs) -> float:
        """Return the mean over our runs."""
        if self.metric != "first_growth":
            return float(runs.values(self.metric).mean())
        return float(np.mean([int(r.episodes.n_nodes[0]) - r.started[0] for r in runs.records]))

    def distance(self, ours: float) -> float:
        """Return how far our value is from it, in standard deviations, at most `FARTHEST`."""
        return min(abs(ours - self.mean) / self.std, FARTHEST)

    def spread_distance(self, ours: float, n: int) -> float:
        """Return how far our deviation over `n` runs is from the paper's, at most `FARTHEST`."""
        if ours == 0:
            return FARTHEST
        chance = math.sqrt(1 / (2 * n - 2) + 1 / (2 * PAPER_RUNS - 2))
        return min(abs(math.log(ours / self.std)) / chance, FARTHEST)


def printed_sizes(paper: Paper) -> list[PrintedSize]:
    """Return all structural numbers that the paper prints of the control tasks.

    A net growth takes the deviation of the final size on the task (Table A.VI); without pruning,
    the relative one of the parameters beside it.
    """

    def cell(table: str, row: str, metric: str) -> tuple[float, Any]:
        printed = paper.tables[table].cell(row, metric)
        assert printed.mean is not None
        return printed.mean, printed.std

    found = []
    for table, metrics in SIZES.items():
        for row in paper.tables[table].rows:
            for metric in metrics if row.task in TASKS else ():
                mean, std = cell(table, row.name, metric)
                borrowed = cell("A.VI", f"{row.task}/smgrnn", "n_nodes")[1]
                if row.condition == "growth-only":
                    edges, spread = cell("II", row.name, "n_edges")
                    borrowed = mean * spread / edges
                has_one = std is not None
                found.append(PrintedSize(table, row.name, metric, mean, std or borrowed, has_one))
    for task in TASKS:
        row_name = f"{task}/smgrnn"
        size, growth = (cell("A.VI", row_name, name)[0] for name in SIZES["A.VI"])
        start = cell("A.IV", f"{task}/static", "n_nodes")[0]  # inputs and outputs alone
        found.append(PrintedSize(FIRST, row_name, "first_growth", size - growth - start, 1.0))
    return found


class Distances(NamedTuple):
    """How far a reading is from the paper."""

    reading: Reading
    numbers: dict[PrintedSize, float]
    """Our value for each printed number whose runs are there."""
    spreads: dict[PrintedSize, tuple[float, int]]
    """Our deviation for each of them that has one, and the number of runs behind it."""
    is_refuted: bool = False
    """Whether a printed number cannot be under the reading."""

    @property
    def tables(self) -> dict[str, float]:
        """The distance from each table whose runs are there."""
        found: dict[str, list[float]] = {}
        for printed, ours in self.numbers.items():
            found.setdefault(printed.table, []).append(printed.distance(ours))
        return {name: float(np.mean(distances)) for name, distances in found.items()}

    @property
    def overall(self) -> float:
        """The first distance: the mean over the tables."""
        return float(np.mean(list(self.tables.values())))

    @property
    def second(self) -> float:
        """The second distance, in which the deviations are one more table."""
        far = [printed.spread_distance(*ours) for printed, ours in self.spreads.items()]
        tables = self.tables | ({SPREADS: float(np.mean(far))} if far else {})
        return float(np.mean(list(tables.values())))


def refutations(reading: Reading, sizes: Iterable[PrintedSize]) -> list[PrintedSize]:
    """Return the printed numbers that cannot be under a reading.

    A call that may insert `max_relays` relays bounds the nodes; and numbers between bounds whose
    mean is known cannot vary by more than the root of the product of its distances from them.
    """
    found: list[PrintedSize] = []
    if reading.max_relays is None:
        return found
    for printed in sizes:
        condition = ROWS[printed.row]
        n_start = find_task(condition.task).n_inputs + find_task(condition.task).n_outputs
        calls = condition.episodes
        if reading.interval != "episode":
            calls = condition.episodes * MOST_STEPS // reading.interval
        most = reading.max_relays * (calls - calls // PlasticityConfig.prune_period)
        if printed.metric == "net_growth_nodes" and printed.mean > most:
            found.append(printed)
        elif printed.metric == "n_nodes":
            room = (n_start + most - printed.mean) * (printed.mean - n_start)
            if room < 0 or printed.std > room**0.5:
                found.append(printed)
    return found


def rank_readings(experiment: Experiment, results: Results, paper: Paper) -> list[Distances]:
    """Return the readings of a stage that have run in full, the closest to the paper first."""
    sizes, found = printed_sizes(paper), []
    for reading in dict.fromkeys(Reading.of(it.settings) for it in experiment.conditions.values()):
        names = {printed: condition_name(reading, printed.row) for printed in sizes}
        there = {
            printed: results.runs(experiment, name)
            for printed, name in names.items()
            if name in experiment.conditions
        }
        if not any(each.n_missing for each in there.values()):
            numbers = {printed: printed.of(each) for printed, each in there.items()}
            spreads = {
                printed: (float(each.values(printed.metric).std()), len(each.records))
                for printed, each in there.items()
                if printed.has_spread and len(each.records) >= ENOUGH
            }
            found.append(Distances(reading, numbers, spreads, bool(refutations(reading, sizes))))
    return sorted(found, key=lambda each: each.overall)


def calibration_tables(experiment: Experiment, results: Results, paper: Paper) -> list[DataTable]:
    """Return the tables on a stage of the calibration; none if no reading has run in full.

    They are the closest readings, the values of each open setting, and every number.
    """
    ranked = rank_readings(experiment, results, paper)
    if not ranked:
        return []
    readings, axes, numbers = [], [], []
    for rank, found in enumerate(ranked[:SHOWN], 1):
        labels = (str(rank), *(str(getattr(found.reading, axis)) for axis in AXES))
        refuted = "yes" if found.is_refuted else ""
        readings.append((labels, (found.overall, found.second, refuted, *found.tables.values())))
    for axis, values in AXES.items():
        for value in values:
            far = [each.overall for each in ranked if getattr(each.reading, axis) == value]
            if far:
                axes.append(((axis, str(value)), (min(far), float(np.median(far)))))
    for printed, ours in ranked[0].numbers.items():
        best = min(printed.distance(each.numbers[printed]) for each in ranked)
        word = METRICS[printed.metric].word if printed.metric in METRICS else "growth"
        labels = (_heading(printed.table), printed.row, word)
        shown = (printed.mean, ours, printed.distance(ours), best)
        numbers.append((labels, tuple(number(value, 1) for value in shown)))
    tables = {name: _heading(name) for name in ranked[0].tables}
    return [
        _table("readings", readings, columns=tables, headings=("Rank", *AXES)),
        _table("axes", axes),
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


def _heading(table: str) -> str:
    return table.capitalize() if table == FIRST else f"Table {table}"
