"""Frontier: return against parameters, for runs of any kind side by side, beside MLPs.

Runs that differ in no setting but their seed are a group.  Returns are those of the selected
network on held-out episodes; a group is compared with the MLPs on its task.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from smgrnn.batch import Experiment
from smgrnn.pages.comparison import alike, stated_settings
from smgrnn.pages.page import Column, DataTable
from smgrnn.runs.plan import AnyPlan, Plan
from smgrnn.runs.record import Record
from smgrnn.text import MISSING, number
from smgrnn_paper.experiments.frontier import RECURRENT
from smgrnn_paper.report.paper import WORDS, Paper
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import (
    Estimate,
    Interval,
    mean_difference,
    mean_estimate,
    student,
)
from smgrnn_paper.report.tables import bounds, estimate_text

MLP, PRINTED = "MLP", "as printed*"
KINDS = {
    "static": "static",
    "growth-only": "growth only",
    "mlp-100": MLP,
    "mlp-200": MLP,
    "mlp-pruned": "MLP, pruned",
}
"""Kinds of students that do not grow and prune."""
N_SETTINGS = 2
"""Most settings in the name of a kind."""
WIDE = 20.0
"""Width of an interval from which on a decimal says nothing."""
COLUMNS = {
    "n_parameters": "Parameters",
    "runs": "Runs",
    "held_out_mean": "Held-out return",
    "std": "Std",
    "worst": "Worst",
    "nearest_mlp": "Nearest MLP",
    "difference": "Above nearest MLP",
}


def kind_of(plan: AnyPlan) -> str:
    """Return the kind of student that a run trains, in a word or two."""
    if not isinstance(plan, Plan):
        return plan.student.upper()
    if plan.origin is not None:
        return "retrained"
    network, rules = plan.network, plan.plasticity
    is_mlp = plan.first_graph == "layered"
    if rules.growth is None and not (is_mlp or network.n_hidden) and network.density == 1.0:
        kind = "linear" if rules.is_static else "linear, pruned"
        return kind if network.bias else f"{kind}, no bias"
    if plan.student == "static" and network.carry_state and network.n_hidden:
        return RECURRENT
    if plan.student in KINDS:
        return KINDS[plan.student] + ", no bias" * (is_mlp and not network.bias)
    if plan.keep is not None:
        return f"kept {100 * plan.keep:g} %"
    name = getattr(rules.growth, "name", "none")
    return "paper" if name == "relay" else name


class Group(NamedTuple):
    """Runs that differ in no setting but their seed."""

    task: str
    kind: str
    """The kind of student."""
    asked: int | None
    """Parameters that were asked for; None if the run chose them."""
    seeds: tuple[int, ...]
    parameters: tuple[int, ...]
    """Parameters of each run's selected network."""
    returns: tuple[float, ...]
    """Mean held-out return of each run's selected network."""

    @classmethod
    def of(cls, kind: str, records: Sequence[Record]) -> "Group":
        """Return the group of these runs; the size of an MLP is one that was asked for."""
        plan = records[0].plan
        sizes = tuple(record.selected.n_parameters for record in records)
        limit = plan.max_parameters if isinstance(plan, Plan) else None
        returns = tuple(float(record.held_out.mean()) for record in records)
        seeds = tuple(record.plan.seed for record in records)
        return cls(
            plan.task.id,
            kind,
            sizes[0] if kind.startswith((MLP, RECURRENT)) and limit is None else limit,
            seeds,
            sizes,
            returns,
        )

    @property
    def name(self) -> str:
        """The kind, and the parameters that were asked for."""
        return self.kind if self.asked is None else f"{self.kind} {self.asked}"

    @property
    def n_parameters(self) -> float:
        """The median of the parameters."""
        return float(np.median(self.parameters))

    @property
    def mean(self) -> Estimate:
        """The mean return over runs, with its interval."""
        return mean_estimate(self.returns)


def group_runs(records: Iterable[Record]) -> list[Group]:
    """Return the groups of all finished runs, in the order of tasks and kinds, then by size.

    Where a task has several groups of one kind and size, the kind says in which settings they
    differ.
    """
    finished = [record for record in records if record.held_out.size]
    samples = [list(runs.values()) for runs in alike(dict(enumerate(finished)))]
    found = [(Group.of(kind_of(it[0].plan), it), stated_settings(it[0].plan)) for it in samples]
    groups = []
    for group, own in found:
        namesakes = [
            it for other, it in found if (other.task, other.name) == (group.task, group.name)
        ]
        differing = (name for name in own if any(it.get(name) != own[name] for it in namesakes))
        words = [f"{name.rpartition('.')[2]} {own[name]}" for name in differing]
        groups.append(group._replace(kind=", ".join((group.kind, *words[:N_SETTINGS]))))
    tasks, kinds = [it.task for it in groups], [it.kind for it in groups]
    return sorted(
        groups, key=lambda it: (tasks.index(it.task), kinds.index(it.kind), it.n_parameters)
    )


