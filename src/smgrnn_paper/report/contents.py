"""Contents: a whole report, before it becomes a page, a text or numbers."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Self

from smgrnn.batch import Experiment
from smgrnn.pages.settings import Stated
from smgrnn.runs.plan import AnyPlan
from smgrnn.runs.record import Record
from smgrnn.text import duration, quantity
from smgrnn_paper.experiments import EXPERIMENTS
from smgrnn_paper.experiments.beyond import BEYOND
from smgrnn_paper.report.changes import Changes, find_changes
from smgrnn_paper.report.claims import load_claims, load_hypotheses
from smgrnn_paper.report.figures import FIGURES, draw
from smgrnn_paper.report.own_tables import at_a_glance, own_tables
from smgrnn_paper.report.paper import Figure, Paper, load_paper
from smgrnn_paper.report.pictures import Picture, take_picture
from smgrnn_paper.report.results import Results, base_name, describe_shortness
from smgrnn_paper.report.settings import own_settings, shared_settings
from smgrnn_paper.report.tables import ReportTable, compare, count_distances
from smgrnn_paper.report.verdicts import STANDINGS, Finding, judge

TITLE = "Growing networks: the paper, reproduced"
INTRODUCTION = (
    "Every table, figure and claim of Jia and Zhou’s “Self-Motivated Growing Neural Network for "
    "Adaptive Architecture via Local Structural Plasticity”, computed again by smgrnn and put "
    "beside what the paper printed."
)
GUIDE = (
    "Numbers are mean ± standard deviation over seeds, as the paper prints them; the deviation "
    "divides by the number of runs. A difference is ours less the paper’s; z is that difference in "
    "the paper’s own standard deviations, where it prints one. Behind each table are the "
    "interquartile mean (IQM), which no single run can move far, with its 95 % bootstrap interval, "
    "and the number of runs.",
    "A claim holds if its test is significant at 5 % after Holm’s correction over the claims that "
    "the same experiment decides; it does not hold if the data speak against it as clearly. If "
    "they do neither, there is no difference where two one-sided tests show less than the margin, "
    "and otherwise the runs are too noisy: then the number of seeds is named that would decide "
    "four times in five, if the effect is the one that was found. A trend needs levels that never "
    "reverse. An effect is a probability, such as that a run of one condition exceeds a run of "
    "another, with Wilson’s interval: 0.5 is no effect. Margins were fixed before the runs.",
    "Tables and figures of the paper are over as many seeds as the paper has; more seeds decide "
    "claims, where there are more. Each control task has three teachers that no student chose, and "
    "the seeds take them in turn.",
)
BEYOND_TITLE = "Beyond the paper"
BEYOND_INTRODUCTION = (
    "Questions that the paper leaves open, each with hypotheses that were written down before the "
    "runs that decide them."
)


@dataclass(frozen=True)
class Illustration:
    """A figure drawn from our runs."""

    id: str
    """The paper's number for it, or a name."""
    title: str
    caption: str
    """A description of its panels."""
    picture: Picture | None
    """The drawing; None if there are no runs to draw."""
    where: str = ""
    """Its place in the paper; empty if it is not one of the paper's."""

    @property
    def name(self) -> str:
        """Its name; figures of the paper go by their number."""
        return f"Fig. {self.id}" if self.where else self.title

    @property
    def stem(self) -> str:
        """The name of its file, without the format."""
        return f"figure-{self.id.lower().replace('.', '')}"

    @property
    def file(self) -> str | None:
        """The name of its file; None if there is none."""
        return f"{self.stem}.{self.picture.suffix}" if self.picture else None


@dataclass(frozen=True)
class Setup:
    """The settings of a condition, and how many of its runs there are."""

    name: str
    student: str
    own: Stated
    """Settings that not all conditions of its student share."""
    n_runs: int
    n_asked: int
    steps: int
    """Environment steps of all runs."""
    seconds: float
    """Seconds that all runs took."""

    @classmethod
    def of(
        cls, name: str, records: Sequence[Record], n_asked: int, plan: AnyPlan, own: Stated
    ) -> Self:
        """Return the setup of a condition, whose plan is that of any of its runs."""
        steps = sum(record.spent.steps for record in records)
        seconds = sum(record.spent.seconds for record in records)
        return cls(name, plan.student, own, len(records), n_asked, steps, seconds)


