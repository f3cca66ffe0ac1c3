"""Changes: the claims whose verdict is another than in the first report, and what did it.

The verdicts of the first report are in `first_verdicts.toml`, with the metrics and margins by which
they were reached.  Judging today's runs by those tells what a change is due to: to the runs, if
they give today's verdict too; to the measure, if they give the first one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from smgrnn.text import quantity
from smgrnn_paper.report.claims import Claim, Margin
from smgrnn_paper.report.paper import Catalogue, read_data
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.verdicts import Finding, Standing, judge
from smgrnn_paper.report.wording import METRICS

UNDECIDED = "undecided"
"""The verdict of the first report that today's "no difference" and "too noisy" make two of."""


RUNS = "the runs: teachers, rules and seeds"


class First(NamedTuple):
    """A verdict of the first report, and how it was reached where that is not as today."""

    verdict: str
    metric: str | None = None
    margin: float | None = None
    mended: str | None = None
    """The measure or test that has changed under the same name."""


@dataclass(frozen=True)
class ChangedVerdict:
    """A claim whose verdict has changed."""

    id: str
    sentence: str
    first: str
    now: Standing
    cause: str
    """The runs, the metric or the margin that changed it, in words."""


@dataclass(frozen=True)
class Changes:
    """The changed claims among those that the first report judged and that have run again."""

    n_judged: int
    changed: tuple[ChangedVerdict, ...]
    title: str = "Changes since the first report"

    @property
    def text(self) -> str:
        """How many claims changed their verdict, and when a change is due to what."""
        changed = quantity(len(self.changed), "claim")
        return (
            f"Of {quantity(self.n_judged, 'claim')} that the first report judged, {changed} "
            "changed verdict. An undecided one that has no difference now, or is too noisy, is "
            "none of them. A change is due to the measure if today’s runs, measured as then, have "
            "the first verdict, and to the runs if they have today’s."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"n_judged": self.n_judged, "changed": [vars(each) for each in self.changed]}


def first_verdicts() -> Catalogue[First]:
    """Return the verdicts of the first report by claim.

    >>> first_verdicts()["size-settles"].verdict
    'does not hold'
    """
    entries = read_data("first_verdicts.toml")
    return Catalogue("verdict", {id: First(**entry) for id, entry in entries.items()})


def find_changes(findings: Sequence[Finding], results: Results) -> Changes | None:
    """Return the claims that have another verdict now, or None if none was judged before."""
    first = first_verdicts()
    judged = [each for each in findings if each.claim.id in first and each.judgement]
    as_first = judge([_as_first(each.claim, first[each.claim.id]) for each in judged], results)
    found = []
    for finding, then in zip(judged, as_first, strict=True):
        claim, before = finding.claim, first[finding.claim.id]
        if _coarse(finding.standing) != before.verdict:
            cause = _cause(finding, _coarse(then.standing), before)
            found.append(
                ChangedVerdict(claim.id, claim.sentence, before.verdict, finding.standing, cause)
            )
    return Changes(len(judged), tuple(found)) if judged else None


def _as_first(claim: Claim, first: First) -> Claim:
    """Return a claim with the metric and the margin of the first report."""
    margin = claim.margin if first.margin is None else Margin(units=first.margin)
    return replace(claim, metric=first.metric or claim.metric, margin=margin)


def _cause(finding: Finding, then: str, first: First) -> str:
    """Return the cause of a changed verdict, given the one of today's runs by the first measure."""
    measures = []
    if first.metric:
        words = METRICS[first.metric].word, METRICS[finding.claim.metric].word
        measures.append(f"{words[1]} instead of {words[0]}")
    if first.margin is not None:
        measures.append(f"a margin of {finding.margin} instead of {first.margin:g}")
    if first.mended:
        measures.append(first.mended)
    measure = " and ".join(measures) or "claims that were added to its family"
    if then == first.verdict:
        return f"the measure: {measure}"
    if first.mended:  # today's code does not measure as the first
        return f"the runs, or the measure: {measure}"
    return RUNS if then == _coarse(finding.standing) else f"{RUNS}; and the measure: {measure}"


def _coarse(standing: str) -> str:
    """Return a verdict in the words of the first report."""
    return UNDECIDED if standing in ("no difference", "too noisy") else standing