class PrintedPoint(NamedTuple):
    """A return and a number of parameters that the paper prints."""

    task: str
    n_parameters: float
    mean: Estimate
    """The late return, with the interval that follows from the printed deviation."""
    std: float
    """Its deviation over n - 1."""


def printed_points(paper: Paper, tasks: Iterable[str]) -> list[PrintedPoint]:
    """Return the paper's growing network on those of the tasks that it has."""
    table, n, found, wanted = paper.tables["II"], paper.settings["seeds"].value, [], set(tasks)
    for row in table.rows:
        if row.task in wanted and row.condition == "smgrnn":
            late, size = (table.cell(row.name, each) for each in ("late_return", "n_edges"))
            assert isinstance(n, int)
            assert late.mean is not None and late.std is not None and size.mean is not None  # noqa: PT018
            variance = late.std**2 * n / (n - 1)
            mean = student(late.mean, [variance], [n])
            found.append(PrintedPoint(str(row.task), size.mean, mean, math.sqrt(variance)))
    return found


def frontier_numbers(groups: Sequence[Group], paper: Paper) -> dict[str, Any]:
    """Return every number as plain values."""
    printed = [
        {
            "task": it.task,
            "parameters": it.n_parameters,
            "late_return": {"mean": it.mean.value, **bounds(it.mean.interval)},
            "std": it.std,
        }
        for it in printed_points(paper, (each.task for each in groups))
    ]
    return {"groups": [_numbers(each, groups) for each in groups], "paper": printed}


def _numbers(group: Group, groups: Sequence[Group]) -> dict[str, Any]:
    """Return a group's numbers, and how it compares with the MLPs unless it is one of them."""
    mlps = [it for it in groups if (it.task, it.kind) == (group.task, MLP) != (it.task, group.kind)]
    mlps.sort(key=lambda it: it.n_parameters)
    beside: dict[str, Any] | None = None
    if mlps:
        own = math.log(max(group.n_parameters, 1.0))  # pruning may leave none
        nearest = min(mlps, key=lambda it: abs(math.log(it.n_parameters) - own))
        above = mean_difference(nearest.returns, group.returns)
        beside = {"parameters": nearest.n_parameters, "difference": above.value}
        beside |= bounds(above.interval)
    return {
        "task": group.task,
        "student": group.kind,
        "asked": group.asked,
        "seeds": group.seeds,
        "parameters": {"median": group.n_parameters, "each": group.parameters},
        "held_out": {
            "mean": group.mean.value,
            **bounds(group.mean.interval),
            "std": float(np.std(group.returns, ddof=1)) if len(group.returns) > 1 else None,
            "worst": min(group.returns),
            "each": group.returns,
        },
        "nearest_mlp": beside,
    }


def frontier_tables(experiment: Experiment, results: Results, paper: Paper) -> list[DataTable]:
    """Return the table on the runs of an experiment; none if nothing has run."""
    runs = (results.runs(experiment, name).records for name in experiment.conditions)
    groups = group_runs(chain.from_iterable(runs))
    return [frontier_table(groups, frontier_numbers(groups, paper))] if groups else []


def frontier_table(groups: Sequence[Group], numbers: dict[str, Any]) -> DataTable:
    """Return a row for each group, and below those of a task for what the paper prints."""
    rows: dict[str, list[tuple[str, ...]]] = {group.task: [] for group in groups}
    for group, found in zip(groups, numbers["groups"], strict=True):
        held_out, nearest = found["held_out"], found["nearest_mlp"]
        std, difference = held_out["std"], MISSING
        if nearest is not None:
            sign = "+" if nearest["difference"] > 0 else ""
            difference = sign + _text(nearest["difference"], nearest)
        rows[group.task].append(
            (
                *(group.task, group.name, f"{group.n_parameters:g}", str(len(group.seeds))),
                _text(held_out["mean"], held_out),
                MISSING if std is None else number(std, 1),
                number(held_out["worst"], 1),
                MISSING if nearest is None else f"{nearest['parameters']:g}",
                difference,
            )
        )
    for it in numbers["paper"]:
        mean, std = _text(it["late_return"]["mean"], it["late_return"]), number(it["std"], 1)
        known = (it["task"], PRINTED, f"{it['parameters']:g}", MISSING, mean, std)
        rows[it["task"]].append((*known, *[MISSING] * (len(COLUMNS) + 2 - len(known))))
    notes = WORDS["notes"]["frontier"], WORDS["notes"]["printed"] if numbers["paper"] else ""
    table = DataTable.of(
        "Returns by size, beside MLPs",
        ("Task", "Student", *COLUMNS),
        chain.from_iterable(rows.values()),
        n_labels=2,
        id="frontier",
        note=" ".join(filter(None, notes)),
    )
    return replace(table, columns=tuple(map(Column, COLUMNS, COLUMNS.values())))


def _text(value: float, ends: dict[str, Any]) -> str:
    """Return a return with its interval, without a decimal where the interval is wide."""
    if ends["low"] is None:
        return number(value, 1)
    interval = Interval(ends["low"], ends["high"])
    is_wide = interval.high - interval.low >= WIDE
    return estimate_text(Estimate(value, interval), 0 if is_wide else 1)
