"""Statistics: values computed by hand, then what must hold of any runs."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from smgrnn.errors import SampleError
from smgrnn.report.statistics import (
    UNKNOWN,
    Interval,
    Significance,
    above,
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
    probability_of_improvement,
    rises,
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


def test_a_run_that_never_got_there_makes_the_mean_infinite() -> None:
    assert mean_std([100.0, np.inf]) == (np.inf, np.inf)


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


def test_the_probability_of_improvement_counts_pairs_and_ties_half(
    rng: np.random.Generator,
) -> None:
    # 2 beats 1 and ties 2; 3 beats both: 3.5 of 4 pairs.  The other task ties throughout.
    value, interval = probability_of_improvement([[1.0, 2], [5, 5]], [[2.0, 3], [5, 5]], rng)
    assert value == (3.5 / 4 + 0.5) / 2
    assert interval.low <= value <= interval.high


def test_concordance_over_three_samples_is_over_all_pairs_of_samples() -> None:
    # (1, 2) 1, (1, 0) 0, (2, 0) 0, with two runs at the second level: 2 wins of 5 pairs.
    assert concordance(np.array([1.0]), np.array([2.0, 3]), np.array([0.0])) == 2 / 5


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_concordance_of_two_samples_is_the_u_of_scipy(low: list[int], high: list[int]) -> None:
    expected = stats.mannwhitneyu(high, low).statistic / (len(low) * len(high))
    assert concordance(np.array(low, float), np.array(high, float)) == pytest.approx(expected)


def test_complete_separation_has_the_p_value_of_one_arrangement_in_252(
    rng: np.random.Generator,
) -> None:
    found = exceeds(LOW, HIGH, rng)
    assert found.effect == 1.0
    assert found.p_for == pytest.approx(1 / 252)
    assert found.p_against == pytest.approx(1.0)
    assert exceeds(HIGH, LOW, rng).p_against == pytest.approx(1 / 252)


def test_a_margin_is_what_may_be_missing(rng: np.random.Generator) -> None:
    assert exceeds(HIGH, LOW, rng, margin=20.0).effect == 1.0
    assert exceeds(HIGH, LOW, rng, margin=10.0).effect == 0.5
    assert exceeds(HIGH, LOW, rng, margin=1.0).effect == 0.0


def test_a_factor_is_what_has_to_be_exceeded(rng: np.random.Generator) -> None:
    assert exceeds([1.0, 2], [21.0, 30], rng, factor=10.0).effect == 1.0
    assert exceeds([1.0, 2], [11.0, 12], rng, factor=10.0).effect == 0.5


def test_equal_perfect_scores_are_undecided_as_greater_and_hold_as_equivalent(
    rng: np.random.Generator,
) -> None:
    """CartPole's best return is 500.0 ± 0.0 with and without pruning (Table II)."""
    found = exceeds(PERFECT, PERFECT, rng)
    assert found == Significance(0.5, Interval(0.5, 0.5), 1.0, 1.0)
    assert verdict(found.p_for, found.p_against) == "undecided"
    both = all_of([exceeds(PERFECT, PERFECT, rng, margin=20.0)] * 2)
    assert both.effect == 1.0
    assert verdict(both.p_for, both.p_against) == "holds"
    trend = rises([PERFECT] * 3, rng)
    assert trend == Significance(0.5, Interval(0.5, 0.5), 1.0, 1.0)
    same = deviations(PERFECT)
    assert exceeds(same, same, rng).p_for == 1.0


def test_a_trend_is_that_of_jonckheere(rng: np.random.Generator) -> None:
    """Levels (1, 2), (3, 4), (5, 6): all 12 pairs rise.

    By hand, without ties among runs: the mean of J is 12 / 2 and its variance is
    (36·(2·6 + 3) - 3·(4·(2·2 + 3))) / 72 = 57 / 9 = 6.333, so z = 6 / 2.517 = 2.384.
    """
    found = rises([[1.0, 2], [3, 4], [5, 6]], rng)
    assert found.effect == 1.0
    assert found.p_for == pytest.approx(stats.norm.sf(6 / np.sqrt(57 / 9)), rel=1e-6)
    assert found.p_against == pytest.approx(1 - found.p_for)
    falling = rises([[5.0, 6], [3, 4], [1, 2]], rng)
    assert falling.effect == 0.0
    assert falling.p_against == pytest.approx(found.p_for)


def test_all_of_five_runs_above_a_bound_is_one_in_32() -> None:
    found = above([2.0, 3, 4, 5, 6], 1.0)
    assert (found.effect, found.p_for, found.p_against) == (1.0, 1 / 32, 1.0)
    # Clopper and Pearson: no less than the share x with x⁵ = 0.025.
    assert found.interval == pytest.approx((0.025 ** (1 / 5), 1.0))
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


def test_steady_runs_are_told_from_scattered_ones(rng: np.random.Generator) -> None:
    steady, scattered = rng.normal(200, 1, 10), rng.normal(200, 100, 10)
    found = exceeds(deviations(steady), deviations(scattered), rng)
    assert verdict(found.p_for, found.p_against) == "holds"


