"""The claims of the paper, and how runs decide them.

The claims are in `claims.toml`, with a margin for each metric, and our hypotheses in `beyond.toml`.
A claim is made of parts, all of which have to hold: "on every task", "than either MLP".  One error
rate covers all verdicts of a report: `statistics.corrected`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations, pairwise, product
from typing import Any, Literal, NamedTuple

import numpy as np

from smgrnn.batch import AnyCondition
from smgrnn_paper.experiments import paper
from smgrnn_paper.experiments.paper import HYPERPARAMETER_GRID as GRID
from smgrnn_paper.report import statistics
from smgrnn_paper.report.paper import read_data, scales
from smgrnn_paper.report.results import base_name
from smgrnn_paper.report.statistics import Runs, Significance, Verdict
from smgrnn_paper.report.tables import BESIDE

Kind = Literal["greater", "not_lower", "equivalent", "trend", "above"]
DIFFERENCES: tuple[Kind, ...] = ("greater", "trend")
"""Kinds of claims that there is a difference, which may turn out not to exist."""
FITTED = {"late_return", "sustained_episode", *BESIDE, *BESIDE.values()}
"""Metrics of the distance by which the calibration chose the preset: docs/calibration.md."""
Group = tuple[str, ...]
Circular = Literal["", "in part", "wholly"]


class Source(NamedTuple):
    """The task and the condition that the numbers of a sample come from."""

    task: str
    condition: str


Samples = Callable[[Source, str], Runs]
"""Returns a metric of the runs of a source."""


@dataclass(frozen=True, kw_only=True)
class Margin:
    """The difference that does not count, measured in one of three ways."""

    units: float = 0.0
    """In units of the metric."""
    share: float = 0.0
    """As a share of the median of all runs that are compared."""
    scale: float = 0.0
    """As a share of the way from a random policy to the expert of the task."""

    @property
    def text(self) -> str:
        """The margin in words."""
        if self.scale:
            return f"{100 * self.scale:g} % of the way from random to expert"
        return f"{100 * self.share:g} % of the median" if self.share else f"{self.units:g}"

    def on(self, task: str, runs: Sequence[Runs]) -> float:
        """Return the margin in units of the metric, for a comparison of runs on a task.

        >>> Margin(scale=0.01).on("CartPole-v1", [])
        4.78
        """
        if self.scale:
            return self.scale * scales()[task]
        values = [value for each in runs for value in each.values()]
        return self.units or self.share * abs(float(np.median(values)))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence and the comparison that decides it."""

    id: str
    experiment: str
    """The experiment whose runs decide it, without its version."""
    where: tuple[str, ...]
    """Sections, tables and figures that make it."""
    sentence: str
    """The claim, in this project's words."""
    kind: Kind
    """The relation claimed: `greater`, each group is above the one before; `not_lower`, none is
    below it by the margin; `equivalent`, no two differ by the margin; `trend`, the metric rises
    over them; `above`, each is above the bound."""
    metric: str
    tasks: tuple[Group, ...]
    """Groups of tasks, from the claimed lowest to the claimed highest if `along` is "tasks"."""
    conditions: tuple[Group, ...]
    """Groups of conditions, from the claimed lowest to the claimed highest otherwise."""
    along: Literal["conditions", "tasks"] = "conditions"
    """Whether conditions are compared, or tasks."""
    spread: bool = False
    """Whether to compare how much runs vary, not how high they are."""
    margin: Margin | None = None
    """Difference that does not count; None where a bound decides."""
    factor: float = 1.0
    """Multiple of the lower group that the higher one has to exceed."""
    bound: float | Literal["margin"] | None = None
    """The threshold that each has to exceed, which may be the margin."""
    hardly_fails: str = ""
    """Why it would be a surprise if it did not hold; empty if it may well fail."""

    @cached_property
    def circular(self) -> Circular:
        """How much of it compares nothing but numbers that the calibration used.

        All else is independent evidence: LunarLander, other optimizers, rates and initial graphs.
        """
        pairs = [pair for it in self.parts for pair in combinations(it, min(len(it), 2))]
        used = [all(self._is_fitted(source) for source in pair) for pair in pairs]
        return "wholly" if all(used) else "in part" if any(used) else ""

    def _is_fitted(self, source: Source) -> bool:
        """Return whether the calibration used its number; a condition counts by its content."""
        decides = (it for it in paper.PAPER.values() if base_name(it) == self.experiment)
        known = next((it.conditions for it in decides), {})
        condition = known.get(f"{source.task}/{source.condition}", known.get(source.condition))
        return self.metric in FITTED and condition in _fitted()

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every task and condition that the claim is about."""
        return tuple(Source(*pair) for pair in product(_flat(self.tasks), _flat(self.conditions)))

    @property
    def parts(self) -> tuple[tuple[Source, ...], ...]:
        """The comparisons that decide it, each from the claimed lowest to the claimed highest."""
        if self.along == "tasks":
            ladders = [
                [[Source(task, name) for task in group] for group in self.tasks]
                for name in _flat(self.conditions)
            ]
        else:
            ladders = [
                [[Source(task, name) for name in group] for group in self.conditions]
                for task in _flat(self.tasks)
            ]
        return tuple(part for groups in ladders for part in _parts(self.kind, groups))


class Judgement(NamedTuple):
    """A claim, the tests of the runs on it, and the verdict."""

    claim: Claim
    parts: tuple[Significance, ...]
    """The test of each of the claim's parts, in their order."""
    raw: Mapping[Verdict, float]
    """p-value of each verdict that is possible."""
    corrected: Mapping[Verdict, float]
    """The same, corrected over all claims."""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return statistics.verdict(self.corrected)


