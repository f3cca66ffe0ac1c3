"""Contents: what a report shows, in which order, and all of its numbers."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from smgrnn.batch import Experiment
from smgrnn.pages.figure import take_picture
from smgrnn.pages.page import Block, Facts, Illustration, Notice, Page, Section, Table
from smgrnn.pages.settings import Stated, stated_settings
from smgrnn.runs.plan import AnyPlan
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


class Setup(NamedTuple):
    """The settings of a condition, and how many of its runs there are."""

    name: str
    student: str
    own: Stated
    """Settings that not all conditions of its student share."""
    n_runs: int
    n_asked: int


@dataclass(frozen=True)
class Part:
    """What there is on an experiment."""

    experiment: Experiment
    tables: tuple[Table, ...]
    illustrations: tuple[Illustration, ...]
    findings: tuple[Finding, ...]
    shared: dict[str, Stated]
    """Settings that are the same in all runs of a student, by student."""
    setups: tuple[Setup, ...]

    def section(self) -> Section:
        """Return the section of the page: question, facts, figures, tables, settings."""
        n_runs, n_asked = (sum(getattr(it, n) for it in self.setups) for n in ("n_runs", "n_asked"))
        runs = quantity(n_asked, "run") if n_runs == n_asked else f"{n_runs} of {n_asked} runs"
        counts = Counter(finding.standing for finding in self.findings)
        verdicts = ", ".join(f"{counts[it]} {it}" for it in TONES if counts[it])
        facts = f"{self.experiment.id} · {runs} of {quantity(len(self.setups), 'condition')}"
        rows = [
            (
                condition_text(it.name),
                it.student,
                ", ".join(f"{name} = {value}" for name, value in it.own.items()) or "none",
                f"{it.n_runs} of {it.n_asked}",
            )
            for it in self.setups
        ]
        heads = ("Condition", "Student", "Settings of its own", "Runs")
        title = "Conditions, and the settings that each has of its own"
        settings = [Table.of(title, heads, rows, is_folded=True)]
        for student, shared in self.shared.items():
            title = f"Settings that all runs of {student} share"
            settings.append(Table.of(title, ("Setting", "Value"), shared.items(), is_folded=True))
        return Section(
            self.experiment.id,
            base_name(self.experiment).replace("-", " ").capitalize(),
            (
                self.experiment.question,
                f"{facts} · claims: {verdicts}" if verdicts else facts,
                *self.illustrations,
                *self.tables,
                *settings,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "id": self.experiment.id,
            "question": self.experiment.question,
            "seeds": list(self.experiment.seeds),
            "settings": self.shared,
            "conditions": [setup._asdict() for setup in self.setups],
        }


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
        "experiments": [part.to_dict() for part in parts],
        "figures": {
            it.name: it.file for it in (*drawings, *(it for p in parts for it in p.illustrations))
        },
    }
    is_beyond = all(experiment.id in BEYOND for experiment in results.chosen)
    words, kind = WORDS["page"], "beyond_" if is_beyond else ""
    blocks: list[Block] = [words[f"{kind}introduction"], *_facts(overview, parts)]
    blocks += [at_a_glance(results, paper)] if is_paper else []
    blocks += [words["claims"]] if is_beyond else [words["numbers"], words["claims"]]
    sections = [part.section() for part in parts]
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
    experiment: Experiment, results: Results, paper: Paper, findings: Sequence[Finding]
) -> Part:
    tables, illustrations = [], []
    for artefact in experiment.artefacts:
        kind, id = artefact.split(" ", 1)
        if kind == "Table":
            tables.append(compare(paper.tables[id], experiment, results))
        else:
            illustrations.append(_illustrate(id, results, paper))
    name = base_name(experiment)
    if name == "frontier":
        tables += frontier_tables(experiment, results, paper)
    elif experiment.id in BEYOND:
        tables.append(every_condition(experiment, results))
    elif experiment.id in STUDIES:
        tables += calibration_tables(experiment, results, paper)
    else:
        tables += own_tables(experiment, results, paper)
    plans = {it: _plans(experiment, it) for it in experiment.conditions}
    shared = _shared_settings([plan for found in plans.values() for plan in found])
    return Part(
        experiment,
        tuple(tables),
        tuple(illustrations),
        tuple(each for each in findings if each.claim.experiment == name),
        shared,
        tuple(
            Setup(
                it,
                found[0].student,
                _own_settings(found, shared),
                len(results.runs(experiment, it).records),
                len(experiment.all_seeds(it)),
            )
            for it, found in plans.items()
        ),
    )


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


def _plans(experiment: Experiment, name: str) -> list[AnyPlan]:
    """Return the plans of a condition's runs that differ in more than the seed, by the teacher."""
    condition = experiment.conditions[name]
    first = {condition.expert(seed): seed for seed in reversed(experiment.all_seeds(name))}
    return [condition.plan(seed) for seed in sorted(first.values())]


def _shared_settings(plans: Sequence[AnyPlan]) -> dict[str, Stated]:
    """Return the settings that all runs of a student have in common, by student."""
    found: dict[str, Stated] = {}
    for plan in plans:
        stated = stated_settings(plan)
        before = found.get(plan.student, stated)
        found[plan.student] = {name: it for name, it in before.items() if stated.get(name) == it}
    return found


def _own_settings(plans: Sequence[AnyPlan], shared: dict[str, Stated]) -> Stated:
    """Return the settings of a condition that not all runs of its student have, with all values."""
    found: dict[str, dict[str, None]] = {}
    for plan in plans:
        for name, value in stated_settings(plan).items():
            if name not in shared[plan.student]:
                found.setdefault(name, {})[value] = None
    return {name: " / ".join(values) for name, values in found.items()}


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
        "n_seeds": tuple(sorted({each.n_asked for part in parts for each in part.setups})),
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
        hardly = {"holds": f"{overview['n_hardly_failing']} could hardly fail"}
        blocks.append(
            Facts(
                tuple(
                    (f"{it.capitalize()}, of {n}", str(count), hardly.get(it, ""))
                    for it, count in overview["standings"].items()
                )
            )
        )
    if n := sum(overview["distances"].values()):
        words = {"near": "Within 1 std", "apart": "Within 2 std", "far": "Further away"}
        about, distances = f"of {n} table cells, each once", overview["distances"]
        blocks.append(Facts(tuple((words[it], str(distances[it]), about) for it in words)))
    if overview["missing"]:
        gaps = tuple(
            f"{part.experiment.id} {condition_text(it.name)}: {quantity(n, 'run')} of {it.n_asked}"
            for part in parts
            for it in part.setups
            if (n := it.n_asked - it.n_runs)
        )
        n_missing = quantity(len(overview["missing"]), "run")
        blocks.append(Notice(f"{n_missing} missing; all numbers are over those there are.", gaps))
    if overview["damaged"]:
        blocks.append(Notice("Files that could not be read:", overview["damaged"]))
    versions = ", ".join(f"{name} {' and '.join(it)}" for name, it in overview["versions"].items())
    return [*blocks, f"Computed with {versions}."] if versions else blocks