def test_a_run_that_never_got_there_counts_as_last(rng: np.random.Generator) -> None:
    never = [np.inf] * 5
    assert exceeds(LOW, never, rng).effect == 1.0
    assert exceeds(never, never, rng).effect == 0.5
    assert exceeds(never, never, rng, margin=20.0).effect == 0.5
    assert rises([LOW, HIGH, never], rng).effect == 1.0


def test_one_run_decides_nothing(rng: np.random.Generator) -> None:
    """`--seeds 1` must come to a report, of claims that are all undecided."""
    found = [exceeds([1.0], [2.0], rng), rises([[1.0], [2.0]], rng), above([2.0], 1.0)]
    assert [verdict(each.p_for, each.p_against) for each in found] == ["undecided"] * 3
    assert found[0].interval == found[1].interval == UNKNOWN


def test_the_weakest_part_speaks_for_a_claim_and_any_part_against_it() -> None:
    parts = [outcome(0.001, 0.9, 0.9), outcome(0.3, 0.02, 0.6), outcome(0.04, 0.8, 0.7)]
    whole = all_of(parts)
    assert (whole.effect, whole.p_for, whole.interval) == (0.6, 0.3, parts[1].interval)
    assert whole.p_against == pytest.approx(3 * 0.02)
    assert all_of([outcome(1.0, 0.7), outcome(1.0, 0.9)]).p_against == 1.0


def test_holm_by_hand() -> None:
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


@pytest.mark.parametrize(
    ("p_for", "p_against", "expected"),
    [
        (0.049, 1.0, "holds"),
        (0.05, 0.5, "undecided"),
        (0.5, 0.05, "undecided"),
        (1.0, 0.049, "does not hold"),
        (1.0, 1.0, "undecided"),
    ],
)
def test_a_verdict_needs_a_corrected_p_below_a_twentieth(
    p_for: float, p_against: float, expected: str
) -> None:
    assert verdict(p_for, p_against) == expected


RUNS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6)


@settings(max_examples=25, deadline=None)
@given(RUNS, RUNS)
def test_exchanging_the_sides_exchanges_for_and_against(
    low: list[float], high: list[float]
) -> None:
    rng = np.random.default_rng(0)
    one, other = exceeds(low, high, rng), exceeds(high, low, rng)
    assert one.effect == pytest.approx(1 - other.effect)
    assert (one.p_for, one.p_against) == pytest.approx((other.p_against, other.p_for))
    assert 0 <= one.interval.low <= one.interval.high <= 1


def test_equal_generators_give_equal_intervals() -> None:
    low, high = np.random.default_rng(1).normal(size=(2, 10))
    first, again, other = (exceeds(low, high, np.random.default_rng(seed)) for seed in (7, 7, 8))
    assert first == again
    assert other.interval != first.interval
    assert (other.p_for, other.p_against) == (first.p_for, first.p_against)


def test_runs_are_resampled_within_their_task(rng: np.random.Generator) -> None:
    """Tasks with one value each leave nothing to chance; pooled, their mean would vary."""
    value, interval = estimate([np.zeros(5), np.full(5, 100.0)], iqm, rng)
    assert value == 50.0
    assert interval == Interval(50.0, 50.0)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    n_trials, hits = 60, 0
    for _ in range(n_trials):
        strata = [rng.normal(0, 1, 20), rng.normal(0, 3, 20)]
        interval = estimate(strata, iqm, rng).interval
        hits += interval.low <= 0 <= interval.high
    assert hits / n_trials == pytest.approx(0.95, abs=0.05)


def test_runs_that_are_equally_steady_are_seldom_told_apart(rng: np.random.Generator) -> None:
    """Deviations from a median of their own are not quite independent; the test stays honest."""
    n_trials, false_alarms = 150, 0
    for _ in range(n_trials):
        one, other = (deviations(runs) for runs in rng.normal(size=(2, 9)))
        false_alarms += exceeds(one, other, rng).p_for < 0.05
    assert 0 < false_alarms / n_trials < 0.09


@pytest.mark.parametrize("values", [[], [[1.0, 2.0]], 3.0])
def test_a_sample_is_one_number_per_run(values: ArrayLike) -> None:
    with pytest.raises(SampleError, match="one number per run"):
        mean_std(values)


def test_nan_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(SampleError, match="must not have NaN"):
        exceeds([1.0, np.nan], [1.0, 2.0], rng)


def test_one_level_has_no_trend(rng: np.random.Generator) -> None:
    with pytest.raises(SampleError, match=r"at least two levels. Got 1"):
        rises([[1.0, 2.0]], rng)


def test_the_order_of_runs_does_not_matter() -> None:
    found = {
        exceeds(order, [2.0, 3.0], np.random.default_rng(0)).p_for
        for order in permutations([1.0, 2.0, 4.0])
    }
    assert len(found) == 1
