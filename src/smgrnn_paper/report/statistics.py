"""Estimates with intervals, the tests that decide claims, and the error rate of all verdicts.

Every effect is a probability, and ½ is no effect: that a run of one condition exceeds the run of
another, that of two levels the run at the higher one has the larger value, that a run is above a
bound.  Runs of two conditions with the same task, teacher and seed are a pair: they start alike and
play the same episodes.  Conditions that have pairs are compared by pairs, so that neither teachers
nor seeds add noise; others by all runs.  The tests use ranks only, so a run that never got there
may count as infinity.  Intervals of effects are Wilson's; chance enters the bootstrap intervals
alone, no p-value and no verdict.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from smgrnn.arrays import Floats
from smgrnn.errors import SampleError

Verdict = Literal["holds", "in part", "does not hold", "no difference", "undecided"]
Likeness = Literal["same", "different", "undecided"]

CONFIDENCE = 0.95
"""Confidence level of every interval."""
LEVEL = 0.05
"""Significance level: a corrected p-value below it decides."""


class Origin(NamedTuple):
    """What a run shares with runs of other conditions: those with the same origin are a pair."""

    task: str
    teacher: str
    seed: int


Runs = Mapping[Origin, float]
"""A metric of the runs of a condition; infinity stands for never."""


class Interval(NamedTuple):
    """The bounds between which a quantity lies, with the confidence `CONFIDENCE`."""

    low: float
    high: float


UNKNOWN = Interval(-np.inf, np.inf)
"""The interval without bounds, which is all that a single run gives."""


class Estimate(NamedTuple):
    """A statistic of the runs at hand, and the interval in which it may lie for all runs."""

    value: float
    interval: Interval


class Moments(NamedTuple):
    """Mean and standard deviation of some runs; the deviation divides by their number."""

    mean: float
    std: float
    n: int


@dataclass(frozen=True)
class Significance:
    """The result of a test."""

    test: str
    """Name of the test, and the number of pairs or runs."""
    effect: Estimate
    """A probability; ½ is no effect, and more is in favor of the claim."""
    p_for: float
    """Probability of data so much in favor of the claim if the claim were false."""
    p_against: float
    """Probability of data so much against the claim if the claim were true."""
    p_equal: float | None = None
    """Probability of data so much alike if there were a difference as large as the margin; None
    for claims that are not about a difference."""
    margin: float | None = None
    """Difference that does not count, in units of the metric; None where any counts."""


def mean_std(values: ArrayLike) -> tuple[float, float]:
    """Return the mean and the standard deviation as the paper prints them, over n, not n - 1.

    Five counts of nodes give 12.80 ± 0.40 (Table A.II) over n, and none do over n - 1.  One run
    that never got there makes both infinite.
    """
    runs = _sample(values)
    std = runs.std(ddof=0) if np.isfinite(runs).all() else np.inf
    return float(runs.mean()), float(std)


def student(
    value: float,
    variances: Sequence[float],
    counts: Sequence[int],
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return a mean, or a difference of two, with Student's interval; Welch's for two samples.

    Variances are over n - 1; a sample of one run leaves the interval unknown.
    """
    if min(counts) == 1:
        return Estimate(value, UNKNOWN)
    n = np.array(counts)
    errors = np.array(variances) / n
    total = errors.sum()
    if not total:  # no degrees of freedom to speak of: 0 / 0
        return Estimate(value, Interval(value, value))
    freedom = total**2 / (errors**2 / (n - 1)).sum()
    half = float(stats.t.ppf((1 + confidence) / 2, freedom) * np.sqrt(total))
    return Estimate(value, Interval(value - half, value + half))


def mean_estimate(values: ArrayLike) -> Estimate:
    """Return the mean over runs with Student's interval."""
    return _mean_with_interval(_sample(values))


