"""Returns by teacher: the same students of three teachers of a task and of its smooth one."""

import numpy as np

from smgrnn.batch import Experiment
from smgrnn.experts import shipped_experts
from smgrnn.text import number
from smgrnn_paper.experiments.paper import SMOOTH, STUDENTS, TASKS, TEACHERS
from smgrnn_paper.report.paper import Column
from smgrnn_paper.report.results import Results, Runs
from smgrnn_paper.report.tables import Line, ReportTable, measured_entries
from smgrnn_paper.report.wording import METRICS

TEACHER_METRICS = ("late_return", "held_out_mean")
ALL = "all three"
NOTE = (
    "Over all seeds, which take the three teachers in turn. No student had a say in these; the "
    "smooth experts were chosen by what MLP students made of them. A teacher's own return is over "
    "100 held-out episodes."
)


def teacher_tables(experiment: Experiment, results: Results) -> list[ReportTable]:
    """Return the table of the returns on each task, for each student by its teacher."""
    columns = tuple(Column(name, METRICS[name].word.capitalize()) for name in TEACHER_METRICS)
    lines = []
    for task in TASKS:
        own = _own_returns(task)
        for student in STUDENTS:
            for teacher, runs in _by_teacher(experiment, results, task, student).items():
                labels = (task, student, teacher, number(own[teacher], 1))
                lines.append(Line(labels, measured_entries(runs, columns)))
    return [
        ReportTable(
            id="teachers",
            title="Returns by teacher",
            headings=("Task", "Student", "Teacher", "Its own return"),
            columns=columns,
            lines=tuple(lines),
            note=NOTE,
        )
    ]


def _by_teacher(
    experiment: Experiment, results: Results, task: str, student: str
) -> dict[str, Runs]:
    """Return the runs of a student by the short name of their teacher, those of all three first."""
    three = results.runs(experiment, f"{task}/{student}")
    each = {_short(name): three.taught_by(name) for name in TEACHERS[task]}
    smooth = results.runs(experiment, f"{task}/{student}{SMOOTH}")
    return {ALL: three} | each | {"smooth": smooth}


def _own_returns(task: str) -> dict[str, float]:
    """Return the teachers' own returns by their short names, and the mean of the three."""
    records = {name: each for name, each in shipped_experts().items() if each["task"] == task}
    own = {_short(name): float(each["held_out"]["mean"]) for name, each in records.items()}
    return own | {ALL: float(np.mean([own[_short(name)] for name in TEACHERS[task]]))}


def _short(teacher: str) -> str:
    """Return the name of a teacher without its task.

    >>> _short("CartPole-v1-plain-0")
    'plain-0'
    """
    return "-".join(teacher.split("-")[2:])
