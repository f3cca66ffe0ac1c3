"""Verdicts: how the runs decide each claim, as numbers and as a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from smgrnn.pages.page import Cell, Column, DataTable, Fold, Row, Tone
from smgrnn.text import MISSING, number
from smgrnn_paper.report.claims import DIFFERENCES, Claim, Judgement, Source, weigh
from smgrnn_paper.report.paper import METRICS, WORDS
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import LEVEL, MOST_RUNS, Estimate, Significance, Verdict
from smgrnn_paper.report.tables import Measured, bounds, condition_text, estimate_text

Standing = Verdict | Literal["not run"]
TONES: dict[Standing, Tone] = {
    "holds": "good",
    "does not hold": "bad",
    "no difference": "even",
    "too noisy": "fair",
    "not run": "none",
}
"""Every verdict, and its color."""
DECISIVE = {"does not hold": "p_against", "no difference": "p_equal"}
"""The p-value on which a verdict rests, where it is not the one in favor of the claim."""
SHORT = ("verdict", "effect")
"""Columns in the table of claims; the others are folded below it."""
P_VALUES = ("p_for", "p_against", "p_equal")
COLUMNS = (
    Column("verdict", "Verdict"),
    Column("comparison", "Comparison", "the one that decides, of several"),
    Column("effect", "Effect [95 %]", "probability of the comparison, by run: 0.5 is no effect"),
    Column("p", "p (Holm)", "before and after the correction over the family"),
    Column("seeds", "Seeds", "runs of each condition"),
    Column("needed", "Needed", "seeds that would decide, if effects are as found"),
)


class Sample(NamedTuple):
    """The runs of one of the conditions that a claim is about."""

    source: Source
    ours: Measured | None
    n_asked: int
    """Number of runs that the experiment asks for."""

    @property
    def n(self) -> int:
        """Number of runs that there are."""
        return self.ours.n if self.ours else 0


class Finding(NamedTuple):
    """A claim and the verdict of the runs on it."""

    claim: Claim
    samples: tuple[Sample, ...]
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
        return str(WORDS["tests"][self.claim.kind]) + (", of spreads" if self.claim.spread else "")

    @property
    def seeds(self) -> str:
        """The fewest and the most runs of a condition, and of how many where some are missing."""
        counts = sorted({each.n for each in self.samples})
        text = "–".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        is_whole = all(each.n == each.n_asked for each in self.samples)
        return text if is_whole else f"{text} of {max(each.n_asked for each in self.samples)}"

    def comparisons(self) -> Iterator[tuple[str, Significance]]:
        """Yield the comparison in each part of the claim, in signs, and its test."""
        if self.judgement is not None:
            for part, tested in zip(self.claim.parts, self.judgement.parts, strict=True):
                yield relation(self.claim, part), tested

    def row(self) -> Row:
        """Return its row in the table of claims, with all columns."""
        claim, judged, span = self.claim, self.judgement, None
        label = claim.sentence
        label += f" (Can hardly fail: {claim.hardly_fails})" if claim.hardly_fails else ""
        if judged is None:
            absent = next(it.source for it in self.samples if it.ours is None)
            texts = (f"no run of {_name(absent)}", MISSING, MISSING, self.seeds, MISSING)
        else:
            p_name, needed = DECISIVE.get(judged.verdict, "p_for"), MISSING
            compared, tested = (
                max(self.comparisons(), key=lambda pair: (pair[1].p_for, -pair[1].effect))
                if p_name == "p_for"
                else min(self.comparisons(), key=lambda pair: getattr(pair[1], p_name))
            )
            if judged.verdict == "too noisy":
                near = judged.outlook
                needed = f"{near.n_runs}: {near.verdict}" if near else f"over {MOST_RUNS}"
            elif judged.verdict != "no difference" and tested.p_equal < LEVEL:
                compared += " (within the margin)"
            raw, corrected = (p_value(getattr(it, p_name)) for it in (judged.whole, judged))
            effect = estimate_text(Estimate(tested.effect, tested.interval), 2)
            span = (tested.interval.low, tested.effect, tested.interval.high)
            word = METRICS[claim.metric].word
            texts = (f"{word}: {compared}", effect, f"{raw} ({corrected})", self.seeds, needed)
        first, second, *more = map(Cell, texts)
        verdict = Cell(self.standing, tone=TONES[self.standing])
        return Row((label,), (verdict, first, replace(second, span=span), *more))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        claim, judged = self.claim, self.judgement
        names = ("id", "experiment", "family", "sentence", "kind", "metric", "hardly_fails")
        found = {
            **{name: getattr(claim, name) for name in names},
            "n_family": self.n_family,
            "where": list(claim.where),
            "test": self.test,
            "margin": claim.margin.text if claim.margin else "",
            "seeds": self.seeds,
            "verdict": self.standing,
            "samples": [
                {**each.source._asdict(), "ours": each.ours and each.ours.to_dict()}
                for each in self.samples
            ],
        }
        if judged is None:
            return found
        found |= _numbers(judged.whole)
        found |= {f"{name}_corrected": getattr(judged, name) for name in P_VALUES}
        if judged.verdict == "too noisy":
            found["outlook"] = judged.outlook and judged.outlook._asdict()
        found["parts"] = [
            {"sources": [it._asdict() for it in part], "margin": tested.margin, **_numbers(tested)}
            for part, tested in zip(claim.parts, judged.parts, strict=True)
        ]
        return found


def judge(claims: Sequence[Claim], results: Results) -> list[Finding]:
    """Return the verdict on each claim; claims without runs do not count in their family."""
    samples = {
        claim.id: tuple(
            Sample(source, Measured.of(runs.values(claim.metric)), len(runs.seeds))
            for source in claim.sources
            for runs in [results.find(*source)]
        )
        for claim in claims
    }
    ready = [claim for claim in claims if all(each.ours for each in samples[claim.id])]
    judged = weigh(ready, lambda source, metric: results.find(*source).values(metric))
    judgements = {each.claim.id: each for each in judged}
    families = Counter(claim.family for claim in ready)
    return [
        Finding(claim, samples[claim.id], judgements.get(claim.id), families[claim.family])
        for claim in claims
    ]


def claim_tables(findings: Sequence[Finding], title: str) -> tuple[DataTable, Fold]:
    """Return a short row for each claim, and a fold with what its verdict rests on."""
    short = [place for place, column in enumerate(COLUMNS) if column.name in SHORT]
    others = [place for place in range(len(COLUMNS)) if place not in short]
    shown, behind = [], []
    for i, each in enumerate(findings, 1):
        (label,), cells = each.row()
        shown.append(Row((str(i), label), tuple(cells[place] for place in short)))
        margin = each.claim.margin.text if each.claim.margin else MISSING
        about = (str(i), ", ".join(each.claim.where), each.test, margin)
        behind.append((*about, *(cells[place].text for place in others)))
    claims = DataTable(
        id=f"claims-{findings[0].claim.experiment}",
        title=title,
        headings=("No.", "Claim"),
        columns=tuple(COLUMNS[place] for place in short),
        rows=tuple(shown),
    )
    heads = ("No.", "Where", "Test", "Margin", *(COLUMNS[place].heading for place in others))
    return claims, Fold("How each was decided", (DataTable.of("", heads, behind),))


def relation(claim: Claim, part: Sequence[Source]) -> str:
    """Return in signs the relation whose probability is the effect of a comparison."""
    about = "spread of " if claim.spread else ""
    if claim.bound is not None:
        bound = "margin" if claim.bound == "margin" else f"{claim.bound:g}"
        return f"{about}{_name(part[0])} > {bound}"
    is_one_task = len({source.task for source in part}) == 1
    names = [condition_text(each.condition) if is_one_task else each.task for each in part]
    shared = f" on {part[0].task}" if is_one_task else ""
    if claim.kind == "trend":
        return f"{' < '.join(names)}{shared}"
    factor = f"{number(claim.factor, 0)} × " if claim.factor != 1 else ""
    margin = "" if claim.kind in DIFFERENCES else " − margin"
    return f"{about}{names[1]} > {factor}{about}{names[0]}{margin}{shared}"


def p_value(p: float) -> str:
    """Return a p-value to the precision that matters.

    >>> p_value(0.0312), p_value(0.00002)
    ('0.031', '<0.001')
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _name(source: Source) -> str:
    return f"{condition_text(source.condition)} on {source.task}"


def _numbers(tested: Significance) -> dict[str, Any]:
    p_values = {name: getattr(tested, name) for name in P_VALUES}
    return {"effect": tested.effect, **bounds(tested.interval), **p_values}
