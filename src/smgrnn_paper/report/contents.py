"""Contents: what a report shows, in which order, and all of its numbers."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any, NamedTuple

from smgrnn.batch import Experiment
from smgrnn.pages.figure import take_picture
from smgrnn.pages.page import Block, DataTable, Facts, Illustration, Notice, Page, Section
from smgrnn.pages.settings import Stated, stated_settings
from smgrnn.runs.record import Record
from smgrnn.text import duration, number, quantity
from smgrnn_paper.experiments import EXPERIMENTS, STUDIES
from smgrnn_paper.experiments.beyond import BEYOND
from smgrnn_paper.report.calibration import calibration_tables
from smgrnn_paper.report.claims import load_claims, load_hypotheses
from smgrnn_paper.report.figures.registry import FIGURES, draw
from smgrnn_paper.report.frontier import frontier_tables
from smgrnn_paper.report.own_tables import at_a_glance, every_condition, own_tables
from smgrnn_paper.report.paper import WORDS, Figure, Paper, load_paper
from smgrnn_paper.report.results import Results, base_name, describe_shortness
from smgrnn_paper.report.tables import compare, condition_text, count_distances
from smgrnn_paper.report.verdicts import TONES, Finding, claim_tables, judge


@dataclass(frozen=True)
class Report:
    """A whole report: what is shown, and every number as plain values."""

    page: Page
    numbers: dict[str, Any]


class Part(NamedTuple):
    """What there is on an experiment."""

    section: Section
    tables: tuple[DataTable, ...]
    findings: tuple[Finding, ...]
    numbers: dict[str, Any]
    """Its question, seeds and settings; how many runs of each condition there are."""


def build_report(results: Results) -> Report:
    """Return the report on some results."""
    paper = load_paper()
    names = {base_name(experiment) for experiment in results.chosen}
    known = (*load_claims().values(), *load_hypotheses().values())
    findings = judge([claim for claim in known if claim.experiment in names], results)
    parts = [_part(each, results, paper, findings) for each in results.chosen]
    is_paper = any(experiment.id in EXPERIMENTS for experiment in results.chosen)
    drawn = {artefact for each in results.every.values() for artefact in each.artefacts}
    drawings = [
        _illustrate(id, results, paper)
        for id in (paper.figures if is_paper else ())
        if f"Fig. {id}" not in drawn
    ]
    overview = _overview(results, parts)
    numbers = {
        **overview,
        "tables": [table.to_dict() for part in parts for table in part.tables],
        "claims": [found.to_dict() for part in parts for found in part.findings],
        "experiments": [part.numbers for part in parts],
        "figures": {
            it.name: it.file
            for it in (*drawings, *chain(*(part.section.blocks for part in parts)))
            if isinstance(it, Illustration)
        },
    }
    is_beyond = all(experiment.id in BEYOND for experiment in results.chosen)
    words, kind = WORDS["page"], "beyond_" if is_beyond else ""
    blocks: list[Block] = [words[f"{kind}introduction"], *_facts(overview, parts)]
    blocks += [at_a_glance(results, paper)] if is_paper else []
    blocks += [words["claims"]] if is_beyond else [words["numbers"], words["claims"]]
    sections = [part.section for part in parts]
    if drawings:
        sections.insert(0, Section("method", "Method", tuple(drawings)))
    if found := [found for part in parts for found in part.findings]:
        title_of = "Our hypotheses and verdicts" if is_beyond else "Claims and verdicts"
        tables = claim_tables(found, title_of)
        sections.insert(0, Section("claims", "Hypotheses" if is_beyond else "Claims", tables))
    return Report(
        Page(words[f"{kind}title"], tuple(blocks), tuple(sections), overview["short"]), numbers
    )


def _part(
    experiment: Experiment, results: Results, paper: Paper, judged: Sequence[Finding]
) -> Part:
    """Return the section of an experiment: question, facts, figures, tables, settings."""
    name, tables, illustrations = base_name(experiment), [], []
    for artefact in experiment.artefacts:
        kind, id = artefact.split(" ", 1)
        if kind == "Table":
            tables.append(compare(paper.tables[id], experiment, results))
        else:
            illustrations.append(_illustrate(id, results, paper))
    if name == "frontier":
        tables += frontier_tables(experiment, results, paper)
    elif experiment.id in BEYOND:
        tables.append(every_condition(experiment, results))
    elif experiment.id in STUDIES:
        tables += calibration_tables(experiment, results, paper)
    else:
        tables += own_tables(experiment, results, paper)
    shared, conditions = _settings(experiment, results)
    rows = [
        (
            condition_text(it["name"]),
            it["student"],
            ", ".join(f"{key} = {value}" for key, value in it["own"].items()) or "none",
            f"{it['n_runs']} of {it['n_asked']}",
        )
        for it in conditions
    ]
    heads = ("Condition", "Student", "Settings of its own", "Runs")
    folded = [DataTable.of("Conditions, and the settings that each has of its own", heads, rows)]
    for student, stated in shared.items():
        title = f"Settings that all runs of {student} share"
        folded.append(DataTable.of(title, ("Setting", "Value"), list(stated.items())))
    findings = tuple(each for each in judged if each.claim.experiment == name)
    counts = Counter(finding.standing for finding in findings)
    verdicts = ", ".join(f"{counts[it]} {it}" for it in TONES if counts[it])
    n_runs, n_asked = (sum(it[key] for it in conditions) for key in ("n_runs", "n_asked"))
    facts = f"{experiment.id} · {n_runs} of {quantity(n_asked, 'run')}"
    blocks: tuple[Block, ...] = (
        experiment.question,
        f"{facts} · claims: {verdicts}" if verdicts else facts,
        *illustrations,
        *tables,
        *(replace(table, is_folded=True) for table in folded),
    )
    numbers = {
        "id": experiment.id,
        "question": experiment.question,
        "seeds": list(experiment.seeds),
        "settings": shared,
        "conditions": conditions,
    }
    title = name.replace("-", " ").capitalize()
    return Part(Section(experiment.id, title, blocks), tuple(tables), findings, numbers)


def _illustrate(id: str, results: Results, paper: Paper) -> Illustration:
    drawn = draw(id, results)
    picture = None if drawn is None else take_picture(drawn)
    if id not in paper.figures:
        spec = FIGURES[id]
        return Illustration(id, spec.title, spec.caption, picture)
    figure = paper.figures[id]
    return Illustration(id, figure.title, _caption(figure), picture, figure.where)


def _caption(figure: Figure) -> str:
    """Return a description of a figure's panels, those of a kind together."""
    if len(figure.panels) == 1:
        return f"{figure.title}."
    letters, shown = iter("abcdefghijklmnopqrstuvwxyz"), []
    for text, alike in groupby(figure.panels, key=lambda panel: panel.shows):
        names = [next(letters) for _ in alike]
        shown.append(f"({'–'.join(dict.fromkeys((names[0], names[-1])))}) {text}")
    return f"{'; '.join(shown)}."


