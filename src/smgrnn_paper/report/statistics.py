"""Estimates with intervals, the tests that decide claims, and the levels at which they decide.

Every effect is a probability, and ½ is no effect: that a run of one condition exceeds a run of
another, that of two levels the run at the higher one has the larger value, that a run is above a
bound.  The tests use ranks only, so a run that never got there may count as infinity.  Intervals of
effects are Wilson's; chance enters the bootstrap intervals alone, no p-value and no verdict.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, permutations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from smgrnn.arrays import Floats
from smgrnn.errors import SampleError

Verdict = Literal["holds", "does not hold", "no difference", "too noisy"]

CONFIDENCE = 0.95
"""Confidence level of every interval."""
LEVEL = 0.05
"""Significance level: a corrected p-value below it decides."""
POWER = 0.8
"""Probability with which a number of runs that would decide is to do so."""
MOST_RUNS = 1000
"""Runs of a condition beyond which no number is named that would decide."""


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


@dataclass(frozen=True)
class Significance:
    """The result of a test."""

    effect: float
    """A probability; ½ is no effect, and more is in favour of the claim."""
    interval: Interval
    """Interval of the effect."""
    p_for: float
    """Probability of data so much in favour of the claim if the claim were false."""
    p_against: float
    """Probability of data so much against the claim if the claim were true."""
    p_equal: float = 1.0
    """Probability of data so much alike if there were a difference as large as the margin."""
    n_runs: int = 1
    """Runs of the condition that has the fewest."""
    margin: float | None = None
    """Difference that does not count, in units of the metric; None where there is none."""


def mean_std(values: ArrayLike) -> tuple[float, float]:
    """Return the mean and the standard deviation as the paper prints them, over n, not n - 1.

    Five counts of nodes give 12.80 ± 0.40 (Table A.II) over n, and none do over n - 1.  One run
    that never got there makes both infinite.
    """
    runs = _sample(values)
    std = runs.std(ddof=0) if np.isfinite(runs).all() else np.inf
    return float(runs.mean()), float(std)


def student(value: float, variances: Sequence[float], counts: Sequence[int]) -> Estimate:
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
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(total))
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


def probability_of_improvement(lower: Sequence[ArrayLike], higher: Sequence[ArrayLike]) -> Estimate:
    """Return the probability that a run of one condition exceeds one of another, over tasks.

    Each argument holds the runs of each task; tasks weigh the same, and equal runs count half.
    """
    pairs = [(_sample(low), _sample(high)) for low, high in zip(lower, higher, strict=True)]
    found = [concordance(*pair) for pair in pairs]
    variance = sum(null_variance(*pair) for pair in pairs) / len(pairs) ** 2
    return probability(float(np.mean(found)), 0.25 / variance)


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


def exceeds(lower: ArrayLike, higher: ArrayLike, *, margin: float = 0.0) -> Significance:
    """Test that one condition is above another -- Mann and Whitney's test, one-sided.

    With a margin, that it is not below by as much.
    """
    low, high = _sample(lower), _sample(higher) + margin
    return _tested(_p_values(stats.mannwhitneyu, high, low), low, high)


def rises(levels: Sequence[ArrayLike]) -> Significance:
    """Test that a metric rises from level to level -- Jonckheere's test, as Kendall's τ.

    A trend has no reversal: where runs of a level are more often below than above those of the
    level before, the p-value is that of the pair, above ½; and a pair that is significantly below,
    corrected for the number of tests by Bonferroni, refutes the trend.
    """
    samples = [_sample(values) for values in levels]
    if len(samples) < 2:
        raise SampleError(f"A trend needs at least two levels. Got {len(samples)} instead.")
    ranks = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    runs = np.concatenate(samples)
    if np.all(runs == runs[0]):  # τ divides by the number of runs that differ
        return _tested((1.0, 1.0), *samples)
    p_for, p_against = _p_values(stats.kendalltau, ranks, runs)
    if len(samples) > 2:
        steps = [exceeds(low, high) for low, high in pairwise(samples)]
        p_for = max([p_for, *(step.p_for for step in steps if step.effect < 0.5)])
        against = [p_against, *(step.p_against for step in steps)]
        p_against = min(1.0, len(against) * min(against))
    return _tested((p_for, p_against), *samples)


def above(values: ArrayLike, bound: float) -> Significance:
    """Test that most runs are above a bound -- the sign test."""
    runs = _sample(values)
    n_above, n = int((runs > bound).sum()), runs.size
    p_values = _p_values(stats.binomtest, n_above, n)
    return Significance(*probability(n_above / n, n), *p_values, n_runs=n)


def alike(samples: Sequence[ArrayLike], margin: float) -> float:
    """Return the p-value of a test that no two conditions differ by the margin (TOST of pairs)."""
    return max(exceeds(*pair, margin=margin).p_for for pair in permutations(samples, 2))


def _tested(p_values: tuple[float, float], *samples: Floats) -> Significance:
    """Return a test of ranks with its effect."""
    effect = probability(concordance(*samples), 0.25 / null_variance(*samples))
    return Significance(*effect, *p_values, n_runs=min(sample.size for sample in samples))


def _p_values(test: Callable[..., Any], *data: Any) -> tuple[float, float]:
    """Return the p-values of a test in favour of a claim and against it."""
    greater, less = (test(*data, alternative=side) for side in ("greater", "less"))
    return float(greater.pvalue), float(less.pvalue)


def deviations(values: ArrayLike) -> Floats:
    """Return how far runs are from their median: comparing these compares spreads.

    The median of an odd number of runs is one of them, and its distance of 0 is left out.
    """
    runs = _sample(values)
    middle = np.median(runs)
    # Infinity less infinity is NaN, but a run that equals the median is 0 away from it.
    apart = np.subtract(runs, middle, out=np.zeros_like(runs), where=runs != middle)
    return np.sort(np.abs(apart))[runs.size % 2 if runs.size > 1 else 0 :]


def all_of(parts: Sequence[Significance]) -> Significance:
    """Return the test of a claim that is made of several parts and needs them all.

    To call it true, each part has to be shown, so the weakest part stands as it is.  To call it
    false, or no difference, one part is enough: those p-values are joined by Simes' method.
    """
    weakest = max(parts, key=lambda part: (part.p_for, -part.effect))
    return replace(
        weakest,
        p_against=simes([part.p_against for part in parts]),
        p_equal=simes([part.p_equal for part in parts]),
    )


def simes(p_values: ArrayLike) -> float:
    """Return the p-value of a test that any of several is significant -- Simes' method."""
    ordered = np.sort(np.asarray(p_values, dtype=np.float64))
    return float((ordered * ordered.size / np.arange(1, ordered.size + 1)).min())


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for their number by Holm's step-down method."""
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1))
    return np.minimum(stepped, 1.0)[np.argsort(order)]


