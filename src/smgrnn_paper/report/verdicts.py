"""Verdicts: how the runs decide each claim, as numbers and as a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from smgrnn.pages.page import Cell, Column, DataTable, Row, Tone
from smgrnn.runs.plan import Plan
from smgrnn.text import MISSING, number
from smgrnn_paper.report.claims import DIFFERENCES, Circular, Claim, Judgement, Source, weigh
from smgrnn_paper.report.page import Fold
from smgrnn_paper.report.paper import METRICS
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.statistics import LEVEL, Origin, Runs, Significance, Verdict
from smgrnn_paper.report.tables import Measured, bounds, condition_text, estimate_text

Standing = Verdict | Literal["not run"]
TONES: dict[Standing, Tone] = {
    "holds": "good",
    "in part": "fair",
    "does not hold": "bad",
    "no difference": "even",
    "undecided": "none",
    "not run": "none",
}
"""Every verdict, and its color."""
EVIDENCE: dict[Circular, str] = {
    "": "independent",
    "in part": "circular in part",
    "wholly": "circular",
}
"""Names for whether a claim rests on numbers that the calibration used."""
SHORT = ("verdict", "effect")
"""Columns in the table of claims; the others are folded below it."""
COLUMNS = (
    Column("verdict", "Verdict"),
    Column("comparison", "Comparison", "the one that decides, of several"),
    Column("effect", "Effect [95 %]", "probability of the comparison, by run: 0.5 is no effect"),
    Column("p", "p (corrected)", "before and after the correction over all verdicts"),
    Column("seeds", "Seeds", "runs of each condition"),
)


P_VALUES = ("p_for", "p_against", "p_equal")


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

    @property
    def standing(self) -> Standing:
        """The verdict."""
        return "not run" if self.judgement is None else self.judgement.verdict

    @property
    def test(self) -> str:
        """The tests of its comparisons."""
        tests = "; ".join(dict.fromkeys(tested.test for _, tested in self.comparisons()))
        return f"spreads: {tests}" if self.claim.spread else tests

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

    def deciding(self) -> tuple[str, Significance]:
        """Return the comparison on which the verdict rests: the weakest, or what refutes it."""

        def strength(pair: tuple[str, Significance]) -> tuple[float, float]:
            tested = pair[1]
            equal = 1.0 if tested.p_equal is None else tested.p_equal
            keys = {
                "in part": -min(tested.p_against, equal),
                "does not hold": -tested.p_against,
                "no difference": equal,
            }
            return keys.get(self.standing, tested.p_for), -tested.effect.value

        return max(self.comparisons(), key=strength)

    def row(self) -> Row:
        """Return its row in the table of claims."""
        claim, judged = self.claim, self.judgement
        label, span = claim.sentence, None
        label += f" (Can hardly fail: {claim.hardly_fails})" if claim.hardly_fails else ""
        label += f" {EVIDENCE[claim.circular].capitalize()}." if claim.circular else ""
        if judged is None:
            absent = next(it.source for it in self.samples if it.ours is None)
            texts = (f"no run of {_name(absent)}", MISSING, MISSING, self.seeds)
        else:
            compared, tested = self.deciding()
            if self.standing == "in part":
                compared = f"not {compared}"
            if self.standing != "no difference" and (tested.p_equal or 1.0) < LEVEL:
                compared += " (within the margin)"
            shown: Verdict = "holds" if judged.verdict == "undecided" else judged.verdict
            raw, corrected = (p_value(it[shown]) for it in (judged.raw, judged.corrected))
            effect, word = estimate_text(tested.effect, 2), METRICS[claim.metric].word
            span = (tested.effect.interval.low, tested.effect.value, tested.effect.interval.high)
            texts = (f"{word}: {compared}", effect, f"{raw} ({corrected})", self.seeds)
        verdict = Cell(self.standing, tone=TONES[self.standing])
        first, second, *more = map(Cell, texts)
        return Row((label,), (verdict, first, replace(second, span=span), *more))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        claim, judged = self.claim, self.judgement
        names = ("id", "experiment", "sentence", "kind", "metric", "hardly_fails", "circular")
        found = {
            **{name: getattr(claim, name) for name in names},
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
        found |= {"p": judged.raw, "p_corrected": judged.corrected}
        found["parts"] = [
            {
                **{"sources": [it._asdict() for it in part], "margin": tested.margin},
                **{"test": tested.test, "effect": tested.effect.value},
                **bounds(tested.effect.interval),
                **{name: getattr(tested, name) for name in P_VALUES},
            }
            for part, tested in zip(claim.parts, judged.parts, strict=True)
        ]
        return found


def judge(claims: Sequence[Claim], results: Results) -> list[Finding]:
    """Return the verdict on each claim; all that have runs are corrected together."""
    samples = {
        claim.id: tuple(
            Sample(source, Measured.of(runs.values(claim.metric)), len(runs.seeds))
            for source in claim.sources
            for runs in [results.find(*source)]
        )
        for claim in claims
    }

    def runs_of(source: Source, metric: str) -> Runs:
        runs = results.find(*source)
        plans = (record.plan for record in runs.records)
        origins = (
            Origin(source.task, it.teacher.digest if isinstance(it, Plan) else it.student, it.seed)
            for it in plans
        )
        return dict(zip(origins, runs.values(metric).tolist(), strict=True))

    ready = [claim for claim in claims if all(each.ours for each in samples[claim.id])]
    judgements = {each.claim.id: each for each in weigh(ready, runs_of)}
    return [Finding(claim, samples[claim.id], judgements.get(claim.id)) for claim in claims]


def count_evidence(findings: Sequence[Finding]) -> dict[str, dict[Standing, int]]:
    """Return how many claims have each verdict, apart by whether the calibration used them."""
    counts = Counter((each.claim.circular, each.standing) for each in findings)
    return {name: {it: counts[kind, it] for it in TONES} for kind, name in EVIDENCE.items()}


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
    if claim.kind == "equivalent":
        return f"{names[1]} = {names[0]} ± margin{shared}"
    margin = "" if claim.kind in DIFFERENCES else " − margin"
    return f"{about}{names[1]} > {factor}{about}{names[0]}{margin}{shared}"


def p_value(p: float | None) -> str:
    """Return a p-value to the precision that matters.

    >>> p_value(0.0312), p_value(0.00002)
    ('0.031', '<0.001')
    """
    if p is None:
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _name(source: Source) -> str:
    return f"{condition_text(source.condition)} on {source.task}"