def mean_difference(lower: ArrayLike, higher: ArrayLike) -> Estimate:
    """Return how far the mean of one condition is above another's, with Welch's interval."""
    return _mean_with_interval(_sample(higher), _sample(lower))


def _mean_with_interval(*samples: Floats) -> Estimate:
    value = float(samples[0].mean() - sum(runs.mean() for runs in samples[1:]))
    variances = [float(runs.var(ddof=1)) if runs.size > 1 else 0.0 for runs in reversed(samples)]
    return student(value, variances, [runs.size for runs in reversed(samples)])


def compare_means(ours: Moments, theirs: Moments, margin: float) -> Likeness:
    """Return whether two means are the same within a margin -- two one-sided tests (TOST).

    They are the same if Welch's 90 % interval of the difference is within the margin, else
    different if its 95 % interval leaves out 0: both decide at `LEVEL`.
    """
    apart, counts = ours.mean - theirs.mean, (ours.n, theirs.n)
    variances = [it.std**2 * it.n / max(it.n - 1, 1) for it in (ours, theirs)]
    within = student(apart, variances, counts, 1 - 2 * LEVEL).interval
    if -margin <= within.low and within.high <= margin:
        return "same"
    low, high = student(apart, variances, counts).interval
    return "undecided" if low <= 0 <= high else "different"


def iqm(*strata: Floats, axis: int = -1) -> Any:
    """Return the interquartile mean: of the values left when a quarter is cut off at both ends."""
    return stats.trim_mean(np.concatenate(strata, axis=axis), 0.25, axis=axis)


def estimate(
    strata: Sequence[ArrayLike], statistic: Callable[..., Any], rng: np.random.Generator
) -> Estimate:
    """Return a statistic over tasks with its stratified bootstrap interval, between percentiles.

    Runs are resampled within their stratum; the statistic takes the strata one by one, and `axis`.
    """
    samples = [_sample(values) for values in strata]
    value = float(statistic(*samples, axis=-1))
    if min(sample.size for sample in samples) == 1:
        return Estimate(value, UNKNOWN)
    resampled = stats.bootstrap(
        samples,
        statistic,
        vectorized=True,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=rng,
    )
    return Estimate(value, Interval(*map(float, resampled.confidence_interval)))