def _settings(
    experiment: Experiment, results: Results
) -> tuple[dict[str, Stated], list[dict[str, Any]]]:
    """Return the settings that all runs of a student share, and what each condition has of its own.

    A setting in which the runs of a condition differ, such as the teacher, has all of its values.
    """
    shared: dict[str, Stated] = {}
    found: dict[str, tuple[str, list[Stated]]] = {}
    for name, condition in experiment.conditions.items():
        first = {condition.expert(seed): seed for seed in reversed(experiment.all_seeds(name))}
        plans = [condition.plan(seed) for seed in sorted(first.values())]
        found[name] = plans[0].student, [stated_settings(plan) for plan in plans]
        for stated in found[name][1]:
            before = shared.get(plans[0].student, stated)
            both = {key: it for key, it in before.items() if stated.get(key) == it}
            shared[plans[0].student] = both
    conditions = []
    for name, (student, each) in found.items():
        own = [key for key in dict.fromkeys(chain(*each)) if key not in shared[student]]
        values = {key: dict.fromkeys(it[key] for it in each if key in it) for key in own}
        conditions.append(
            {
                "name": name,
                "student": student,
                "own": {key: " / ".join(it) for key, it in values.items()},
                "n_runs": len(results.runs(experiment, name).records),
                "n_asked": len(experiment.all_seeds(name)),
            }
        )
    return shared, conditions


