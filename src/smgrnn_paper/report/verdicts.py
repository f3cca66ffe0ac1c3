"""Verdicts: how the runs decide each claim, in numbers and in a sentence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from smgrnn.text import number, quantity
from smgrnn_paper.report.claims import DIFFERENCES, Claim, Judgement, Source, weigh
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import LEVEL, MOST_RUNS, Estimate, Significance, Verdict
from smgrnn_paper.report.tables import Measured, bounds, estimate_text
from smgrnn_paper.report.wording import METRICS, condition_text, p_value

Standing = Verdict | Literal["not run"]
STANDINGS: tuple[Standing, ...] = (
    *("holds", "does not hold", "no difference", "too noisy"),
    "not run",
)
MOST_NAMED = 8
"""Conditions without runs that a sentence names; of more it names the first."""

TESTS = {
    "greater": "Mann and Whitney's test, one-sided",
    "not_lower": "Mann and Whitney's test, one-sided, with the margin",
    "equivalent": "two one-sided Mann–Whitney tests of each pair, with the margin",
    "trend": "Jonckheere's test for an ordered trend, one-sided, without a reversal",
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
    def family(self) -> str:
        """The claims that it was corrected with, by Holm's method."""
        return f"{self.claim.family}, {quantity(self.n_family, 'claim')}"

    @property
    def margin(self) -> str:
        """The difference that does not count, in words; empty where a bound decides."""
        margin = self.claim.margin
        if margin is None:
            return ""
        if margin.share:
            return f"{100 * margin.share:g} % of the median of the runs compared"
        if margin.units:
            return f"{margin.units:g}"
        found = {task: margin.on(task, ()) for task in self._tasks}
        words = {task: number(value, 1 if value >= 1 else 3) for task, value in found.items()}
        each = _enumerate([f"{value} on {task}" for task, value in words.items()])
        return f"{100 * margin.scale:g} % of the way from a random policy to the expert, {each}"

    @property
    def seeds(self) -> str:
        """The runs of each condition, by task where tasks differ."""
        counts = {
            task: {
                each.ours.n if each.ours else 0 for each in self.samples if each.source.task == task
            }
            for task in self._tasks
        }
        texts = {task: " or ".join(map(str, sorted(found))) for task, found in counts.items()}
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        return _enumerate([f"{text} on {task}" for task, text in texts.items()])

    @property
    def rule(self) -> str:
        """How it was decided: family, test, margin and seeds."""
        margin = f" Margin: {self.margin}." if self.margin else ""
        test = f"{self.test[0].upper()}{self.test[1:]}"
        return f"Family: {self.family}. {test}.{margin} Seeds: {self.seeds}."

    @property
    def caution(self) -> str:
        """A warning that it can hardly fail; empty if it may well."""
        return f"It can hardly fail: {_lower(why)}" if (why := self.claim.hardly_fails) else ""

    @property
    def _tasks(self) -> list[str]:
        return list(dict.fromkeys(each.source.task for each in self.samples))

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
            if len(absent) > MOST_NAMED:
                absent = [absent[0], f"{len(absent) - 1} other conditions"]
            return f"Nothing is known of {_enumerate(absent)}."
        part, tested = _decisive(self.judgement)
        n_parts = len(self.judgement.parts)
        which = (
            "" if n_parts == 1 else f"{_ROLES[self.judgement.verdict]} of {n_parts} comparisons; "
        )
        found = _describe(self.claim, part, tested)
        partly = f" {quantity(self.n_missing, 'run')} missing." if self.n_missing else ""
        return f"{found} ({which}{self._p()}).{self._remark(tested)}{partly}"

    def _p(self) -> str:
        """Return the p-value that decided, before and after the correction."""
        assert self.judgement is not None
        judged, whole = self.judgement, self.judgement.whole
        raw, corrected = {
            "holds": (whole.p_for, judged.p_for),
            "does not hold": (whole.p_against, judged.p_against),
            "no difference": (whole.p_equal, judged.p_equal),
            "too noisy": (whole.p_for, judged.p_for),
        }[judged.verdict]
        return f"{p_value(raw)}, corrected {p_value(corrected)}"

    def _remark(self, tested: Significance) -> str:
        """Return a remark for the reader beside the verdict, if there is any."""
        assert self.judgement is not None
        verdict, outlook = self.judgement.verdict, self.judgement.outlook
        if verdict == "too noisy":
            needed = f"about {outlook.n_runs}" if outlook else f"more than {MOST_RUNS}"
            soonest = f": {outlook.verdict}" if outlook else ""
            return f" If effects are as found, {needed} seeds would decide{soonest}."
        if verdict in ("holds", "does not hold") and tested.p_equal < LEVEL:
            return " The difference is within the margin."
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        claim, judgement = self.claim, self.judgement
        return {
            "id": claim.id,
            "experiment": claim.experiment,
            "family": claim.family,
            "n_family": self.n_family,
            "where": list(claim.where),
            "sentence": claim.sentence,
            "kind": claim.kind,
            "metric": claim.metric,
            "hardly_fails": claim.hardly_fails,
            "test": self.test,
            "margin": self.margin,
            "seeds": self.seeds,
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

    judgements = {each.claim.id: each for each in weigh(ready, values)}
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


_ROLES: dict[Verdict, str] = {
    "holds": "the weakest",
    "does not hold": "the clearest against it",
    "no difference": "the closest to none",
    "too noisy": "the weakest",
}
"""The part that a verdict rests on, in words."""


def _decisive(judgement: Judgement) -> tuple[tuple[Source, ...], Significance]:
    """Return the comparison on which the verdict rests."""
    pairs = list(zip(judgement.claim.parts, judgement.parts, strict=True))
    if judgement.verdict == "does not hold":
        return min(pairs, key=lambda pair: pair[1].p_against)
    if judgement.verdict == "no difference":
        return min(pairs, key=lambda pair: pair[1].p_equal)
    return max(pairs, key=lambda pair: (pair[1].p_for, -pair[1].effect))


def _describe(claim: Claim, part: tuple[Source, ...], tested: Significance) -> str:
    """Return the result of a comparison in words."""
    chance = estimate_text(Estimate(tested.effect, tested.interval), 2)
    word = METRICS[claim.metric].word
    return f"In {word}, {_relation(claim, part)} with probability {chance}"


def _relation(claim: Claim, part: tuple[Source, ...]) -> str:
    """Return in words the relation whose probability is the effect of a comparison."""
    if claim.bound == "margin":
        return f"a run of {_name(part[0])} is further from its median than the margin"
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
    elif claim.kind not in DIFFERENCES:
        relation = f"is not below one of {low} by the margin"
    elif claim.factor != 1:
        relation = f"is above {number(claim.factor, 0)} times one of {low}"
    else:
        relation = f"is above one of {low}"
    return f"a run of {high} {relation}{shared}"


def _name(source: Source) -> str:
    return f"{condition_text(source.condition)} on {source.task}"


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _enumerate(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _numbers(judgement: Judgement) -> dict[str, Any]:
    parts = [
        {
            "sources": [source._asdict() for source in part],
            "margin": tested.margin,
            **_plain(tested),
        }
        for part, tested in zip(judgement.claim.parts, judgement.parts, strict=True)
    ]
    corrected = {
        "p_for_corrected": judgement.p_for,
        "p_against_corrected": judgement.p_against,
        "p_equal_corrected": judgement.p_equal,
    }
    outlook = judgement.outlook._asdict() if judgement.outlook else None
    noisy = {"outlook": outlook} if judgement.verdict == "too noisy" else {}
    return {**_plain(judgement.whole), **corrected, **noisy, "parts": parts}


def _plain(tested: Significance) -> dict[str, Any]:
    p_values = {
        "p_for": tested.p_for,
        "p_against": tested.p_against,
        "p_equal": tested.p_equal,
    }
    return {"effect": tested.effect, **bounds(tested.interval), **p_values}