@dataclass(frozen=True)
class Section:
    """An experiment, or some given runs, with tables, figures and findings."""

    id: str
    title: str
    question: str
    """The question in one sentence; empty if there is none."""
    seeds: tuple[int, ...]
    tables: tuple[ReportTable, ...]
    illustrations: tuple[Illustration, ...]
    setups: tuple[Setup, ...]
    shared: dict[str, Stated]
    """Settings that are the same in all runs of a student, by student."""
    findings: tuple[Finding, ...] = ()
    is_ours: bool = False
    """Whether the question is ours, so that what is judged are hypotheses, not claims."""
    warnings: dict[str, int] = field(default_factory=dict)
    """Warnings, and how many runs gave each."""

    @property
    def facts(self) -> str:
        """How much has run, in one line."""
        n_runs = sum(setup.n_runs for setup in self.setups)
        n_asked = sum(setup.n_asked for setup in self.setups)
        runs = quantity(n_asked, "run") if n_runs == n_asked else f"{n_runs} of {n_asked} runs"
        conditions = quantity(len(self.setups), "condition")
        steps = quantity(sum(setup.steps for setup in self.setups), "step")
        time = duration(sum(setup.seconds for setup in self.setups))
        return f"{self.id} · {runs} of {conditions} · {steps} · {time} of computing"


@dataclass(frozen=True)
class Overview:
    """The report in a few numbers."""

    short: str
    """A sentence on how much shorter the runs are than the experiments ask for; empty if not."""
    n_runs: int
    """Number of runs found; one that several experiments share counts once."""
    n_asked: int
    """Number of runs that the experiments ask for."""
    n_seeds: tuple[int, ...]
    """Numbers of seeds that experiments have."""
    steps: int
    """Environment steps of all runs."""
    seconds: float
    """Seconds that all runs took, added up."""
    wall_seconds: float
    """Seconds during which at least one of them was running."""
    versions: dict[str, tuple[str, ...]]
    """Versions of the packages that the runs were computed with; several if they differ."""
    missing: tuple[str, ...]
    """Names of the runs that were asked for and not found."""
    damaged: tuple[str, ...]
    """Files that could not be read, and why."""
    standings: dict[str, int]
    """How many claims have each verdict."""
    distances: dict[str, int]
    """How many cells of the tables lie within one, within two or beyond two of the paper's
    standard deviations; a number that is printed twice counts once."""
    n_hardly_failing: int
    """Claims that hold and could hardly have failed."""


@dataclass(frozen=True)
class Report:
    """A whole report: overview, main numbers, figures and sections."""

    overview: Overview
    glance: ReportTable | None
    """The main numbers, if the report is on experiments of the paper."""
    drawings: tuple[Illustration, ...]
    """Figures that explain and need no runs; none in reports on studies of our own."""
    sections: tuple[Section, ...]
    title: str = TITLE
    introduction: str = INTRODUCTION
    guide: tuple[str, ...] = GUIDE
    """Paragraphs on how to read the numbers."""
    changes: Changes | None = None
    """Claims whose verdict is another than in the first report, if it judged any of these."""

    @property
    def has_claims(self) -> bool:
        """Whether there is a claim to judge."""
        return any(section.findings for section in self.sections)

    @property
    def judged(self) -> str:
        """The kind of sentences that are judged: claims of the paper, hypotheses, or both."""
        kinds = {section.is_ours for section in self.sections if section.findings}
        if kinds == {True}:
            return "hypotheses"
        return "claims of the paper" + (" and hypotheses" if True in kinds else "")

    @property
    def illustrations(self) -> list[Illustration]:
        """All figures."""
        return [*self.drawings, *(each for part in self.sections for each in part.illustrations)]

    def to_dict(self) -> dict[str, Any]:
        """Return every number as plain values."""
        return {
            **vars(self.overview),
            "tables": [table.to_dict() for part in self.sections for table in part.tables],
            "claims": [found.to_dict() for part in self.sections for found in part.findings],
            "changes": self.changes.to_dict() if self.changes else None,
            "experiments": [
                {
                    "id": part.id,
                    "question": part.question,
                    "seeds": list(part.seeds),
                    "settings": part.shared,
                    "conditions": [vars(setup) for setup in part.setups],
                    "warnings": part.warnings,
                }
                for part in self.sections
            ],
            "figures": {each.name: each.file for each in self.illustrations},
        }