def _overview(results: Results, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the report in a few numbers; a run that several experiments share counts once."""
    records, missing = results.all_records(), tuple(results.missing().values())
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, version in record.versions.items():
            versions.setdefault(package, set()).add(version)
    findings = [found for part in parts for found in part.findings]
    standings = Counter(found.standing for found in findings)
    return {
        "short": describe_shortness(results.chosen),
        "n_runs": len(records),
        "n_asked": len(records) + len(missing),
        "n_seeds": tuple(
            sorted({it["n_asked"] for part in parts for it in part.numbers["conditions"]})
        ),
        "steps": sum(record.spent.steps for record in records),
        "seconds": sum(record.spent.seconds for record in records),
        "wall_seconds": _wall_seconds(records),
        "versions": {package: tuple(sorted(found)) for package, found in versions.items()},
        "missing": missing,
        "damaged": tuple(results.damaged.values()),
        "standings": {standing: standings[standing] for standing in TONES},
        "distances": count_distances(table for part in parts for table in part.tables),
        "n_hardly_failing": sum(
            found.standing == "holds" and bool(found.claim.hardly_fails) for found in findings
        ),
    }


def _wall_seconds(records: Sequence[Record]) -> float:
    """Return the seconds during which runs were under way, without the pauses between them."""
    total, end = 0.0, -math.inf
    spans = (
        (each.times.began - each.before.seconds, each.times.began + each.times.total)
        for each in records
    )
    for began, ended in sorted(spans):
        total += max(ended - max(began, end), 0.0)
        end = max(end, ended)
    return total


def _facts(overview: dict[str, Any], parts: Sequence[Part]) -> list[Block]:
    """Return the overview as blocks of the page."""
    seeds = " or ".join(map(str, overview["n_seeds"]))
    steps, asked = overview["steps"], number(overview["n_asked"], 0)
    large = f"{steps / 1e6:.1f} million" if steps >= 1e6 else number(steps, 0)
    computing = f"{duration(overview['seconds'])} of computing on one core each"
    blocks: list[Block] = [
        Facts(
            (
                ("Runs", number(overview["n_runs"], 0), f"of {asked}"),
                ("Seeds per condition", seeds, ""),
                ("Environment steps", large, "one weight update each"),
                ("Time", duration(overview["wall_seconds"]), computing),
            )
        )
    ]
    if n := sum(overview["standings"].values()):
        hardly = f"; {overview['n_hardly_failing']} could hardly fail"
        tiles = [
            (it.capitalize(), str(count), f"of {n}" + hardly * (it == "holds"))
            for it, count in overview["standings"].items()
        ]
        blocks.append(Facts(tuple(tiles)))
    if n := sum(overview["distances"].values()):
        words = ("Within 1 std", "Within 2 std", "Further away")
        counts = map(str, overview["distances"].values())
        about = [f"of {n} table cells, each once"] * 3
        blocks.append(Facts(tuple(zip(words, counts, about, strict=True))))
    if overview["missing"]:
        gaps = tuple(
            f"{part.section.id} {condition_text(it['name'])}: {n} of {it['n_asked']} runs"
            for part in parts
            for it in part.numbers["conditions"]
            if (n := it["n_asked"] - it["n_runs"])
        )
        n_missing = quantity(len(overview["missing"]), "run")
        blocks.append(Notice(f"{n_missing} missing; all numbers are over those there are.", gaps))
    if overview["damaged"]:
        blocks.append(Notice("Files that could not be read:", overview["damaged"]))
    versions = ", ".join(f"{name} {' and '.join(it)}" for name, it in overview["versions"].items())
    return [*blocks, f"Computed with {versions}."] if versions else blocks
