"""Contents: what a report shows, in which order, and all of its numbers."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

from smgrnn.batch import Experiment
from smgrnn.pages.comparison import Stated, stated_settings
from smgrnn.pages.figure import take_picture
from smgrnn.pages.page import Block, DataTable, Illustration
from smgrnn.text import MISSING, duration, number, quantity
from smgrnn_paper.experiments import EXPERIMENTS
from smgrnn_paper.experiments.beyond import BEYOND
from smgrnn_paper.experiments.calibration import CALIBRATION
from smgrnn_paper.report.calibration import calibration_tables
from smgrnn_paper.report.claims import load_claims, load_hypotheses
from smgrnn_paper.report.figures.registry import FIGURES, draw
from smgrnn_paper.report.frontier import frontier_tables
from smgrnn_paper.report.own_tables import at_a_glance, every_condition, own_tables
from smgrnn_paper.report.page import Facts, Notice, Page, Section, picture_file, table_numbers
from smgrnn_paper.report.paper import WORDS, Paper, load_paper
from smgrnn_paper.report.results import Results, base_name, describe_shortness
from smgrnn_paper.report.tables import compare, condition_text, count_distances, count_likeness
from smgrnn_paper.report.verdicts import TONES, Finding, claim_tables, count_evidence, judge


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
    """Its question, seeds and settings; how many runs of each condition there are."""


def build_report(results: Results) -> Report:
    """Return the report on some results."""
    paper = load_paper()
    names = {base_name(experiment) for experiment in results.chosen}
    known = (load_claims() | load_hypotheses()).values()
    findings = judge([claim for claim in known if claim.experiment in names], results)
    parts = [_part(each, results, paper, findings) for each in results.chosen]
    is_paper = any(experiment.id in EXPERIMENTS for experiment in results.chosen)
    drawn = {artefact for each in results.every.values() for artefact in each.artefacts}
    bare = [id for id in paper.figures if f"Fig. {id}" not in drawn]  # need no runs
    drawings = [_illustrate(id, results, paper) for id in (bare if is_paper else ())]
    overview = _overview(results, parts)
    is_beyond = all(experiment.id in BEYOND for experiment in results.chosen)
    words, kind = WORDS["page"], "beyond_" if is_beyond else ""
    warning = [Notice(overview["short"])] if overview["short"] else []
    blocks: list[Block] = [*warning, words[f"{kind}introduction"], *_facts(overview, parts)]
    blocks += [at_a_glance(results, paper)] if is_paper else []
    blocks += [words["claims"]] if is_beyond else [words["numbers"], words["claims"]]
    sections = [part.section for part in parts]
    if drawings:
        sections.insert(0, Section("method", "Method", tuple(drawings)))
    if found := [found for part in parts for found in part.findings]:
        name = "Hypotheses" if is_beyond else "Claims"
        tables = claim_tables(found, f"{name} and verdicts")
        sections.insert(0, Section("claims", name, tables))
    page = Page(words[f"{kind}title"], tuple(blocks), tuple(sections))
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
    elif experiment.id in CALIBRATION:
        stage = CALIBRATION[experiment.id]._replace(experiment=experiment)
        tables += calibration_tables(stage, results, paper)
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
    own = DataTable.of("Conditions and their own settings", heads, rows, is_folded=True)
    every = dict.fromkeys(name for stated in shared.values() for name in stated)
    lines = [(name, *(it.get(name, MISSING) for it in shared.values())) for name in every]
    title, names = "Settings shared by all runs of a student", ("Setting", *shared)
    common = DataTable.of(title, names, lines, is_folded=True)
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
        own,
        common,
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
    """Return a figure; a caption of the paper's describes its panels, those of a kind together."""
    drawn = draw(id, results)
    picture = None if drawn is None else take_picture(drawn)
    if id not in paper.figures:
        spec = FIGURES[id]
        return Illustration(id, spec.title, spec.caption, picture)
    figure, letters, shown = paper.figures[id], iter("abcdefghijklmnopqrstuvwxyz"), []
    for text, alike in groupby(figure.panels, key=lambda panel: panel.shows):
        names = [next(letters) for _ in alike]
        shown.append(f"({'–'.join(dict.fromkeys((names[0], names[-1])))}) {text}")
    caption = "; ".join(shown) if len(figure.panels) > 1 else figure.title
    return Illustration(id, figure.title, f"{caption}.", picture, figure.where)


