"""Tables of the questions beyond the paper: every condition, and what it reached at which size."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from smgrnn.batch import Experiment
from smgrnn.runs.course import FIGURES
from smgrnn_paper.report.paper import Column, read_data
from smgrnn_paper.report.results import Results, base_name, short_name
from smgrnn_paper.report.tables import Entry, Line, Measured, ReportTable, measured_entries
from smgrnn_paper.report.wording import METRICS

METRICS_SHOWN = ("late_return", "held_out_mean", "late_edges", "seconds")
SEQUENCE_METRICS = (*FIGURES, "early_lost", "late_edges", "seconds")
"""Those of the experiment on sequences; the last three are of the last stage."""


def beyond_tables(experiment: Experiment, results: Results) -> list[ReportTable]:
    """Return the table of all conditions, over all of their seeds."""
    is_sequence = base_name(experiment) == "task-sequences"
    shown = SEQUENCE_METRICS if is_sequence else METRICS_SHOWN
    columns = tuple(Column(name, METRICS[name].word.capitalize()) for name in shown)
    lines = []
    for name, condition in experiment.conditions.items():
        labels = (condition.task, short_name(condition, name))
        lines.append(Line(labels, measured_entries(results.runs(experiment, name), columns)))
    if base_name(experiment) == "credit-assignment":
        lines += [_gru_line(task, columns) for task in gru_returns()]
    return [
        ReportTable(
            id=f"{base_name(experiment)}-all",
            title="Every condition",
            headings=("Task", "Condition"),
            columns=columns,
            lines=tuple(lines),
        )
    ]


def gru_returns() -> dict[str, list[float]]:
    """Return the late returns of the GRU by task, one for each seed."""
    found: dict[str, Any] = read_data("gru.toml")["late_return"]
    return found


def _gru_line(task: str, columns: Sequence[Column]) -> Line:
    values = Measured.of(np.array(gru_returns()[task]))
    entries = (Entry(each, values if each.name == "late_return" else None) for each in columns)
    return Line((task, "gru"), tuple(entries))
