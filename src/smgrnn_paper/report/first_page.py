"""First page: ours beside the paper's, the counts, the findings, and what is missing."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from smgrnn.pages.page import Block, Cell, DataTable
from smgrnn.text import duration, number, quantity
from smgrnn_paper.experiments.paper import TASKS
from smgrnn_paper.report.own_tables import make_table, metrics_of
from smgrnn_paper.report.page import Points, Tally
from smgrnn_paper.report.paper import METRICS, WORDS, Paper, Printed
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.tables import LIKENESS, Measured, entries
from smgrnn_paper.report.verdicts import TONES, Finding

PLURALS = {"holds": "hold", "does not hold": "do not hold", "in part": "hold in part"}
"""Verdicts on several claims."""
MOST_FILES = 10
"""Most damaged files that are listed."""


def at_a_glance(results: Results, paper: Paper) -> DataTable:
    """Return the main numbers of networks that grow and that do not, beside the paper's."""
    rows = []
    for task in TASKS:
        for student in ("smgrnn", "static"):
            runs = results.find(task, student).table
            cells = entries(runs, metrics_of("glance"), as_printed(paper, task, student))
            rows.append(((task, student), cells))
    return make_table("glance", rows)


def as_printed(paper: Paper, task: str, student: str) -> dict[str, Printed]:
    """Return what the paper prints of a condition, by metric, with a deviation if it has one."""
    found: dict[str, Printed] = {}
    for table in paper.tables.values():
        for (row, metric), cell in table.cells.items():
            if row == f"{task}/{student}" and (metric not in found or cell.std is not None):
                found[metric] = cell
    return found


def findings(judged: Sequence[Finding], results: Results, paper: Paper) -> list[Block]:
    """Return the findings whose runs are there: sentences with our numbers, and verdicts."""
    words, known, items = WORDS["findings"], {each.claim.id: each for each in judged}, []
    for item in words["items"]:
        slots = re.findall(r"{(\w+) (\w+) ([\w-]+)}", item["text"])
        numbers = [_each_task(results, paper, *slot) for slot in slots]
        there = [known[id] for id in item["claims"] if id in known]
        verdicts = tuple(
            (Cell(each.standing, tone=TONES[each.standing]), each.claim.sentence) for each in there
        )
        if all(numbers):
            text = re.sub(r"{.*?}", "{}", item["text"]).format(*numbers)
            items.append((item["word"], text, verdicts))
    return [Points(words["title"], words["note"], tuple(items))] if items else []


def _each_task(results: Results, paper: Paper, what: str, metric: str, student: str) -> str:
    """Return a number for each control task in one phrase; empty if runs are missing."""
    values = []
    for task in TASKS:
        ours = Measured.of(results.find(task, student).table.values(metric))
        if ours is None:
            return ""
        if what == "paper":
            value = as_printed(paper, task, student)[metric].mean
            assert value is not None
        elif what == "std":
            value = ours.std
        else:
            value = ours.mean
        values.append(number(value, METRICS[metric].decimals))
    *first, last = values
    return f"{', '.join(first)} and {last}"


def tallies(overview: dict[str, Any], name: str) -> list[Block]:
    """Return the counts of claims by verdict and of cells by likeness, as far as there are any."""
    blocks: list[Block] = []
    if n := sum(overview["standings"].values()):
        counts = [(it, k) for it, k in overview["standings"].items() if k or it != "not run"]
        parts = tuple((PLURALS.get(it, it), k, TONES[it]) for it, k in counts)
        blocks.append(Tally(f"{n} {name}", parts, _caution(overview)))
    if n := sum(overview["likeness"].values()):
        cells = tuple((it, k, LIKENESS[it]) for it, k in overview["likeness"].items())
        near, apart, _ = overview["distances"].values()
        remark = f"{near} are within one printed deviation, {near + apart} within two."
        blocks.append(Tally(f"{n} table cells, ours beside the paper’s", cells, remark))
    steps = overview["steps"]
    large = f"{steps / 1e6:.1f} million" if steps >= 1e6 else number(steps, 0)
    runs = f"{number(overview['n_runs'], 0)} of {quantity(overview['n_asked'], 'run')}"
    time = duration(overview["seconds"])
    return [*blocks, f"{runs} · {large} environment steps · {time} of computing on one core"]


def _caution(overview: dict[str, Any]) -> str:
    """Return how many of the claims that hold are weak evidence."""
    evidence = {name: counts["holds"] for name, counts in overview["evidence"].items()}
    n_circular = sum(n for name, n in evidence.items() if name != "independent")
    if not n_circular + overview["n_hardly_failing"]:
        return ""
    return (
        f"Of those that hold, {evidence['independent']} are independent of the calibration, "
        f"{n_circular} are circular at least in part, and {overview['n_hardly_failing']} could "
        "hardly fail."
    )


def gaps(overview: dict[str, Any], experiments: Iterable[dict[str, Any]]) -> list[Block]:
    """Return tables of the runs that are missing, by experiment, and of damaged files."""
    blocks: list[Block] = []
    if overview["missing"]:
        counts = [(it["id"], it["n_asked"] - it["n_runs"], it["n_asked"]) for it in experiments]
        rows = [(id, f"{missing} of {asked}") for id, missing, asked in counts if missing]
        title = f"{quantity(len(overview['missing']), 'run')} missing: all numbers are without them"
        blocks.append(DataTable.of(title, ("Experiment", "Missing"), rows))
    if damaged := overview["damaged"]:
        shown = [(reason,) for reason in damaged[:MOST_FILES]]
        if len(damaged) > MOST_FILES:
            shown.append((f"… and {len(damaged) - MOST_FILES} more",))
        blocks.append(DataTable.of("Files that could not be read", ("File",), shown))
    return blocks
