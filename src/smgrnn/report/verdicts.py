"""Verdicts: how the runs decide each claim, in numbers and in a sentence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from smgrnn.report.claims import Claim, Judgement, Source, weigh
from smgrnn.report.results import Results
from smgrnn.report.statistics import Estimate, Significance, Verdict
from smgrnn.report.tables import Measured, bounds, estimate_text
from smgrnn.report.wording import METRICS, condition_text, number, p_value, quantity

Standing = Verdict | Literal["not run"]
STANDINGS: tuple[Standing, ...] = ("holds", "does not hold", "undecided", "not run")

TESTS = {
    "greater": "Mann and Whitney's test, one-sided",
    "not_lower": "Mann and Whitney's test, one-sided, with the margin",
    "equivalent": "two one-sided Mann–Whitney tests of each pair, with the margin",
    "trend": "Jonckheere's test for an ordered trend, one-sided",
    "above": "the sign test against the bound, one-sided",
}
"""The test that decides each kind of claim."""


@dataclass(frozen=True)
class Sampled:
    """The runs of one of the conditions that a claim is about."""

    source: Source
    ours: Measured | None
    n_asked: int
    """Number of runs that the experiment asks for."""


@dataclass(frozen=True)
class Finding:
    """A claim and the verdict of the runs on it."""

    claim: Claim
    samples: tuple[Sampled, ...]
    judgement: Judgement | None
    """The judgement; None if a condition has no runs at all."""
    n_family: int
    """Claims that it was corrected with, itself included."""

    @property
    def standing(self) -> Standing:
        """The verdict."""
        return "not run" if self.judgement is None else self.judgement.verdict

    @property
    def test(self) -> str:
        """The test that decides it."""
        spread = ", on distances from the median" if self.claim.spread else ""
        return TESTS[self.claim.kind] + spread

    @property
    def n_missing(self) -> int:
        """Number of runs that were asked for and not found."""
        return sum(each.n_asked - (each.ours.n if each.ours else 0) for each in self.samples)

    @property
    def sentence(self) -> str:
        """The verdict with the numbers that it rests on."""
        return f"{self.standing.capitalize()}. {self.reason}"

    @property
    def reason(self) -> str:
        """The numbers that the verdict rests on, or the conditions that have none."""
        if self.judgement is None:
            absent = [_name(each.source) for each in self.samples if each.ours is None]
            return f"Nothing is known of {_enumerate(absent)}."
        part, tested = _decisive(self.judgement)
        n_parts = len(self.judgement.parts)
        weight = "the clearest against it" if self.standing == "does not hold" else "the weakest"
        which = "" if n_parts == 1 else f"{weight} of {n_parts} comparisons; "
        found = _describe(self.claim, part, tested)
        partly = f" {quantity(self.n_missing, 'run')} missing." if self.n_missing else ""
        return f"{found} ({which}{self._p()}).{partly}"

    def _p(self) -> str:
        """Return the p-value that decided, before and after the correction."""
        assert self.judgement is not None
        raw, corrected = self.judgement.whole.p_for, self.judgement.p_for
        if self.standing == "does not hold":
            raw, corrected = self.judgement.whole.p_against, self.judgement.p_against
        family = f"over {quantity(self.n_family, 'claim')}"
        return f"{p_value(raw)}, corrected {family} {p_value(corrected)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        claim, judgement = self.claim, self.judgement
        return {
            "id": claim.id,
            "experiment": claim.experiment,
            "family": claim.family,
            "where": list(claim.where),
            "sentence": claim.sentence,
            "kind": claim.kind,
            "metric": claim.metric,
            "test": self.test,
            "verdict": self.standing,
            "finding": self.sentence,
            "samples": [
                {**each.source._asdict(), "ours": each.ours and each.ours.to_dict()}
                for each in self.samples
            ],
            **({} if judgement is None else _numbers(judgement)),
        }


def judge(claims: Sequence[Claim], results: Results) -> list[Finding]:
    """Return a finding on each claim; those that have not run are left open."""
    samples = {claim.id: _samples(claim, results) for claim in claims}
    ready = [claim for claim in claims if all(each.ours for each in samples[claim.id])]

    def values(source: Source, metric: str) -> Any:
        return results.find(*source).values(metric)

    judgements = {each.claim.id: each for each in weigh(ready, values, np.random.default_rng(0))}
    families = Counter(claim.family for claim in ready)
    return [
        Finding(claim, samples[claim.id], judgements.get(claim.id), families[claim.family])
        for claim in claims
    ]


def comparisons(finding: Finding) -> list[tuple[str, Significance]]:
    """Return the comparison in each part of a claim, in words, and its test."""
    claim, judgement = finding.claim, finding.judgement
    found = () if judgement is None else judgement.parts
    pairs = zip(claim.parts, found, strict=judgement is not None)
    return [(_relation(claim, part), tested) for part, tested in pairs]


def _samples(claim: Claim, results: Results) -> tuple[Sampled, ...]:
    found = {source: results.find(*source) for source in claim.sources}
    return tuple(
        Sampled(source, Measured.of(runs.values(claim.metric)), len(runs.seeds))
        for source, runs in found.items()
    )


def _decisive(judgement: Judgement) -> tuple[tuple[Source, ...], Significance]:
    """Return the comparison on which the verdict rests: the weakest, or the one that refutes."""
    pairs = list(zip(judgement.claim.parts, judgement.parts, strict=True))
    if judgement.verdict == "does not hold":
        return min(pairs, key=lambda pair: pair[1].p_against)
    return max(pairs, key=lambda pair: (pair[1].p_for, -pair[1].effect))


def _describe(claim: Claim, part: tuple[Source, ...], tested: Significance) -> str:
    """Return the result of a comparison in words."""
    chance = estimate_text(Estimate(tested.effect, tested.interval), 2)
    word = METRICS[claim.metric].word
    return f"In {word}, {_relation(claim, part)} with probability {chance}"


def _relation(claim: Claim, part: tuple[Source, ...]) -> str:
    """Return in words the relation whose probability is the effect of a comparison."""
    if claim.bound is not None:
        return f"a run of {_name(part[0])} is above {claim.bound:g}"
    is_one_task = len({source.task for source in part}) == 1
    names = [condition_text(each.condition) if is_one_task else each.task for each in part]
    shared = f" on {part[0].task}" if is_one_task else ""
    if claim.kind == "trend":
        return f"two runs are in the order {' < '.join(names)}{shared}"
    low, high = names
    if claim.spread:
        relation = f"is further from its median than one of {low}"
    elif claim.margin:
        relation = f"is not {number(claim.margin, 0)} below one of {low}"
    elif claim.factor != 1:
        relation = f"is above {number(claim.factor, 0)} times one of {low}"
    else:
        relation = f"is above one of {low}"
    return f"a run of {high} {relation}{shared}"


def _name(source: Source) -> str:
    return f"{condition_text(source.condition)} on {source.task}"


def _enumerate(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _numbers(judgement: Judgement) -> dict[str, Any]:
    parts = [
        {"sources": [source._asdict() for source in part], **_plain(tested)}
        for part, tested in zip(judgement.claim.parts, judgement.parts, strict=True)
    ]
    corrected = {"p_for_corrected": judgement.p_for, "p_against_corrected": judgement.p_against}
    return {**_plain(judgement.whole), **corrected, "parts": parts}


def _plain(tested: Significance) -> dict[str, Any]:
    p_values = {"p_for": tested.p_for, "p_against": tested.p_against}
    return {"effect": tested.effect, **bounds(tested.interval), **p_values}
