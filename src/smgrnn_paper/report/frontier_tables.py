"""The frontier as a table and as numbers: every group, beside MLPs and what the paper prints."""

import math
from collections.abc import Sequence
from typing import Any

from smgrnn.batch import Experiment
from smgrnn.text import MISSING, number
from smgrnn_paper.report.frontier import (
    Group,
    PrintedPoint,
    group_runs,
    mlp_as_good,
    nearest_mlp,
    printed_points,
)
from smgrnn_paper.report.paper import Column, Paper
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import Estimate, mean_difference
from smgrnn_paper.report.tables import Entry, Line, ReportTable, bounds, estimate_text

PRINTED = "as printed*"
"""Name of the paper's own numbers."""
WIDE = 20.0
"""Width of an interval from which on a decimal says nothing."""
COLUMNS = (
    Column("n_parameters", "Parameters"),
    Column("runs", "Runs"),
    Column("held_out_mean", "Held-out return"),
    Column("std", "Std"),
    Column("worst", "Worst"),
    Column("mlp_as_good", "MLP as good"),
    Column("nearest_mlp", "Nearest MLP"),
    Column("difference", "Above nearest MLP"),
)
NOTE = (
    "Parameters: the median over runs. Held-out return: the mean over runs of what each hands over "
    "[Student’s 95 % interval]. MLP as good: the parameters at which the line through the MLPs, "
    "over the logarithm of their parameters, first reaches that mean [95 % bootstrap interval], "
    "beyond the smallest (≤) or the largest MLP (>) if nowhere between. Above nearest MLP: how far "
    "the mean is above that of the MLP nearest in size [Welch’s 95 % interval]."
)
PRINTED_NOTE = (
    " * The growing network of the paper’s Table II: returns late in training, not held-out ones."
)


def frontier_table(groups: Sequence[Group], paper: Paper) -> ReportTable:
    """Return a line for each group, and below those of a task for what the paper prints."""
    printed = printed_points(paper, (each.task for each in groups))
    lines: list[Line] = []
    for task in dict.fromkeys(each.task for each in groups):
        lines += [_line(each, groups) for each in groups if each.task == task]
        lines += [_printed_line(each) for each in printed if each.task == task]
    return ReportTable(
        id="frontier",
        title="Returns by size, beside MLPs",
        headings=("Task", "Student"),
        columns=COLUMNS,
        lines=tuple(lines),
        note=NOTE + (PRINTED_NOTE if printed else ""),
    )


def frontier_tables(experiment: Experiment, results: Results, paper: Paper) -> list[ReportTable]:
    """Return the table on the runs of an experiment; none if nothing has run."""
    runs = (results.runs(experiment, name).records for name in experiment.conditions)
    groups = group_runs(record for found in runs for record in found)
    return [frontier_table(groups, paper)] if groups else []


def _line(group: Group, groups: Sequence[Group]) -> Line:
    equal, nearest = mlp_as_good(group, groups), nearest_mlp(group, groups)
    texts = (
        f"{group.n_parameters:g}",
        str(len(group.seeds)),
        _text(group.mean),
        MISSING if group.std is None else number(group.std, 1),
        number(min(group.returns), 1),
        MISSING if equal is None else equal.text(),
        MISSING if nearest is None else f"{nearest.n_parameters:g}",
        MISSING if nearest is None else _signed(mean_difference(nearest.returns, group.returns)),
    )
    return Line((group.task, group.name), tuple(map(Entry, COLUMNS, texts)))


def _printed_line(point: PrintedPoint) -> Line:
    known = {
        "n_parameters": f"{point.n_parameters:g}",
        "held_out_mean": _text(point.mean),
        "std": number(point.std, 1),
    }
    entries = (Entry(column, known.get(column.name, MISSING)) for column in COLUMNS)
    return Line((point.task, PRINTED), tuple(entries))


def _signed(difference: Estimate) -> str:
    plain = _text(difference)
    return f"+{plain}" if difference.value > 0 else plain


def _text(found: Estimate) -> str:
    """Return a return with its interval, without a decimal where the interval is wide."""
    low, high = found.interval
    is_wide = WIDE <= high - low < math.inf
    return estimate_text(found, 0 if is_wide else 1)


def frontier_numbers(groups: Sequence[Group], paper: Paper) -> dict[str, Any]:
    """Return every number as plain values."""
    printed = printed_points(paper, (each.task for each in groups))
    return {
        "groups": [_numbers(each, groups) for each in groups],
        "paper": [
            {
                "task": each.task,
                "parameters": each.n_parameters,
                "late_return": {"mean": each.mean.value, **bounds(each.mean.interval)},
                "std": each.std,
            }
            for each in printed
        ],
    }


def _numbers(group: Group, groups: Sequence[Group]) -> dict[str, Any]:
    equal, nearest = mlp_as_good(group, groups), nearest_mlp(group, groups)
    found = {
        "task": group.task,
        "student": group.kind,
        "asked": group.asked,
        "seeds": group.seeds,
        "parameters": {"median": group.n_parameters, "each": group.parameters},
        "held_out": {
            "mean": group.mean.value,
            **bounds(group.mean.interval),
            "std": group.std,
            "worst": min(group.returns),
            "each": group.returns,
        },
        "mlp_as_good": None if equal is None else equal.to_dict(),
        "nearest_mlp": None,
    }
    if nearest is not None:
        difference = mean_difference(nearest.returns, group.returns)
        found["nearest_mlp"] = {
            "parameters": nearest.n_parameters,
            "difference": difference.value,
            **bounds(difference.interval),
        }
    return found
