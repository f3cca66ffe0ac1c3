"""The claims of the paper, and how runs decide them.

The claims are in `claims.toml`, with a margin for each metric, and our hypotheses in `beyond.toml`.
A claim is made of parts, all of which have to hold: "on every task", "than either MLP".  P-values
are corrected by Holm's method over a family: the claims that one experiment decides, unless a claim
says otherwise.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, permutations, product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from smgrnn.arrays import Floats
from smgrnn_paper.experiments.paper import HYPERPARAMETER_GRID as GRID
from smgrnn_paper.report import statistics
from smgrnn_paper.report.paper import read_data
from smgrnn_paper.report.statistics import Outlook, Significance, Verdict

Kind = Literal["greater", "not_lower", "equivalent", "trend", "above"]
DIFFERENCES: tuple[Kind, ...] = ("greater", "trend")
"""Kinds of claims that there is a difference, so that it may turn out that there is none."""
Group = tuple[str, ...]


class Source(NamedTuple):
    """The task and the condition that the numbers of a sample come from."""

    task: str
    condition: str


Samples = Callable[[Source, str], ArrayLike]
"""Returns a metric of the runs of a source, one number per seed; `inf` stands for never."""


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

    def on(self, task: str, runs: Sequence[Floats]) -> float:
        """Return the margin in units of the metric, for a comparison of runs on a task.

        >>> Margin(scale=0.01).on("CartPole-v1", [])
        4.78
        """
        if self.scale:
            return self.scale * _scales()[task]
        return self.units or self.share * abs(float(np.median(np.concatenate(runs))))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence and the comparison that decides it."""

    id: str
    experiment: str
    """The experiment whose runs decide it, without its version."""
    family: str
    """Name of the group of claims over which its p-values are corrected."""
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
    whole: Significance
    """The tests of all parts together; its p-values are not corrected."""
    p_for: float
    """p-value in favor of the claim, corrected over the family."""
    p_against: float
    """p-value against the claim, corrected over the family."""
    p_equal: float
    """p-value in favor of no difference, corrected over the claims of one in the family."""
    outlook: Outlook | None
    """The verdict that more runs would give soonest; None if it takes over 1000."""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return statistics.verdict(self.p_for, self.p_against, self.p_equal)


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
    """Return a verdict on each claim; those of the same family are corrected for one another."""
    tested = [tuple(_test(claim, part, samples) for part in claim.parts) for claim in claims]
    joint = [statistics.all_of(parts) for parts in tested]
    families = Counter(claim.family for claim in claims)
    p_for, p_against, p_equal = np.ones((3, len(claims)))
    for family in families:
        members = [i for i, claim in enumerate(claims) if claim.family == family]
        different = [i for i in members if claims[i].kind in DIFFERENCES]
        p_for[members] = statistics.holm([joint[i].p_for for i in members])
        p_against[members] = statistics.holm([joint[i].p_against for i in members])
        p_equal[different] = statistics.holm([joint[i].p_equal for i in different])
    n_tests = [families[claim.family] for claim in claims]
    p_values = (values.tolist() for values in (p_for, p_against, p_equal))
    outlooks = map(statistics.outlook, tested, n_tests)
    return tuple(map(Judgement, claims, tested, joint, *p_values, outlooks))


def _test(claim: Claim, part: tuple[Source, ...], samples: Samples) -> Significance:
    """Return the test of one comparison."""
    runs = [np.asarray(samples(source, claim.metric), dtype=np.float64) for source in part]
    runs[0] = claim.factor * runs[0]
    margin = None if claim.margin is None else claim.margin.on(part[0].task, runs)
    if claim.spread:
        runs = [statistics.deviations(values) for values in runs]
    if claim.bound is not None:
        bound = margin if claim.bound == "margin" else claim.bound
        assert bound is not None
        return replace(statistics.above(runs[0], bound), margin=margin)
    assert margin is not None
    if claim.kind not in DIFFERENCES:
        return replace(statistics.exceeds(*runs, margin=margin), margin=margin)
    found = statistics.rises(runs) if claim.kind == "trend" else statistics.exceeds(*runs)
    return replace(found, p_equal=statistics.alike(runs, margin), margin=margin)


def _parts(kind: Kind, groups: list[list[Source]]) -> Iterator[tuple[Source, ...]]:
    """Yield the comparisons among groups that decide a claim of this kind."""
    everything = tuple(source for group in groups for source in group)
    if kind == "trend":
        yield everything
    elif kind == "above":
        yield from ((source,) for source in everything)
    elif kind == "equivalent":
        yield from permutations(everything, 2)  # not below by the margin, and not above
    else:
        for lower, higher in pairwise(groups):
            yield from product(lower, higher)


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
    settings = {"family": entry["experiment"], **entry, **groups, "where": tuple(entry["where"])}
    if "margin" in entry:
        settings["margin"] = Margin(units=entry["margin"])
    elif entry.get("bound", "margin") == "margin":
        settings["margin"] = margins[entry["metric"]]
    return Claim(**settings)


@cache
def _scales() -> dict[str, float]:
    """Return how far a policy that acts at random is from the expert, by task."""
    ends = read_data("claims.toml")["scales"] | read_data("beyond.toml")["scales"]
    return {task: end["expert"] - end["random"] for task, end in ends.items()}


def _flat(groups: tuple[Group, ...]) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group)
