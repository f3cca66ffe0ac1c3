"""Estimates with intervals, the tests that decide claims, and the levels at which they decide.

Every effect is a probability, and ½ is no effect: that a run of one condition exceeds a run of
another, that of two runs at different levels the one at the higher level has the larger value, that
a run is above a bound.  The tests behind them use ranks only, so one collapsed run weighs no more
than it should, and a run that never got there may count as infinity.  Chance enters the bootstrap
intervals alone: no p-value and no verdict depends on `rng`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from smgrnn.errors import SampleError

Values = NDArray[np.float64]
Verdict = Literal["holds", "does not hold", "undecided"]

CONFIDENCE = 0.95
"""Confidence level of every interval."""
LEVEL = 0.05
"""Significance level: a corrected p-value below it decides."""


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


def mean_std(values: ArrayLike) -> tuple[float, float]:
    """Return the mean and the standard deviation as the paper prints them, over n, not n - 1.

    Five counts of nodes that give 12.80 ± 0.40 (Table A.II) are four of one number and one next to
    it, over n; over n - 1 no five counts do.  Four of the eight rows of Tables A.I and A.II say so.
    One run that never got there makes both infinite.
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
    runs = _sample(values)
    return student(float(runs.mean()), *_spreads(runs))


def mean_difference(lower: ArrayLike, higher: ArrayLike) -> Estimate:
    """Return how far the mean of one condition is above another's, with Welch's interval."""
    low, high = _sample(lower), _sample(higher)
    return student(float(high.mean() - low.mean()), *_spreads(low, high))


def _spreads(*samples: Values) -> tuple[list[float], list[int]]:
    """Return the variance of each sample, over n - 1, and how many runs it has."""
    variances = [float(runs.var(ddof=1)) if runs.size > 1 else 0.0 for runs in samples]
    return variances, [runs.size for runs in samples]


def iqm(*strata: Values, axis: int = -1) -> Any:
    """Return the interquartile mean: of the values left when a quarter is cut off at both ends."""
    return stats.trim_mean(np.concatenate(strata, axis=axis), 0.25, axis=axis)


