"""Sheets: plain tables of texts, behind the tables and claims."""

from collections.abc import Iterator
from typing import NamedTuple

from smgrnn.text import MISSING, duration, number, quantity
from smgrnn_paper.report import wording
from smgrnn_paper.report.changes import Changes
from smgrnn_paper.report.contents import Section
from smgrnn_paper.report.tables import Measured, ReportTable
from smgrnn_paper.report.verdicts import Finding, comparisons


class Sheet(NamedTuple):
    """Headings and rows of texts."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1
    """Number of columns, from the first, that label a row."""


def side_by_side(table: ReportTable) -> Sheet:
    """Return a table of a single metric with our and the paper's values in a column each."""
    rows = [
        (*line.labels, entry.text, entry.paper, entry.comparison)
        for line in table.lines
        for entry in line.entries
    ]
    headings = (*table.headings, "Ours", "Paper", "Difference")
    return Sheet(headings, tuple(rows), len(table.headings))


def details(table: ReportTable) -> Sheet:
    """Return all statistics behind a table, one row per cell."""
    rows = []
    for line in table.lines:
        for entry in line.entries:
            ours = entry.ours
            n = str(ours.n) if isinstance(ours, Measured) else "0"
            paper = entry.paper or MISSING
            heading = entry.column.heading
            rows.append((*line.labels, heading, n, entry.text, entry.iqm, paper, entry.comparison))
    headings = ("Metric", "Runs", "Mean ± std", "IQM [95 %]", "Paper", "Difference")
    return Sheet((*table.headings, *headings), tuple(rows), len(table.headings) + 1)


def samples(finding: Finding) -> Sheet:
    """Return the statistics of each condition that a claim is about."""
    decimals = wording.METRICS[finding.claim.metric].decimals
    rows = []
    for sample in finding.samples:
        ours, n = sample.ours, sample.n_asked
        source = sample.source.task, wording.condition_text(sample.source.condition)
        if ours is None:
            rows.append((*source, f"0 of {n}", MISSING, MISSING))
            continue
        texts = ours.text(decimals), ours.iqm_text(decimals)
        rows.append((*source, f"{ours.n} of {n}", *texts))
    return Sheet(("Task", "Condition", "Runs", "Mean ± std", "IQM [95 %]"), tuple(rows), 2)


def tests(finding: Finding) -> Sheet:
    """Return every comparison that a claim needs, its effect and its p-values, not corrected."""
    rows = []
    for text, found in comparisons(finding):
        effect = f"{number(found.effect, 2)} {wording.between(*found.interval, 2)}"
        p_values = map(wording.p_value, (found.p_for, found.p_against, found.p_equal))
        rows.append((text, effect, *p_values))
    headings = ("Comparison", "Probability [95 %]", "For", "Against", "No difference")
    return Sheet(headings, tuple(rows))


def changes(found: Changes) -> Sheet:
    """Return the claims whose verdict has changed, and what did it."""
    rows = [(each.sentence, each.first, each.now, each.cause) for each in found.changed]
    return Sheet(("The paper says", "First report", "Now", "Changed by"), tuple(rows))


def conditions(section: Section) -> Sheet:
    """Return the settings that each condition has of its own, and how much of it has run."""
    rows = []
    for setup in section.setups:
        own = ", ".join(f"{name} = {value}" for name, value in setup.own.items())
        runs = f"{setup.n_runs} of {setup.n_asked}"
        name, student = wording.condition_text(setup.name), setup.student
        steps, time = number(setup.steps, 0), duration(setup.seconds)
        rows.append((name, student, own or "none", runs, steps, time))
    headings = ("Condition", "Student", "Settings of its own", "Runs", "Steps", "Time")
    return Sheet(headings, tuple(rows))


def settings(section: Section) -> Iterator[tuple[str, Sheet]]:
    """Yield the settings of each condition and of each student, every sheet with its title."""
    yield "Conditions, and the settings that each has of its own", conditions(section)
    for name, shared in section.shared.items():
        sheet = Sheet(("Setting", "Value"), tuple(shared.items()))
        yield f"Settings that all runs of {name} share", sheet


def warnings(section: Section) -> list[str]:
    """Return the warnings of an experiment, and how many runs gave each."""
    return [f"{quantity(n, 'run')} warned: {it}" for it, n in section.warnings.items()]


def gaps(section: Section) -> list[str]:
    """Return how many runs of an experiment are missing, by condition."""
    return [
        f"{wording.condition_text(each.name)}: {quantity(n, 'run')} of {each.n_asked}"
        for each in section.setups
        if (n := each.n_asked - each.n_runs)
    ]