def build_report(results: Results) -> Report:
    """Return the report on some results."""
    paper = load_paper()
    names = {base_name(experiment) for experiment in results.chosen}
    known = (*load_claims().values(), *load_hypotheses().values())
    findings = judge([claim for claim in known if claim.experiment in names], results)
    sections = tuple(_section(each, results, paper, findings) for each in results.chosen)
    if not any(experiment.id in EXPERIMENTS for experiment in results.chosen):
        found = _overview(results, sections)
        if all(section.is_ours for section in sections):
            words = BEYOND_TITLE, BEYOND_INTRODUCTION, GUIDE[1:2]
            return Report(found, None, (), sections, *words)
        return Report(found, None, (), sections)
    drawn = {artefact for each in results.every.values() for artefact in each.artefacts}
    return Report(
        overview=_overview(results, sections),
        glance=at_a_glance(results, paper),
        drawings=tuple(
            _illustrate(id, results, paper) for id in paper.figures if f"Fig. {id}" not in drawn
        ),
        sections=sections,
        changes=find_changes(findings, results),
    )


def _section(
    experiment: Experiment, results: Results, paper: Paper, findings: list[Finding]
) -> Section:
    tables, illustrations = [], []
    for artefact in experiment.artefacts:
        kind, id = artefact.split(" ", 1)
        if kind == "Table":
            tables.append(compare(paper.tables[id], experiment, results))
        else:
            illustrations.append(_illustrate(id, results, paper))
    conditions = experiment.conditions
    shared = shared_settings(plan for name in conditions for plan in _plans(experiment, name))
    records = (run for each in conditions for run in results.runs(experiment, each).records)
    name = base_name(experiment)
    return Section(
        id=experiment.id,
        title=name.replace("-", " ").capitalize(),
        question=experiment.question,
        seeds=experiment.seeds,
        tables=(*tables, *own_tables(experiment, results, paper)),
        illustrations=tuple(illustrations),
        setups=tuple(_setup(experiment, each, results, shared) for each in conditions),
        shared=shared,
        findings=tuple(each for each in findings if each.claim.experiment == name),
        is_ours=experiment.id in BEYOND,
        warnings=count_warnings(records),
    )


def count_warnings(records: Iterable[Record]) -> dict[str, int]:
    """Return the warnings of runs, and how many gave each."""
    return dict(Counter(_without_size(text) for each in records for text in each.warnings))


def _without_size(warning: str) -> str:
    """Return a warning that growth stopped without the size it stopped at, which varies by run."""
    return re.sub(r"^(Growth stopped) at .*(: it reached)", r"\1\2", warning)


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
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    shown = []
    for text, alike in groupby(figure.panels, key=lambda panel: panel.shows):
        names = [next(letters) for _ in alike]
        span = names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}"
        shown.append(f"({span}) {text}")
    return f"{'; '.join(shown)}."


def _setup(experiment: Experiment, name: str, results: Results, shared: dict[str, Stated]) -> Setup:
    runs, plans = results.runs(experiment, name), _plans(experiment, name)
    own = own_settings(plans, shared)
    return Setup.of(name, runs.records, len(runs.seeds), plans[0], own)


def _plans(experiment: Experiment, name: str) -> list[AnyPlan]:
    """Return the plans of a condition's runs that differ in more than the seed, by the teacher."""
    condition = experiment.conditions[name]
    first = {condition.expert(seed): seed for seed in reversed(experiment.all_seeds(name))}
    return [condition.plan(seed) for seed in sorted(first.values())]


def _overview(results: Results, sections: tuple[Section, ...]) -> Overview:
    return overview(
        results.all_records(),
        sections,
        short=describe_shortness(results.chosen),
        missing=tuple(results.missing().values()),
        damaged=tuple(results.damaged.values()),
    )


def overview(
    records: list[Record],
    sections: tuple[Section, ...],
    short: str = "",
    missing: tuple[str, ...] = (),
    damaged: tuple[str, ...] = (),
) -> Overview:
    """Return an overview of runs and of the sections on them."""
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, version in record.versions.items():
            versions.setdefault(package, set()).add(version)
    findings = [found for part in sections for found in part.findings]
    standings = Counter(found.standing for found in findings)
    entries = [entry for part in sections for table in part.tables for entry in table.entries]
    return Overview(
        short=short,
        n_runs=len(records),
        n_asked=len(records) + len(missing),
        n_seeds=tuple(sorted({each.n_asked for part in sections for each in part.setups})),
        steps=sum(record.spent.steps for record in records),
        seconds=sum(record.spent.seconds for record in records),
        wall_seconds=_wall_seconds(records),
        versions={package: tuple(sorted(found)) for package, found in versions.items()},
        missing=missing,
        damaged=damaged,
        standings={standing: standings[standing] for standing in STANDINGS},
        distances=count_distances(entries),
        n_hardly_failing=sum(
            found.standing == "holds" and bool(found.claim.hardly_fails) for found in findings
        ),
    )


def _wall_seconds(records: list[Record]) -> float:
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
