"""Statistics: values computed by hand, then what must hold of any runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from smgrnn.errors import SampleError
from smgrnn_paper.report.statistics import (
    UNKNOWN,
    Interval,
    Significance,
    above,
    alike,
    all_of,
    concordance,
    deviations,
    estimate,
    exceeds,
    holm,
    iqm,
    mean_difference,
    mean_estimate,
    mean_std,
    outlook,
    probability_of_improvement,
    rises,
    simes,
    verdict,
)

PERFECT = np.full(10, 500.0)
LOW, HIGH = np.arange(1.0, 6.0), np.arange(11.0, 16.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def outcome(p_for: float, p_against: float, effect: float = 0.5) -> Significance:
    return Significance(effect, Interval(effect - 0.1, effect + 0.1), p_for, p_against)


def test_five_counts_of_nodes_print_as_in_table_a_ii() -> None:
    """12.80 ± 0.40: the paper divides by n; by n - 1 it would be 0.45."""
    assert mean_std([13, 13, 13, 13, 12]) == pytest.approx((12.8, 0.4))
    assert mean_std([100.0, np.inf]) == (np.inf, np.inf)  # a run that never got there


def test_a_mean_has_students_interval() -> None:
    """Of 1, 2, 3: the deviation is 1, and 4.3027 the quantile of two degrees of freedom."""
    half = 4.302653 / np.sqrt(3)
    assert mean_estimate([1, 2, 3]).value == 2
    assert mean_estimate([1, 2, 3]).interval == pytest.approx((2 - half, 2 + half))
    assert mean_estimate([7]) == (7, UNKNOWN)
    assert mean_estimate(PERFECT) == (500, (500, 500))


def test_a_difference_has_welchs_interval() -> None:
    few, many = [1.0, 2.0, 4.0], [9.0, 7.0, 8.0, 30.0]
    low, high = stats.ttest_ind(many, few, equal_var=False).confidence_interval()
    found = mean_difference(few, many)
    assert found.value == pytest.approx(np.mean(many) - np.mean(few))
    assert found.interval == pytest.approx((low, high))
    assert mean_difference(few, [3.0]).interval == UNKNOWN
    assert mean_difference(PERFECT, PERFECT) == (0, (0, 0))


def test_the_interquartile_mean_leaves_out_a_quarter_at_both_ends() -> None:
    assert iqm(np.array([1.0, 100, 3, 4, 5, 6, 7, -50])) == (3 + 4 + 5 + 6) / 4
    assert iqm(np.array([1.0, 100, 3, 4]), np.array([5.0, 6, 7, -50])) == 4.5


def test_the_probability_of_improvement_counts_pairs_and_ties_half() -> None:
    # 2 beats 1 and ties 2; 3 beats both: 3.5 of 4 pairs.  The other task ties throughout.
    value, interval = probability_of_improvement([[1.0, 2], [5, 5]], [[2.0, 3], [5, 5]])
    assert value == (3.5 / 4 + 0.5) / 2
    assert interval.low <= value <= interval.high


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_concordance_of_two_samples_is_the_u_of_scipy(low: list[int], high: list[int]) -> None:
    expected = stats.mannwhitneyu(high, low).statistic / (len(low) * len(high))
    assert concordance(np.array(low, float), np.array(high, float)) == pytest.approx(expected)
    # (1, 2) 1, (1, 0) 0, (2, 0) 0, with two runs at the second level: 2 wins of 5 pairs.
    assert concordance(np.array([1.0]), np.array([2.0, 3]), np.array([0.0])) == 2 / 5


def test_complete_separation_has_the_p_value_of_one_arrangement_in_252() -> None:
    found = exceeds(LOW, HIGH)
    assert found.effect == 1.0
    assert found.p_for == pytest.approx(1 / 252)
    assert found.p_against == pytest.approx(1.0)
    assert exceeds(HIGH, LOW).p_against == pytest.approx(1 / 252)
    assert [exceeds(HIGH, LOW, margin=it).effect for it in (20.0, 10.0, 1.0)] == [1.0, 0.5, 0.0]
    never = [np.inf] * 5  # runs that never got there count as last
    effects = exceeds(LOW, never), exceeds(never, never, margin=20.0), rises([LOW, HIGH, never])
    assert [each.effect for each in effects] == [1.0, 0.5, 1.0]


def test_equal_perfect_scores_are_no_difference_and_hold_as_equivalent() -> None:
    """CartPole's best return is 500.0 ± 0.0 with and without pruning (Table II)."""
    found = exceeds(PERFECT, PERFECT)
    assert (found.effect, found.p_for, found.p_against) == (0.5, 1.0, 1.0)
    assert verdict(found.p_for, found.p_against, alike([PERFECT] * 2, 5.0)) == "no difference"
    both = all_of([exceeds(PERFECT, PERFECT, margin=20.0)] * 2)
    assert both.effect == 1.0
    assert verdict(both.p_for, both.p_against, 1.0) == "holds"
    trend = rises([PERFECT] * 3)
    assert (trend.effect, trend.p_for, trend.p_against) == (0.5, 1.0, 1.0)
    same = deviations(PERFECT)
    assert exceeds(same, same).p_for == 1.0


