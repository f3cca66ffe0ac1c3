"""Contents: all that a report says, before it becomes a page, a text or numbers."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from smgrnn.config import EvolutionConfig, RunConfig
from smgrnn.experiments import Condition, Experiment
from smgrnn.report.claims import load_claims
from smgrnn.report.figures import draw
from smgrnn.report.own_tables import at_a_glance, own_tables
from smgrnn.report.paper import Figure, Paper, load_paper
from smgrnn.report.pictures import Picture, take_picture
from smgrnn.report.results import Results, base_name
from smgrnn.report.tables import ReportTable, compare
from smgrnn.report.verdicts import STANDINGS, Finding, judge
from smgrnn.report.wording import duration, quantity
from smgrnn.runs.record import Record

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
    "the same experiment decides; it does not hold if the data speak against it as clearly; it is "
    "undecided otherwise. An effect is a probability, such as that a run of one condition exceeds "
    "a run of another: 0.5 is no effect. Margins were fixed before the first run.",
)


@dataclass(frozen=True)
class Illustration:
    """A figure of the paper, drawn from our runs."""

    figure: Figure
    picture: Picture | None
    """None if there are no runs to draw."""

    @property
    def name(self) -> str:
        """What the paper calls it."""
        return f"Fig. {self.figure.id}"

    @property
    def stem(self) -> str:
        """The name of its file, without the format."""
        return f"figure-{self.figure.id.lower().replace('.', '')}"

    @property
    def file(self) -> str | None:
        """The name of its file; None if there is none."""
        return f"{self.stem}.{self.picture.suffix}" if self.picture else None

    @property
    def caption(self) -> str:
        """What its panels show, those of a kind together."""
        panels = self.figure.panels
        if len(panels) == 1:
            return f"{self.figure.title}."
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        shown = []
        for text, alike in groupby(panels, key=lambda panel: panel.shows):
            names = [next(letters) for _ in alike]
            span = names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}"
            shown.append(f"({span}) {text}")
        return f"{'; '.join(shown)}."


@dataclass(frozen=True)
class Setup:
    """How a condition was run, and how much of it there is."""

    name: str
    changes: dict[str, str]
    """What differs from the defaults."""
    n_runs: int
    n_asked: int
    steps: int
    """Environment steps of all runs."""
    seconds: float
    """Time of all runs."""


@dataclass(frozen=True)
class Section:
    """An experiment and what came of it."""

    experiment: Experiment
    tables: tuple[ReportTable, ...]
    illustrations: tuple[Illustration, ...]
    findings: tuple[Finding, ...]
    setups: tuple[Setup, ...]
    shared: dict[str, dict[str, str]]
    """Settings that are the same in all distillations, and those in all evolutions."""
    warnings: dict[str, int]
    """What runs warned of, and how many did."""

    @property
    def title(self) -> str:
        """The name of the experiment in words."""
        return base_name(self.experiment).replace("-", " ").capitalize()

    @property
    def facts(self) -> str:
        """How much has run, in one line."""
        n_runs = sum(setup.n_runs for setup in self.setups)
        n_asked = sum(setup.n_asked for setup in self.setups)
        runs = quantity(n_asked, "run") if n_runs == n_asked else f"{n_runs} of {n_asked} runs"
        conditions = quantity(len(self.setups), "condition")
        steps = quantity(sum(setup.steps for setup in self.setups), "step")
        time = duration(sum(setup.seconds for setup in self.setups))
        return f"{self.experiment.id} · {runs} of {conditions} · {steps} · {time} of computing"


@dataclass(frozen=True)
class Overview:
    """The report in a few numbers."""

    n_runs: int
    """Runs that there are; one that several experiments share counts once."""
    n_asked: int
    """Runs that there should be."""
    n_seeds: tuple[int, ...]
    """Numbers of seeds that experiments have."""
    steps: int
    """Environment steps of all runs."""
    seconds: float
    """Time of all runs, one after the other."""
    wall_seconds: float
    """Time during which at least one of them was running."""
    versions: dict[str, tuple[str, ...]]
    """What the runs were computed with; more than one if they differ."""
    missing: tuple[str, ...]
    """Runs that there should be and are not."""
    damaged: tuple[str, ...]
    """Files that could not be read, and why."""
    standings: dict[str, int]
    """How many claims have each verdict."""
    distances: dict[str, int]
    """How many cells of the tables lie within one, within two or beyond two of the paper's
    standard deviations."""


@dataclass(frozen=True)
class Report:
    """A report."""

    overview: Overview
    glance: ReportTable | None
    """The main numbers, if the report is on experiments of the paper."""
    drawings: tuple[Illustration, ...]
    """Figures that explain and need no runs; none in reports on studies of our own."""
    sections: tuple[Section, ...]

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
            "experiments": [
                {
                    "id": part.experiment.id,
                    "question": part.experiment.question,
                    "seeds": list(part.experiment.seeds),
                    "settings": part.shared,
                    "conditions": [vars(setup) for setup in part.setups],
                    "warnings": part.warnings,
                }
                for part in self.sections
            ],
            "figures": {each.name: each.file for each in self.illustrations},
        }


def build_report(results: Results) -> Report:
    """Return all that there is to say about some results."""
    paper = load_paper()
    names = {base_name(experiment) for experiment in results.chosen}
    claims = [claim for claim in load_claims().values() if claim.experiment in names]
    findings = judge(claims, results)
    sections = tuple(_section(each, results, paper, findings) for each in results.chosen)
    if not any(experiment.artefacts for experiment in results.chosen):
        return Report(_overview(results, sections), None, (), sections)
    drawn = {artefact for each in results.every.values() for artefact in each.artefacts}
    return Report(
        overview=_overview(results, sections),
        glance=at_a_glance(results, paper),
        drawings=tuple(
            _illustrate(figure, results)
            for figure in paper.figures.values()
            if f"Fig. {figure.id}" not in drawn
        ),
        sections=sections,
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
            illustrations.append(_illustrate(paper.figures[id], results))
    records = results.records(experiment)
    warned = Counter(
        _without_size(text) for runs in records.values() for run in runs for text in run.warnings
    )
    return Section(
        experiment=experiment,
        tables=(*tables, *own_tables(experiment, results, paper)),
        illustrations=tuple(illustrations),
        findings=tuple(each for each in findings if each.claim.experiment == base_name(experiment)),
        setups=tuple(_setup(experiment, name, results) for name in experiment.conditions),
        shared=_shared_settings(experiment),
        warnings=dict(warned),
    )


def _without_size(warning: str) -> str:
    """Return a warning that growth stopped without the size it stopped at, which varies by run."""
    return re.sub(r"^(Growth stopped) at .*(: it reached)", r"\1\2", warning)


def _shared_settings(experiment: Experiment) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for condition in experiment.conditions.values():
        kind = "distillations" if condition.kind == "distill" else "evolutions"
        settings = flatten(condition)
        found[kind] = dict(found.get(kind, settings).items() & settings.items())
    return {kind: dict(sorted(shared.items())) for kind, shared in found.items()}


def _illustrate(figure: Figure, results: Results) -> Illustration:
    drawn = draw(figure.id, results)
    return Illustration(figure, None if drawn is None else take_picture(drawn))


def _setup(experiment: Experiment, name: str, results: Results) -> Setup:
    runs = results.runs(experiment, name)
    return Setup(
        name=name,
        changes=changed_settings(runs.condition),
        n_runs=len(runs.records),
        n_asked=len(runs.seeds),
        steps=sum(int(record.episodes.steps.sum()) for record in runs.records),
        seconds=sum(record.times.total for record in runs.records),
    )


def _overview(results: Results, sections: tuple[Section, ...]) -> Overview:
    records, missing = results.all_records(), tuple(results.missing().values())
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, version in record.versions.items():
            versions.setdefault(package, set()).add(version)
    standings = Counter(found.standing for part in sections for found in part.findings)
    entries = [entry for part in sections for table in part.tables for entry in table.entries]
    distances = Counter(entry.distance for entry in entries if entry.z is not None)
    return Overview(
        n_runs=len(records),
        n_asked=len(records) + len(missing),
        n_seeds=tuple(sorted({len(experiment.seeds) for experiment in results.chosen})),
        steps=sum(int(record.episodes.steps.sum()) for record in records),
        seconds=sum(record.times.total for record in records),
        wall_seconds=_wall_seconds(records),
        versions={package: tuple(sorted(found)) for package, found in versions.items()},
        missing=missing,
        damaged=tuple(results.damaged.values()),
        standings={standing: standings[standing] for standing in STANDINGS},
        distances={distance: distances[distance] for distance in ("near", "apart", "far")},
    )


def _wall_seconds(records: list[Record]) -> float:
    """Return how long runs were under way, however many at once, pauses between them left out."""
    total, end = 0.0, -math.inf
    spans = ((each.times.began, each.times.began + each.times.total) for each in records)
    for began, ended in sorted(spans):
        total += max(ended - max(began, end), 0.0)
        end = max(end, ended)
    return total


def changed_settings(condition: Condition) -> dict[str, str]:
    """Return what a condition changes in the defaults; of an evolution always the method.

    How often to keep a checkpoint is not among it: it changes no result.
    """
    evolved = isinstance(condition.settings, EvolutionConfig)
    defaults = Condition(condition.task, EvolutionConfig() if evolved else RunConfig())
    usual = flatten(defaults)
    return {
        name: value
        for name, value in flatten(condition).items()
        if name != "checkpoint_every" and (value != usual[name] or name == "method")
    }


def flatten(condition: Condition) -> dict[str, str]:
    """Return all settings of a condition but the seed, by dotted names, as texts."""
    flat: dict[str, str] = {}
    for name, value in condition.settings.to_dict().items():
        parts = value if isinstance(value, dict) else {"": value}
        flat |= {f"{name}.{part}".rstrip("."): str(v) for part, v in parts.items()}
    del flat["seed"]
    return flat