def probability(share: float, n: float) -> Estimate:
    """Return a probability with Wilson's score interval, from its share among so many trials."""
    z = stats.norm.isf((1 - CONFIDENCE) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = max(float(middle - half), 0.0), min(float(middle + half), 1.0)
    return Estimate(share, Interval(low, high))


def concordance(*samples: Floats) -> float:
    """Return the probability that a run of a later sample is larger than one of an earlier sample.

    Equal runs count half.  Two samples give Mann and Whitney's statistic, more give Jonckheere's,
    each as a share of the pairs of runs.
    """
    wins, n_pairs = 0.0, 0
    for low, high in combinations(samples, 2):
        wins += np.less.outer(low, high).sum() + np.equal.outer(low, high).sum() / 2
        n_pairs += low.size * high.size
    return float(wins / n_pairs)


def null_variance(*samples: Floats) -> float:
    """Return the variance of the concordance if all runs are alike, without ties.

    A quarter of its inverse is the number of coin tosses whose share varies as much: with those,
    Wilson's interval leaves ½ out exactly where the rank test is significant.
    """
    sizes = np.array([sample.size for sample in samples])
    total, n_pairs = sizes.sum(), (sizes.sum() ** 2 - (sizes**2).sum()) / 2
    spread = total**2 * (2 * total + 3) - (sizes**2 * (2 * sizes + 3)).sum()
    return float(spread / 72 / n_pairs**2)


def matched(samples: Sequence[Runs]) -> list[Runs]:
    """Return the runs whose origins all conditions share; all runs if they share none.

    Conditions on different tasks share none, nor does a search share any with a distillation.
    """
    shared = [origin for origin in samples[0] if all(origin in runs for runs in samples)]
    return [{it: runs[it] for it in shared or runs} for runs in samples]


def deviations(runs: Runs) -> Runs:
    """Return how far runs are from the median of their teacher: comparing these compares spreads.

    Teachers that students follow more or less well would count as spread otherwise.
    """
    apart = {}
    for origin, value in runs.items():
        middle = np.median([runs[it] for it in runs if it[:2] == origin[:2]])
        # Infinity less infinity is NaN, but a run that equals the median is 0 away from it.
        apart[origin] = 0.0 if value == middle else abs(value - float(middle))
    return apart


def exceeds(lower: Runs, higher: Runs, *, margin: float = 0.0) -> Significance:
    """Test that one condition is above another; with a margin, that it is not below by as much.

    It is Wilcoxon's signed-rank test of pairs, without those that tie, or else Mann and Whitney's.
    """
    (low, high), is_paired = _columns([lower, higher])
    high = high + margin
    if not is_paired:
        p_values = _p_values(stats.mannwhitneyu, high, low)
        return _tested("Mann–Whitney", p_values, [low, high], is_paired)
    differ = high != low
    gains = high[differ] - low[differ]
    # Signed ranks have those of the gains, and no infinity.
    signed = np.sign(gains) * stats.rankdata(np.abs(gains))
    p_values = _signed_rank(tuple(signed.tolist())) if signed.size else (1.0, 1.0)
    return _tested("signed-rank", p_values, [low, high], is_paired)


@cache
def _signed_rank(signed: tuple[float, ...]) -> tuple[float, float]:
    """Return the p-values of signed ranks; with ties they take a permutation test each."""
    return _p_values(stats.wilcoxon, np.array(signed))


def alike(one: Runs, other: Runs, *, margin: float) -> Significance:
    """Test that two conditions differ by less than a margin -- two one-sided tests (TOST).

    The effect is that the second is above the first.
    """
    sides = [exceeds(*pair, margin=margin) for pair in ((one, other), (other, one))]
    return Significance(
        test=f"TOST, {sides[0].test}{', all equal' * (one == other)}",
        effect=exceeds(one, other).effect,
        p_for=max(side.p_for for side in sides),
        p_against=min(1.0, 2 * min(side.p_against for side in sides)),
    )


def rises(levels: Sequence[Runs]) -> Significance:
    """Test that a metric rises from level to level.

    It is Page's test within the runs of an origin, or else Jonckheere's, as Kendall's τ; of two
    levels it is that of `exceeds`.  A trend has no reversal: where runs of a level are more often
    below than above those of the level before, the p-value is that of the pair, above ½; and a pair
    that is significantly below, corrected for the number of tests by Bonferroni, refutes the trend.
    """
    if len(levels) < 2:
        raise SampleError(f"A trend needs at least two levels. Got {len(levels)} instead.")
    steps = [exceeds(*pair) for pair in pairwise(levels)]
    if len(levels) == 2:
        return steps[0]
    samples, is_paired = _columns(levels)
    runs = np.concatenate(samples)
    test, p_for, p_against = "Page" if is_paired else "Jonckheere", 1.0, 1.0
    if np.all(runs == runs[0]) or (is_paired and len(levels[0]) == 1):
        pass  # τ divides by the number of runs that differ, and Page's test needs two seeds
    elif is_paired:
        table = np.column_stack(samples)
        p_for = float(stats.page_trend_test(table).pvalue)
        p_against = float(stats.page_trend_test(table[:, ::-1]).pvalue)
    else:
        ranks = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
        p_for, p_against = _p_values(stats.kendalltau, ranks, runs)
    p_for = max([p_for, *(step.p_for for step in steps if step.effect.value < 0.5)])
    against = [p_against, *(step.p_against for step in steps)]
    p_against = min(1.0, len(against) * min(against))
    return _tested(test, (p_for, p_against), samples, is_paired)


def above(values: Runs, bound: float) -> Significance:
    """Test that most runs are above a bound -- the sign test."""
    ((runs,), _), n = _columns([values]), len(values)
    n_above = int((runs > bound).sum())
    p_values = _p_values(stats.binomtest, n_above, n)
    return Significance(f"sign, {n} runs", probability(n_above / n, n), *p_values)


def _columns(samples: Sequence[Runs]) -> tuple[list[Floats], bool]:
    """Return the runs of conditions as arrays, and whether each row is of one origin."""
    is_paired = all(runs.keys() == samples[0].keys() for runs in samples)
    rows = ([runs[it] for it in (samples[0] if is_paired else runs)] for runs in samples)
    return [_sample(row) for row in rows], is_paired


def _tested(
    test: str, p_values: tuple[float, float], samples: Sequence[Floats], is_paired: bool
) -> Significance:
    """Return a test of ranks with its effect; that of pairs is the mean over them."""
    units = [row[:, None] for row in np.column_stack(samples)] if is_paired else [samples]
    share = float(np.mean([concordance(*unit) for unit in units]))
    effect = probability(share, 0.25 / null_variance(*units[0]) * len(units))
    sizes = " and ".join(dict.fromkeys(str(sample.size) for sample in samples))
    return Significance(f"{test}, {sizes} {'pairs' if is_paired else 'runs'}", effect, *p_values)


def _p_values(test: Callable[..., Any], *data: Any) -> tuple[float, float]:
    """Return the p-values of a test in favor of a claim and against it."""
    greater, less = (test(*data, alternative=side) for side in ("greater", "less"))
    return float(greater.pvalue), float(less.pvalue)


def all_of(parts: Sequence[Significance]) -> dict[Verdict, float]:
    """Return the p-values of each verdict on a claim that is made of several parts.

    To hold, or to have no difference, every part has to: the weakest decides.  To not hold, one
    part is enough (Simes' method).  A claim holds in part if one part at least is shown, and for
    another the opposite or less than the margin.
    """
    equal = [part.p_equal for part in parts if part.p_equal is not None]
    p_for, p_against = [part.p_for for part in parts], [part.p_against for part in parts]
    found: dict[Verdict, float] = {"holds": max(p_for)}
    if len(parts) > 1:
        found["in part"] = max(simes(p_for), simes(p_against + equal))
    found["does not hold"] = simes(p_against)
    if equal:
        found["no difference"] = max(equal)
    return found


def simes(p_values: ArrayLike) -> float:
    """Return the p-value of a test that any of several is significant -- Simes' method."""
    ordered = np.sort(np.asarray(p_values, dtype=np.float64))
    return float((ordered * ordered.size / np.arange(1, ordered.size + 1)).min())


def corrected(claims: Sequence[Mapping[Verdict, float]]) -> list[dict[Verdict, float]]:
    """Return the p-values of all verdicts, corrected together -- Benjamini and Yekutieli's method.

    Below `LEVEL`, at most 5 % of all verdicts of a report are expected to be wrong.  That is the
    rate that matters to a reader of many verdicts; and unlike that of Benjamini and Hochberg it is
    kept however tests depend on one another, and claims share runs.
    """
    raw = [p for claim in claims for p in claim.values()]
    found = iter(stats.false_discovery_control(raw, method="by").tolist() if raw else ())
    return [{verdict: next(found) for verdict in claim} for claim in claims]


def verdict(p_values: Mapping[Verdict, float]) -> Verdict:
    """Return the first verdict that is significant, from corrected p-values."""
    return next((verdict for verdict, p in p_values.items() if p < LEVEL), "undecided")


def _sample(values: ArrayLike) -> Floats:
    """Return the runs of a condition as an array, at least one and none of them NaN."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or runs.size == 0:
        raise SampleError(f"A sample is one number per run. Got the shape {runs.shape} instead.")
    if np.isnan(runs).any():
        raise SampleError("A sample must not have NaN; a run that never got there is infinite.")
    return runs