def _settings(
    experiment: Experiment, results: Results
) -> tuple[dict[str, Stated], list[dict[str, Any]]]:
    """Return the settings that all runs of a student share, and what each condition has of its own.

    A setting in which the runs of a condition differ, such as the teacher, has all of its values.
    """
    shared: dict[str, Stated] = {}
    conditions: list[dict[str, Any]] = []
    for name, condition in experiment.conditions.items():
        seeds = experiment.all_seeds(name)
        first = {condition.expert(seed): seed for seed in reversed(seeds)}
        plans = [condition.plan(seed) for seed in sorted(first.values())]
        each, student = [stated_settings(plan) for plan in plans], plans[0].student
        common = set.intersection(*(set(it.items()) for it in each))
        before = shared.get(student, each[0])
        shared[student] = {key: it for key, it in before.items() if (key, it) in common}
        values = {key: dict.fromkeys(it[key] for it in each if key in it) for key in chain(*each)}
        own = {key: " / ".join(it) for key, it in values.items()}
        n_runs = len(results.runs(experiment, name).records)
        counts = {"n_runs": n_runs, "n_asked": len(seeds)}
        conditions.append({"name": name, "student": student, "own": own, **counts})
    for it in conditions:
        it["own"] = {k: value for k, value in it["own"].items() if k not in shared[it["student"]]}
    return shared, conditions


def _overview(results: Results, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the report in a few numbers; a run that several experiments share counts once."""
    records, missing = results.all_records(), tuple(results.missing().values())
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, version in record.versions.items():
            versions.setdefault(package, set()).add(version)
    findings = [found for part in parts for found in part.findings]
    tables = [table for part in parts for table in part.tables]
    standings = Counter(found.standing for found in findings)
    hardly_failing = [it for it in findings if it.standing == "holds" and it.claim.hardly_fails]
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
        "evidence": count_evidence(findings),
        "distances": count_distances(tables),
        "likeness": count_likeness(tables),
        "n_hardly_failing": len(hardly_failing),
    }


def _facts(overview: dict[str, Any], parts: Sequence[Part]) -> list[Block]:
    """Return the overview as blocks of the page."""
    steps = overview["steps"]
    large = f"{steps / 1e6:.1f} million" if steps >= 1e6 else number(steps, 0)
    tiles = [
        ("Runs", number(overview["n_runs"], 0), f"of {number(overview['n_asked'], 0)}"),
        ("Seeds per condition", " or ".join(map(str, overview["n_seeds"])), ""),
        ("Environment steps", large, "one weight update each"),
        ("Time", duration(overview["seconds"]), "of computing, on one core each"),
    ]
    blocks: list[Block] = [Facts(tuple(tiles))]
    if n := sum(overview["standings"].values()):
        hardly = f"; {overview['n_hardly_failing']} could hardly fail"
        standings = overview["standings"].items()
        tiles = [
            (it.capitalize(), str(k), f"of {n}" + hardly * (it == "holds")) for it, k in standings
        ]
        blocks.append(Facts(tuple(tiles)))
    if n := sum(overview["distances"].values()):
        words = ("Within 1 std", "Within 2 std", "Further away")
        counts = zip(words, overview["distances"].values(), strict=True)
        cells = f"of {n} table cells, each once"
        blocks.append(Facts(tuple((word, str(k), cells) for word, k in counts)))
    if overview["missing"]:
        gaps = [
            (part.section.id, condition_text(it["name"]), f"{gap} of {it['n_asked']}")
            for part in parts
            for it in part.numbers["conditions"]
            if (gap := it["n_asked"] - it["n_runs"])
        ]
        title = f"{quantity(len(overview['missing']), 'run')} missing: all numbers are without them"
        blocks.append(DataTable.of(title, ("Experiment", "Condition", "Missing"), gaps, 2))
    if overview["damaged"]:
        reasons = [(reason,) for reason in overview["damaged"]]
        blocks.append(DataTable.of("Files that could not be read", ("File",), reasons))
    versions = ", ".join(f"{name} {' and '.join(it)}" for name, it in overview["versions"].items())
    return [*blocks, f"Computed with {versions}."] if versions else blocks