def estimate(
    strata: Sequence[ArrayLike], statistic: Callable[..., Any], rng: np.random.Generator
) -> Estimate:
    """Return a statistic over tasks with its stratified bootstrap interval.

    Each of the strata holds the runs of a task, and runs are resampled within their task; the
    statistic takes the strata one by one, and `axis`.  The interval is between percentiles.
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


def probability_of_improvement(
    lower: Sequence[ArrayLike], higher: Sequence[ArrayLike], rng: np.random.Generator
) -> Estimate:
    """Return the probability that a run of one condition exceeds one of another, over tasks.

    Each argument holds the runs of each task; tasks weigh the same, and equal runs count half.
    """
    n_tasks = len(lower)

    def mean_concordance(*strata: Values, axis: int) -> Any:
        pairs = zip(strata[:n_tasks], strata[n_tasks:], strict=True)
        return np.mean([concordance(low, high, axis=axis) for low, high in pairs], axis=0)

    return estimate([*lower, *higher], mean_concordance, rng)


def concordance(*samples: Values, axis: int = -1) -> Any:
    """Return the probability that a run of a later sample is larger than one of an earlier sample.

    Equal runs count half.  Two samples give Mann and Whitney's statistic, more give Jonckheere's,
    each as a share of the pairs of runs.
    """
    wins, n_pairs = 0.0, 0
    # Not scipy's U: it comes with a p-value, which most of the time on 9999 resamples would go to.
    for low, high in combinations((np.moveaxis(sample, axis, -1) for sample in samples), 2):
        pairs = low[..., :, None], high[..., None, :]
        wins = wins + np.less(*pairs).sum((-2, -1)) + np.equal(*pairs).sum((-2, -1)) / 2
        n_pairs += low.shape[-1] * high.shape[-1]
    return wins / n_pairs


def exceeds(
    lower: ArrayLike,
    higher: ArrayLike,
    rng: np.random.Generator,
    *,
    margin: float = 0.0,
    factor: float = 1.0,
) -> Significance:
    """Test that one condition is above another -- Mann and Whitney's test, one-sided.

    With a margin, that it is not below by as much; with a factor, that it is above that multiple.
    """
    low, high = factor * _sample(lower), _sample(higher) + margin
    effect = estimate([low, high], concordance, rng)
    return Significance(*effect, *_p_values(stats.mannwhitneyu, high, low))


def rises(levels: Sequence[ArrayLike], rng: np.random.Generator) -> Significance:
    """Test that a metric rises from level to level -- Jonckheere's test, as Kendall's τ."""
    samples = [_sample(values) for values in levels]
    if len(samples) < 2:
        raise SampleError(f"A trend needs at least two levels. Got {len(samples)} instead.")
    ranks = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    runs = np.concatenate(samples)
    effect = estimate(samples, concordance, rng)
    if np.all(runs == runs[0]):  # τ divides by the number of runs that differ
        return Significance(*effect, 1.0, 1.0)
    return Significance(*effect, *_p_values(stats.kendalltau, ranks, runs))


def above(values: ArrayLike, bound: float) -> Significance:
    """Test that most runs are above a bound -- the sign test."""
    runs = _sample(values)
    n_above, n = int((runs > bound).sum()), runs.size
    found = stats.binomtest(n_above, n).proportion_ci(CONFIDENCE)
    interval = Interval(float(found.low), float(found.high))
    return Significance(n_above / n, interval, *_p_values(stats.binomtest, n_above, n))


def _p_values(test: Callable[..., Any], *data: Any) -> tuple[float, float]:
    """Return the p-values of a test in favour of a claim and against it."""
    greater, less = (test(*data, alternative=side) for side in ("greater", "less"))
    return float(greater.pvalue), float(less.pvalue)


def deviations(values: ArrayLike) -> Values:
    """Return how far runs are from their median: comparing these compares spreads.

    The median of an odd number of runs is one of them; its distance of 0 says nothing about the
    spread and is left out.
    """
    runs = _sample(values)
    middle = np.median(runs)
    # Infinity less infinity is NaN, but a run that equals the median is 0 away from it.
    apart = np.subtract(runs, middle, out=np.zeros_like(runs), where=runs != middle)
    return np.sort(np.abs(apart))[runs.size % 2 if runs.size > 1 else 0 :]


def all_of(parts: Sequence[Significance]) -> Significance:
    """Return the test of a claim that is made of several parts and needs them all.

    Effect and interval are those of the weakest part.  To call the claim true, each part has to be
    shown, so the largest p-value stands as it is; to call it false one part is enough, so the
    smallest is multiplied by the number of parts (Bonferroni's correction).
    """
    weakest = max(parts, key=lambda part: (part.p_for, -part.effect))
    p_against = min(part.p_against for part in parts)
    return replace(weakest, p_against=min(1.0, len(parts) * p_against))


def holm(p_values: ArrayLike) -> Values:
    """Return p-values corrected for their number by Holm's step-down method."""
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    corrected = np.empty_like(raw)
    stepped = raw[order] * np.arange(raw.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected


def verdict(p_for: float, p_against: float) -> Verdict:
    """Return the verdict on a claim, from p-values corrected over its family.

    It holds if the data speak for it (p_for < 0.05), it does not hold if they speak against it
    (p_against < 0.05), and it is undecided otherwise: too few runs, or too small a difference.
    """
    if p_for < LEVEL:
        return "holds"
    return "does not hold" if p_against < LEVEL else "undecided"


def _sample(values: ArrayLike) -> Values:
    """Return the runs of a condition as an array, at least one and none of them NaN."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or runs.size == 0:
        raise SampleError(f"A sample is one number per run. Got the shape {runs.shape} instead.")
    if np.isnan(runs).any():
        raise SampleError("A sample must not have NaN; a run that never got there is infinite.")
    return runs
