"""Contents: what a report shows, in which order, and all of its numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any, NamedTuple

from smgrnn.batch import Experiment
from smgrnn.pages.comparison import Stated, stated_settings
from smgrnn.pages.figure import take_picture
from smgrnn.pages.page import Block, DataTable, Illustration, Row
from smgrnn.runs.stage_scores import FIGURES as SEQUENCE_FIGURES
from smgrnn.text import quantity
from smgrnn_paper.experiments import EXPERIMENTS, STUDIES
from smgrnn_paper.report.claims import load_claims, load_hypotheses
from smgrnn_paper.report.figures.registry import draw
from smgrnn_paper.report.figures.style import CONDITIONS, TASKS
from smgrnn_paper.report.first_page import at_a_glance, findings, gaps, tallies
from smgrnn_paper.report.frontier import frontier_tables
from smgrnn_paper.report.own_tables import own_tables
from smgrnn_paper.report.page import Fold, Notice, Page, Section, picture_file, table_numbers
from smgrnn_paper.report.paper import METRICS, WORDS, Paper, load_paper
from smgrnn_paper.report.results import Results, Runs, base_name, describe_shortness, span
from smgrnn_paper.report.tables import (
    Measured,
    compare,
    condition_text,
    count_distances,
    count_likeness,
)
from smgrnn_paper.report.verdicts import TONES, Finding, claim_tables, count_evidence, judge

FRONT = "Fig. 3"
"""The figure on the first page."""
RECORDED = ("late_return", "held_out_mean", "early_lost", "late_edges", "seconds")
"""Metrics of every condition that `summary.json` has, beside those of sequences."""
READABLE = {name: look.label for name, look in (CONDITIONS | TASKS).items()}
"""Names of tasks and conditions for readers."""


class Report(NamedTuple):
    """A whole report: what is shown, and every number as plain values."""

    page: Page
    numbers: dict[str, Any]


class Part(NamedTuple):
    """What there is on an experiment."""

    section: Section
    tables: tuple[DataTable, ...]
    findings: tuple[Finding, ...]
    numbers: dict[str, Any]
    """Its question, seeds and settings, and the runs and results of each condition."""


def build_report(results: Results) -> Report:
    """Return the report on some results."""
    paper, words = load_paper(), WORDS["page"]
    names = {base_name(experiment) for experiment in results.chosen}
    known = (load_claims() | load_hypotheses()).values()
    judged = judge([claim for claim in known if claim.experiment in names], results)
    parts = [_part(each, results, paper, judged) for each in results.chosen]
    overview = _overview(results, parts)
    is_paper = any(experiment.id in EXPERIMENTS for experiment in results.chosen)
    is_beyond = all(experiment.id in STUDIES for experiment in results.chosen)
    kind, noun = ("beyond_", "hypotheses") if is_beyond else ("", "claims")
    blocks: list[Block] = [Notice(overview["short"])] if overview["short"] else []
    blocks += [words[f"{kind}introduction"], *tallies(overview, noun)]
    if is_paper:
        blocks += [_readable(at_a_glance(results, paper)), *findings(judged, results, paper)]
    if any(FRONT in experiment.artefacts for experiment in results.chosen):
        blocks.append(_illustrate(FRONT.split()[1], results, paper))
    versions = ", ".join(f"{name} {' and '.join(it)}" for name, it in overview["versions"].items())
    how = (*words["how"], *([f"Computed with {versions}."] if versions else []))
    blocks += [Fold("How to read the numbers and verdicts", how)]
    blocks += gaps(overview, [part.numbers for part in parts])
    sections = tuple(part.section for part in parts)
    page = Page(words[f"{kind}title"], tuple(blocks), sections)
    numbers = {
        **overview,
        "tables": [table_numbers(table) for part in parts for table in part.tables],
        "claims": [found.to_dict() for part in parts for found in part.findings],
        "experiments": [part.numbers for part in parts],
        "figures": {it.name: picture_file(it) for it in page.illustrations},
    }
    return Report(page, numbers)


def _part(
    experiment: Experiment, results: Results, paper: Paper, judged: Sequence[Finding]
) -> Part:
    """Return the section of an experiment: question, figures, tables, claims."""
    name, tables, pictures = base_name(experiment), [], []
    title, found = name.replace("-", " "), [it for it in judged if it.claim.experiment == name]
    for artefact in experiment.artefacts:
        kind, id = artefact.split(" ", 1)
        if kind == "Table":
            tables.append(compare(paper.tables[id], experiment, results))
        elif artefact != FRONT:
            pictures.append(_illustrate(id, results, paper))
    if name.startswith(("frontier", "nonlinear")):
        tables += frontier_tables(experiment, results, paper)
    else:
        tables += own_tables(experiment, results, paper)
    shared, conditions = _conditions(experiment, results)
    n_runs, n_asked = (sum(it[key] for it in conditions) for key in ("n_runs", "n_asked"))
    seeds = span((it["n_asked"] for it in conditions), "seed")
    episodes = span((it.episodes for it in experiment.conditions.values()), "episode")
    facts = f"{n_runs} of {quantity(n_asked, 'run')} · {seeds} · {episodes} · {experiment.id}"
    blocks: list[Block] = [experiment.question, facts, *pictures]
    folds = []
    for shown in map(_readable, tables):
        if shown.where and not any(column.name in METRICS for column in shown.columns):
            folds.append(Fold(shown.heading, (replace(shown, title=""),)))  # settings, no results
        else:
            blocks.append(shown)
    if found:
        noun = "Hypotheses" if experiment.id in STUDIES else "Claims"
        blocks += claim_tables(found, f"{noun} on {title}")
    blocks += folds
    numbers = {
        "id": experiment.id,
        "question": experiment.question,
        "seeds": list(experiment.seeds),
        "n_runs": n_runs,
        "n_asked": n_asked,
        "settings": shared,
        "conditions": conditions,
    }
    section = Section(experiment.id, title.capitalize(), tuple(blocks))
    return Part(section, tuple(tables), tuple(found), numbers)


def _readable(table: DataTable) -> DataTable:
    """Return a table with names of tasks and conditions for readers."""
    rows = (
        Row(tuple(READABLE.get(it, condition_text(it)) for it in row.labels), row.cells)
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _illustrate(id: str, results: Results, paper: Paper) -> Illustration:
    """Return a figure; a caption of the paper's describes its panels, those of a kind together."""
    drawn = draw(id, results)
    picture = None if drawn is None else take_picture(drawn)
    if id not in paper.figures:
        return Illustration(id, picture=picture, **WORDS["figures"][id])
    figure, letters, shown = paper.figures[id], iter("abcdefghijklmnopqrstuvwxyz"), []
    for text, alike in groupby(figure.panels, key=lambda panel: panel.shows):
        names = [next(letters) for _ in alike]
        shown.append(f"({'–'.join(dict.fromkeys((names[0], names[-1])))}) {text}")
    caption = "; ".join(shown) if len(figure.panels) > 1 else figure.title
    return Illustration(id, figure.title, f"{caption}.", picture, figure.where)