def test_a_trend_is_that_of_jonckheere() -> None:
    """Levels (1, 2), (3, 4), (5, 6): all 12 pairs rise.

    By hand, without ties among runs: the mean of J is 12 / 2 and its variance is
    (36·(2·6 + 3) - 3·(4·(2·2 + 3))) / 72 = 57 / 9 = 6.333, so z = 6 / 2.517 = 2.384.
    """
    found = rises([[1.0, 2], [3, 4], [5, 6]])
    assert found.effect == 1.0
    assert found.p_for == pytest.approx(stats.norm.sf(6 / np.sqrt(57 / 9)), rel=1e-6)
    assert found.p_against == 1.0
    falling = rises([[5.0, 6], [3, 4], [1, 2]])
    assert falling.effect == 0.0
    assert falling.p_against == pytest.approx(3 * found.p_for)  # of it and of two pairs of levels


def test_a_trend_with_a_reversal_is_none() -> None:
    """Sizes rose with difficulty by Jonckheere's test although the hardest task had smaller ones.

    Ten runs of each level: 1 to 10, 21 to 30, 41 to 50 and then 31 to 40.
    """
    levels = [np.arange(start, start + 10.0) for start in (1, 21, 41, 31)]
    ranks = np.repeat(np.arange(4), 10)
    assert stats.kendalltau(ranks, np.concatenate(levels), alternative="greater").pvalue < 1e-6
    found = rises(levels)
    assert verdict(found.p_for, found.p_against, found.p_equal) == "does not hold"
    assert found.p_against == pytest.approx(4 * exceeds(*levels[2:]).p_against)  # one of four tests


def test_a_slight_reversal_keeps_a_trend_from_being_shown() -> None:
    levels = [np.arange(10.0), np.arange(20.0, 30.0), np.arange(19.5, 29.5)]
    found = rises(levels)
    assert verdict(found.p_for, found.p_against, found.p_equal) == "too noisy"
    assert found.p_for == exceeds(*levels[1:]).p_for > 0.5
    level = rises([*levels[:2], levels[1]])  # a step that is none is no reversal
    assert verdict(level.p_for, level.p_against, level.p_equal) == "holds"


def test_all_of_five_runs_above_a_bound_is_one_in_32() -> None:
    found = above([2.0, 3, 4, 5, 6], 1.0)
    assert (found.effect, found.p_for, found.p_against) == (1.0, 1 / 32, 1.0)
    assert found.interval == pytest.approx((5 / (5 + 1.959964**2), 1.0))  # Wilson's
    assert above([1.0, 1], 1.0).effect == 0.0


@pytest.mark.parametrize(
    ("runs", "away"),
    [
        ([1.0, 2, 3, 10], [0.5, 0.5, 1.5, 7.5]),
        ([1.0, 5, 6], [1.0, 4.0]),  # without the 0 of the median itself
        ([7.0], [0.0]),
        ([100.0, np.inf, np.inf, np.inf], [0.0, 0.0, 0.0, np.inf]),
        ([100.0, 120, np.inf], [20.0, np.inf]),
    ],
)
def test_deviations_are_from_the_median(runs: list[float], away: list[float]) -> None:
    assert deviations(runs).tolist() == away


def test_one_run_decides_nothing() -> None:
    """`--seeds 1` must come to a report, in which no claim is decided."""
    found = [exceeds([1.0], [2.0]), rises([[1.0], [2.0]]), above([2.0], 1.0)]
    verdicts = [verdict(each.p_for, each.p_against, each.p_equal) for each in found]
    assert verdicts == ["too noisy"] * 3
    assert found[0].interval == found[1].interval == pytest.approx((1 / (1 + 1.959964**2), 1.0))
    assert outlook(found[:1], 1) is None


def test_the_weakest_part_speaks_for_a_claim_and_any_part_against_it() -> None:
    parts = [outcome(0.001, 0.9, 0.9), outcome(0.3, 0.02, 0.6), outcome(0.04, 0.8, 0.7)]
    whole = all_of(parts)
    assert (whole.effect, whole.p_for, whole.interval) == (0.6, 0.3, parts[1].interval)
    assert whole.p_against == pytest.approx(3 * 0.02)
    assert all_of([outcome(1.0, 0.7), outcome(1.0, 0.9)]).p_against == 0.9