def load_claims() -> dict[str, Claim]:
    """Return the claims of the paper by id.

    >>> load_claims()["xor-smallest"].parts[0]
    (Source(task='xor', condition='smgrnn'), Source(task='CartPole-v1', condition='smgrnn'))
    """
    return _load("claims.toml")


def load_hypotheses() -> dict[str, Claim]:
    """Return the hypotheses of ours, on what the paper leaves open, by id."""
    return _load("beyond.toml")


def _load(name: str) -> dict[str, Claim]:
    data = read_data(name)
    margins = {metric: Margin(**entry) for metric, entry in data["margins"].items()}
    return {entry["id"]: _claim(entry, margins) for entry in data["claims"]}


def weigh(claims: Sequence[Claim], samples: Samples) -> tuple[Judgement, ...]:
    """Return a verdict on each claim; all claims are corrected for one another."""
    tested = [tuple(_test(claim, part, samples) for part in claim.parts) for claim in claims]
    raw = [statistics.all_of(parts) for parts in tested]
    return tuple(map(Judgement, claims, tested, raw, statistics.corrected(raw)))


def _test(claim: Claim, part: tuple[Source, ...], samples: Samples) -> Significance:
    """Return the test of one comparison."""
    runs = statistics.matched([samples(source, claim.metric) for source in part])
    runs[0] = {origin: claim.factor * value for origin, value in runs[0].items()}
    margin = None if claim.margin is None else claim.margin.on(part[0].task, runs)
    if claim.spread:
        runs = [statistics.deviations(each) for each in runs]
    if claim.bound is not None:
        bound = margin if claim.bound == "margin" else claim.bound
        assert bound is not None
        return replace(statistics.above(runs[0], bound), margin=margin)
    assert margin is not None
    if claim.kind == "not_lower":
        tested = statistics.exceeds(*runs, margin=margin)
    elif claim.kind == "equivalent":
        tested = statistics.alike(*runs, margin=margin)
    else:
        equal = [statistics.alike(*pair, margin=margin).p_for for pair in combinations(runs, 2)]
        tested = replace(statistics.rises(runs), p_equal=max(equal))
    return replace(tested, margin=margin)


def _parts(kind: Kind, groups: list[list[Source]]) -> Iterator[tuple[Source, ...]]:
    """Yield the comparisons among groups that decide a claim of this kind."""
    everything = tuple(source for group in groups for source in group)
    if kind == "trend":
        yield everything
    elif kind == "above":
        yield from ((source,) for source in everything)
    elif kind == "equivalent":
        yield from combinations(everything, 2)
    else:
        for lower, higher in pairwise(groups):
            yield from product(lower, higher)


@cache
def _fitted() -> set[AnyCondition]:
    """Return the conditions whose numbers the calibration used to choose the preset."""
    return {
        paper.standard(task, student=student, episodes=episodes)
        for task in paper.TASKS[:2]
        for student in ("smgrnn", "static", "growth-only")
        for episodes in (paper.SENSITIVITY_EPISODES, paper.EPISODES)
    }


def _claim(entry: dict[str, Any], margins: dict[str, Margin]) -> Claim:
    groups = {
        kind: tuple((it,) if isinstance(it, str) else tuple(it) for it in entry[kind])
        for kind in ("tasks", "conditions")
    }
    if ("grid",) in groups["conditions"]:  # all points but those that the claim names
        named = _flat(groups["conditions"])
        grid = tuple(point for point in GRID.conditions if point not in named)
        groups["conditions"] = tuple(
            grid if group == ("grid",) else group for group in groups["conditions"]
        )
    settings = {**entry, **groups, "where": tuple(entry["where"])}
    if given := entry.get("margin"):
        settings["margin"] = Margin(**given if isinstance(given, dict) else {"units": given})
    elif entry.get("bound", "margin") == "margin":
        settings["margin"] = margins[entry["metric"]]
    return Claim(**settings)


def _flat(groups: tuple[Group, ...]) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group)