def verdict(p_for: float, p_against: float, p_equal: float) -> Verdict:
    """Return the verdict on a claim, from p-values corrected over its family."""
    if p_for < LEVEL:
        return "holds"
    if p_against < LEVEL:
        return "does not hold"
    return "no difference" if p_equal < LEVEL else "too noisy"


class Outlook(NamedTuple):
    """The verdict that is nearest, and the runs of each condition that it would take."""

    verdict: Verdict
    n_runs: int


def outlook(parts: Sequence[Significance], n_tests: int) -> Outlook | None:
    """Return the verdict that more runs would give a claim soonest, or None beyond 1000 of them.

    Effects are taken to be as they were found, and z to grow with the root of the number of runs,
    until the test is significant in four of five repetitions, as the strictest of `n_tests`.  A
    claim is decided when all parts speak for it, or one against it or for no difference.
    """

    def runs_until(p: float, n: int, level: float) -> float:
        z, wanted = stats.norm.isf(p), stats.norm.isf(level) + stats.norm.ppf(POWER)
        return float(max(n * (wanted / z) ** 2, n + 1)) if z > 0 else np.inf

    level, any_level = LEVEL / n_tests, LEVEL / n_tests / len(parts)
    fewest: dict[Verdict, float] = {
        "holds": max(runs_until(part.p_for, part.n_runs, level) for part in parts),
        "does not hold": min(runs_until(part.p_against, part.n_runs, any_level) for part in parts),
        "no difference": min(runs_until(part.p_equal, part.n_runs, any_level) for part in parts),
    }
    verdict = min(fewest, key=lambda each: fewest[each])
    return Outlook(verdict, math.ceil(fewest[verdict])) if fewest[verdict] <= MOST_RUNS else None


def _sample(values: ArrayLike) -> Floats:
    """Return the runs of a condition as an array, at least one and none of them NaN."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or runs.size == 0:
        raise SampleError(f"A sample is one number per run. Got the shape {runs.shape} instead.")
    if np.isnan(runs).any():
        raise SampleError("A sample must not have NaN; a run that never got there is infinite.")
    return runs
