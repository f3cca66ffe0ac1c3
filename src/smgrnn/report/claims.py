"""The claims of the paper, and how runs decide them.

The claims are in `claims.toml`.  Each is made of parts, all of which have to hold: "on every
task", "than either MLP", "neither more nor less".  P-values are corrected by Holm's method over a
family: the claims that one experiment decides, unless a claim says otherwise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from smgrnn.errors import ConfigError
from smgrnn.report import statistics
from smgrnn.report.paper import Catalogue, read_data
from smgrnn.report.statistics import Significance, Verdict

Kind = Literal["greater", "not_lower", "equivalent", "trend", "above"]
Group = tuple[str, ...]


class Source(NamedTuple):
    """The task and the condition that the numbers of a sample come from."""

    task: str
    condition: str


Samples = Callable[[Source, str], ArrayLike]
"""Returns a metric of the runs of a source, one number per seed; `inf` stands for never."""


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
    """The relation claimed from group to group: `greater`, each group is above the one before;
    `not_lower`, none is below the one before by the margin; `equivalent`, no two differ by the
    margin; `trend`, the metric rises over them; `above`, each is above the bound."""
    metric: str
    tasks: tuple[Group, ...]
    """Groups of tasks, from the claimed lowest to the claimed highest if `along` is "tasks"."""
    conditions: tuple[Group, ...]
    """Groups of conditions, from the claimed lowest to the claimed highest otherwise."""
    along: Literal["conditions", "tasks"] = "conditions"
    """Whether conditions are compared, or tasks."""
    spread: bool = False
    """Whether to compare how much runs vary, not how high they are."""
    margin: float = 0.0
    """Difference that does not count, in units of the metric."""
    factor: float = 1.0
    """Multiple of the lower group that the higher one has to exceed."""
    bound: float | None = None
    """The threshold that each has to exceed."""

    def __post_init__(self) -> None:
        if (self.margin > 0) != (self.kind in ("not_lower", "equivalent")):
            raise ConfigError(f"The claim {self.id!r} of kind {self.kind} has a wrong margin.")
        if (self.bound is not None) != (self.kind == "above"):
            raise ConfigError(f"The claim {self.id!r} of kind {self.kind} has a wrong bound.")

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every task and condition that the claim is about."""
        return tuple(Source(*pair) for pair in product(_flat(self.tasks), _flat(self.conditions)))

    @property
    def parts(self) -> tuple[tuple[Source, ...], ...]:
        """The comparisons that decide it, each from the claimed lowest to the claimed highest."""
        return tuple(part for groups in self._ladders() for part in _parts(self.kind, groups))

    def _ladders(self) -> Iterator[list[list[Source]]]:
        """Yield the groups to compare: conditions on each task, or tasks under each condition."""
        if self.along == "tasks":
            for condition in _flat(self.conditions):
                yield [[Source(task, condition) for task in group] for group in self.tasks]
        else:
            for task in _flat(self.tasks):
                yield [[Source(task, name) for name in group] for group in self.conditions]


@dataclass(frozen=True)
class Judgement:
    """A claim, the tests of the runs on it, and the verdict."""

    claim: Claim
    parts: tuple[Significance, ...]
    """The test of each of the claim's parts, in their order."""
    whole: Significance
    """The tests of all parts together; its p-values are not corrected."""
    p_for: float
    """p-value in favour of the claim, corrected over the family."""
    p_against: float
    """p-value against the claim, corrected over the family."""
    verdict: Verdict


def load_claims() -> Catalogue[Claim]:
    """Return the claims of the paper by id.

    >>> load_claims()["xor-smallest"].parts[0]
    (Source(task='xor', condition='smgrnn'), Source(task='CartPole-v1', condition='smgrnn'))
    """
    claims = [_claim(entry) for entry in read_data("claims.toml")["claims"]]
    return Catalogue("claim", ((claim.id, claim) for claim in claims))


def extra_metrics() -> Catalogue[str]:
    """Return the metrics that claims need beyond `runs.metrics`, and how to measure each."""
    return Catalogue("metric", read_data("claims.toml")["metrics"])


def weigh(
    claims: Sequence[Claim], samples: Samples, rng: np.random.Generator
) -> tuple[Judgement, ...]:
    """Return a verdict on each claim; those of the same family are corrected for one another."""
    tested = [tuple(_test(claim, part, samples, rng) for part in claim.parts) for claim in claims]
    joint = [statistics.all_of(parts) for parts in tested]
    p_for, p_against = np.empty(len(claims)), np.empty(len(claims))
    for family in {claim.family for claim in claims}:
        members = [i for i, claim in enumerate(claims) if claim.family == family]
        p_for[members] = statistics.holm([joint[i].p_for for i in members])
        p_against[members] = statistics.holm([joint[i].p_against for i in members])
    return tuple(
        Judgement(claim, parts, whole, float(yes), float(no), statistics.verdict(yes, no))
        for claim, parts, whole, yes, no in zip(
            claims, tested, joint, p_for, p_against, strict=True
        )
    )


def _test(
    claim: Claim, part: tuple[Source, ...], samples: Samples, rng: np.random.Generator
) -> Significance:
    """Return the test of one comparison."""
    runs = [samples(source, claim.metric) for source in part]
    if claim.spread:
        runs = [statistics.deviations(values) for values in runs]
    if claim.kind == "trend":
        return statistics.rises(runs, rng)
    if claim.bound is not None:
        return statistics.above(runs[0], claim.bound)
    low, high = runs
    return statistics.exceeds(low, high, rng, margin=claim.margin, factor=claim.factor)


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


def _claim(entry: dict[str, Any]) -> Claim:
    groups = {name: _groups(entry[name]) for name in ("tasks", "conditions")}
    return Claim(
        **{"family": entry["experiment"], **entry, **groups, "where": tuple(entry["where"])}
    )


def _groups(entries: list[str | list[str]]) -> tuple[Group, ...]:
    """Return every entry as a group, a lone name as a group of one."""
    return tuple((entry,) if isinstance(entry, str) else tuple(entry) for entry in entries)


def _flat(groups: tuple[Group, ...]) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group)