def _conditions(
    experiment: Experiment, results: Results
) -> tuple[dict[str, Stated], list[dict[str, Any]]]:
    """Return the settings that all runs of a student share, and each condition with its results.

    A setting in which the runs of a condition differ, such as the teacher, has all of its values.
    """
    shared: dict[str, Stated] = {}
    conditions: list[dict[str, Any]] = []
    for name, condition in experiment.conditions.items():
        runs = results.runs(experiment, name)
        first = {condition.expert(seed): seed for seed in reversed(runs.seeds)}
        plans = [condition.plan(seed) for seed in sorted(first.values())]
        each, student = [stated_settings(plan) for plan in plans], plans[0].student
        common = set.intersection(*(set(it.items()) for it in each))
        before = shared.get(student, each[0])
        shared[student] = {key: it for key, it in before.items() if (key, it) in common}
        values = {key: dict.fromkeys(it[key] for it in each if key in it) for key in chain(*each)}
        own = {key: " / ".join(it) for key, it in values.items()}
        counts = {"n_runs": len(runs.records), "n_asked": len(runs.seeds)}
        found = {"name": name, "student": student, "own": own, **counts, "results": _results(runs)}
        conditions.append(found)
    for it in conditions:
        it["own"] = {k: value for k, value in it["own"].items() if k not in shared[it["student"]]}
    return shared, conditions


def _results(runs: Runs) -> dict[str, Any]:
    """Return the metrics of a condition over all of its runs."""
    is_sequence = any(record.stage_scores.size for record in runs.records)
    names = (*RECORDED, *SEQUENCE_FIGURES) if is_sequence else RECORDED
    measured = {name: Measured.of(runs.values(name)) for name in names}
    return {name: found.to_dict() for name, found in measured.items() if found}


def _overview(results: Results, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the report in a few numbers; a run that several experiments share counts once."""
    records, missing = results.all_records(), tuple(results.missing().values())
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, version in record.versions.items():
            versions.setdefault(package, set()).add(version)
    found = [each for part in parts for each in part.findings]
    tables = [table for part in parts for table in part.tables]
    standings = Counter(each.standing for each in found)
    hardly_failing = [it for it in found if it.standing == "holds" and it.claim.hardly_fails]
    asked = {it["n_asked"] for part in parts for it in part.numbers["conditions"]}
    return {
        "short": describe_shortness(results.chosen),
        "n_runs": len(records),
        "n_asked": len(records) + len(missing),
        "n_seeds": tuple(sorted(asked)),
        "steps": sum(record.spent.steps for record in records),
        "seconds": sum(record.spent.seconds for record in records),
        "versions": {package: tuple(sorted(found)) for package, found in versions.items()},
        "missing": missing,
        "damaged": tuple(results.damaged.values()),
        "standings": {standing: standings[standing] for standing in TONES},
        "evidence": count_evidence(found),
        "distances": count_distances(tables),
        "likeness": count_likeness(tables),
        "n_hardly_failing": len(hardly_failing),
    }