def test_simes_and_holm_by_hand() -> None:
    assert simes([0.3, 0.01, 0.8]) == pytest.approx(0.03)  # Bonferroni's 3 · 0.01
    assert simes([0.02, 0.9, 0.02, 0.9]) == pytest.approx(0.04)  # 4 · 0.02 / 2
    # Sorted .005·4, .01·3, .03·2, .04·1; the last is raised to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([0.02]).tolist() == [0.02]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_between_the_raw_p_and_bonferroni_and_keeps_the_order(raw: list[float]) -> None:
    corrected = holm(raw)
    assert np.all(corrected >= raw)
    assert np.all(corrected <= np.minimum(1.0, len(raw) * np.array(raw)))
    assert np.all(np.diff(corrected[np.argsort(raw)]) >= 0)


def test_a_verdict_needs_a_corrected_p_below_a_twentieth() -> None:
    assert verdict(0.049, 1.0, 1.0) == "holds"
    assert verdict(0.049, 1.0, 0.01) == "holds"  # a difference, and a small one
    assert verdict(1.0, 0.049, 1.0) == "does not hold"
    assert verdict(1.0, 1.0, 0.049) == "no difference"
    for p_values in ((0.05, 0.5, 1.0), (0.5, 0.05, 1.0), (1.0, 1.0, 0.05)):
        assert verdict(*p_values) == "too noisy"


def test_conditions_are_alike_within_the_margin_and_not_beyond_it() -> None:
    near, far = np.arange(10.0), np.arange(10.0) + 100.0
    assert alike([near, near + 1.0], 20.0) < 0.001
    assert alike([near, far], 20.0) > 0.999
    assert alike([near, near + 1.0, far], 20.0) > 0.999  # every pair has to be


def test_the_runs_that_would_decide_by_hand() -> None:
    """p = 0.1 is z = 1.282; 1.645 + 0.842 are wanted: (2.486 / 1.282)² = 3.76 times ten runs."""
    faint = Significance(0.6, UNKNOWN, 0.1, 0.9, 1.0, n_runs=10)
    assert outlook([faint], 1) == ("holds", 38)
    assert outlook([faint], 10) == ("holds", 72)  # at a level of 0.005: ((2.576 + 0.842) / 1.282)²
    none = Significance(0.5, UNKNOWN, 0.5, 0.5, 1.0, n_runs=10)
    assert outlook([none], 1) is None
    assert outlook([faint, none], 1) is None  # both are needed
    against = Significance(0.4, UNKNOWN, 0.9, 0.1, 1.0, n_runs=10)
    assert outlook([none, against], 1) == ("does not hold", 48)  # one is enough, at half the level
    equal = Significance(0.5, UNKNOWN, 0.5, 0.5, 0.1, n_runs=10)
    assert outlook([faint, equal], 1) == ("no difference", 48)


RUNS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6)


@settings(max_examples=25, deadline=None)
@given(RUNS, RUNS)
def test_exchanging_the_sides_exchanges_for_and_against(
    low: list[float], high: list[float]
) -> None:
    one, other = exceeds(low, high), exceeds(high, low)
    assert one.effect == pytest.approx(1 - other.effect)
    assert (one.p_for, one.p_against) == pytest.approx((other.p_against, other.p_for))
    assert 0 <= one.interval.low <= one.interval.high <= 1


def test_complete_separation_leaves_an_interval() -> None:
    """Bootstraps gave 1.00 [1.00, 1.00], as if ten runs proved that no other run can differ.

    The concordance of ten runs and ten varies like the share of 0.25 · 1200 / 21 = 14.29 tosses.
    """
    found = exceeds(np.arange(10.0), np.arange(10.0) + 100)
    assert found.effect == 1.0
    assert found.interval == pytest.approx((14.285714 / (14.285714 + 1.959964**2), 1.0))
    over_tasks = probability_of_improvement([LOW] * 3, [HIGH] * 3)
    assert over_tasks.interval == pytest.approx((0.841889, 1.0))


def test_runs_are_resampled_within_their_task(rng: np.random.Generator) -> None:
    """Tasks with one value each leave nothing to chance; pooled, their mean would vary."""
    value, interval = estimate([np.zeros(5), np.full(5, 100.0)], iqm, rng)
    assert value == 50.0
    assert interval == Interval(50.0, 50.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "one number per run"), ([[1.0, 2.0]], "one number per run"), ([np.nan], "not have NaN")],
)
def test_what_is_no_sample_is_refused(values: ArrayLike, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        mean_std(values)
    with pytest.raises(SampleError, match="at least two levels"):
        rises([[1.0, 2.0]])
