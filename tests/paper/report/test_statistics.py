"""Statistics: values computed by hand, then what must hold of any runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from smgrnn.errors import SampleError
from smgrnn_paper.report.statistics import (
    UNKNOWN,
    Estimate,
    Interval,
    Moments,
    Origin,
    Runs,
    Significance,
    above,
    alike,
    all_of,
    compare_means,
    concordance,
    corrected,
    deviations,
    estimate,
    exceeds,
    iqm,
    matched,
    mean_difference,
    mean_estimate,
    mean_std,
    rises,
    simes,
    verdict,
)

PERFECT = np.full(10, 500.0)
LOW, HIGH = np.arange(1.0, 6.0), np.arange(11.0, 16.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def runs(values: ArrayLike, task: str = "", teachers: tuple[str, ...] = ("",)) -> Runs:
    """Return runs with seeds 0, 1, …, which take the teachers in turn."""
    found = np.asarray(values, dtype=np.float64).tolist()
    return {Origin(task, teachers[seed % len(teachers)], seed): it for seed, it in enumerate(found)}


def apart(*samples: ArrayLike) -> list[Runs]:
    """Return runs of conditions that have no pairs, each on a task of its own."""
    return [runs(values, f"task-{i}") for i, values in enumerate(samples)]


def paired(*samples: ArrayLike) -> list[Runs]:
    return [runs(values) for values in samples]


def decided(*parts: Significance) -> str:
    """Return the verdict on a claim alone, without a correction."""
    return verdict(all_of(parts))


def outcome(p_for: float, p_against: float, p_equal: float | None = None) -> Significance:
    return Significance("test", Estimate(0.5, Interval(0.4, 0.6)), p_for, p_against, p_equal)


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
    found = exceeds(*apart(LOW, HIGH))
    assert (found.effect.value, found.test) == (1.0, "Mann–Whitney, 5 runs")
    assert found.p_for == pytest.approx(1 / 252)
    assert found.p_against == pytest.approx(1.0)
    low, high = apart(LOW, HIGH)
    assert exceeds(high, low).p_against == pytest.approx(1 / 252)
    effects = [exceeds(high, low, margin=it).effect.value for it in (20.0, 10.0, 1.0)]
    assert effects == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("arrange", [apart, paired])
def test_runs_that_never_got_there_count_as_last(arrange: Callable[..., list[Runs]]) -> None:
    low, high, never = arrange(LOW, HIGH, [np.inf] * 5)
    tests = exceeds(low, never), exceeds(never, dict(never), margin=20.0), rises([low, high, never])
    assert [each.effect.value for each in tests] == [1.0, 0.5, 1.0]
    assert tests[1].p_for == 1.0  # never and never may be any number of episodes apart


def test_runs_of_a_seed_are_compared_with_one_another() -> None:
    """Growth adds 1 to 5 points to every run, but teachers and seeds are far further apart.

    The test of all runs against all said p = 0.37, and an effect of 0.55 [0.31, 0.77].
    """
    teachers = ("a", "b", "c")
    static = np.arange(10.0) * 50
    low, high = (
        runs(it, "Acrobot-v1", teachers) for it in (static, static + 1 + np.arange(10) % 5)
    )
    found = exceeds(*matched([low, high]))
    assert found.test == "signed-rank, 10 pairs"
    assert found.effect.value == 1.0
    assert found.p_for == pytest.approx(2**-10)
    old = exceeds(*apart([*low.values()], [*high.values()]))
    assert old.effect.value == 0.55
    assert old.p_for == pytest.approx(0.367, abs=0.001)


def test_the_effect_of_pairs_counts_ties_half_and_has_an_interval() -> None:
    """Three pairs of four have a gain and one ties: 3.5 of 4, with Wilson's interval."""
    found = exceeds(*paired([1.0, 2, 3, 4], [2.0, 3, 4, 4]))
    assert found.effect.value == 3.5 / 4
    assert found.p_for == pytest.approx(1 / 8)  # without the tie
    assert found.effect.interval == pytest.approx((0.3958, 0.9868), abs=1e-4)


def test_only_runs_with_the_same_task_teacher_and_seed_are_pairs() -> None:
    ten, five = runs(np.arange(10.0)), runs(np.arange(5.0))
    assert [len(it) for it in matched([ten, five])] == [5, 5]
    others = runs(np.arange(5.0), teachers=("smooth",)), runs(np.arange(5.0), "Acrobot-v1")
    assert [len(it) for other in others for it in matched([ten, other])] == [10, 5] * 2


def test_equal_perfect_scores_are_no_difference_and_hold_as_equivalent() -> None:
    """CartPole's best return is 500.0 ± 0.0 with and without pruning (Table II)."""
    for arrange in (apart, paired):
        one, other = arrange(PERFECT, PERFECT)
        found = exceeds(one, other)
        assert (found.effect.value, found.p_for, found.p_against) == (0.5, 1.0, 1.0)
        same = alike(one, other, margin=5.0)
        assert (same.effect.value, decided(same)) == (0.5, "holds")
        assert decided(replace(found, p_equal=same.p_for)) == "no difference"
        trend = rises(arrange(*[PERFECT] * 3))
        assert (trend.effect.value, trend.p_for, trend.p_against) == (0.5, 1.0, 1.0)
    assert same.test == "TOST, signed-rank, 10 pairs, all equal"
    assert set(deviations(one).values()) == {0.0}


def test_a_trend_is_that_of_jonckheere() -> None:
    """Levels (1, 2), (3, 4), (5, 6): all 12 pairs rise.

    By hand, without ties among runs: the mean of J is 12 / 2 and its variance is
    (36·(2·6 + 3) - 3·(4·(2·2 + 3))) / 72 = 57 / 9 = 6.333, so z = 6 / 2.517 = 2.384.
    """
    found = rises(apart([1.0, 2], [3, 4], [5, 6]))
    assert (found.test, found.effect.value) == ("Jonckheere, 2 runs", 1.0)
    assert found.p_for == pytest.approx(stats.norm.sf(6 / np.sqrt(57 / 9)), rel=1e-6)
    assert found.p_against == 1.0
    falling = rises(apart([5.0, 6], [3, 4], [1, 2]))
    assert falling.effect.value == 0.0
    assert falling.p_against == pytest.approx(3 * found.p_for)  # of it and of two pairs of levels


def test_a_trend_within_seeds_is_that_of_page() -> None:
    """All of five seeds rise over three levels: one arrangement in 6⁵.

    Seeds are further apart than levels, and Jonckheere's test of all runs said p = 0.21.
    """
    seeds = np.arange(5.0) * 100
    levels = [seeds + step for step in (0.0, 10.0, 20.0)]
    found = rises(paired(*levels))
    assert (found.test, found.effect.value) == ("Page, 5 pairs", 1.0)
    assert found.p_for == pytest.approx(6.0**-5)
    assert rises(apart(*levels)).p_for > 0.2
    assert rises(paired(*levels[::-1])).p_against == pytest.approx(3 * 6.0**-5)


def test_a_trend_with_a_reversal_is_none() -> None:
    """Sizes rose with difficulty by Jonckheere's test although the hardest task had smaller ones.

    Ten runs of each level: 1 to 10, 21 to 30, 41 to 50 and then 31 to 40.
    """
    levels = [np.arange(start, start + 10.0) for start in (1, 21, 41, 31)]
    ranks = np.repeat(np.arange(4), 10)
    assert stats.kendalltau(ranks, np.concatenate(levels), alternative="greater").pvalue < 1e-6
    found = rises(apart(*levels))
    assert decided(found) == "does not hold"
    step = exceeds(*apart(*levels[2:]))
    assert found.p_against == pytest.approx(4 * step.p_against)  # one of four tests


def test_a_slight_reversal_keeps_a_trend_from_being_shown() -> None:
    levels = [np.arange(10.0), np.arange(20.0, 30.0), np.arange(19.5, 29.5)]
    found = rises(apart(*levels))
    assert decided(found) == "undecided"
    assert found.p_for == exceeds(*apart(*levels[1:])).p_for > 0.5
    assert decided(rises(apart(*levels[:2], levels[1]))) == "holds"  # no step is no reversal


def test_all_of_five_runs_above_a_bound_is_one_in_32() -> None:
    found = above(runs([2.0, 3, 4, 5, 6]), 1.0)
    assert (found.effect.value, found.p_for, found.p_against) == (1.0, 1 / 32, 1.0)
    assert found.effect.interval == pytest.approx((5 / (5 + 1.959964**2), 1.0))  # Wilson's
    assert above(runs([1.0, 1]), 1.0).effect.value == 0.0


@pytest.mark.parametrize(
    ("values", "away"),
    [
        ([1.0, 2, 3, 10], [1.5, 0.5, 0.5, 7.5]),
        ([1.0, 5, 6], [4.0, 0.0, 1.0]),
        ([7.0], [0.0]),
        ([100.0, np.inf, np.inf, np.inf], [np.inf, 0.0, 0.0, 0.0]),
        ([100.0, 120, np.inf], [20.0, 0.0, np.inf]),
    ],
)
def test_deviations_are_from_the_median(values: list[float], away: list[float]) -> None:
    assert [*deviations(runs(values)).values()] == away


def test_spread_is_measured_within_a_teacher() -> None:
    """Growing students of a teacher differ by two points and static ones by 80.

    But growing ones follow their teachers: from the median of all runs they were up to 201 away,
    and that growth steadies had p = 0.92, and 0.08 against it.
    """
    teachers, within = ("a", "b", "c"), np.repeat([-1.0, -0.5, 0.5, 1.0], 3)
    grown = runs(np.tile([100.0, 300.0, 500.0], 4) + within, "task", teachers)
    static = runs(300.0 + 40 * within, "task", teachers)
    assert [*deviations(grown).values()] == pytest.approx(np.abs(within))
    assert exceeds(deviations(grown), deviations(static)).p_for == pytest.approx(2**-12)
    pooled = [deviations(each) for each in apart([*grown.values()], [*static.values()])]
    assert exceeds(*pooled).p_against < 0.1


def test_one_run_decides_nothing() -> None:
    """`--seeds 1` must come to a report, in which no claim is decided."""
    samples = [1.0], [2.0], [3.0]
    for arrange in (apart, paired):
        low, high, _ = arrange(*samples)
        found = [exceeds(low, high), rises(arrange(*samples)), above(low, 0.0)]
        assert [decided(each) for each in found] == ["undecided"] * 3
        assert found[0].effect.interval == pytest.approx((1 / (1 + 1.959964**2), 1.0))


def test_the_weakest_part_speaks_for_a_claim_and_any_part_against_it() -> None:
    found = all_of([outcome(0.001, 0.9), outcome(0.3, 0.02), outcome(0.04, 0.8)])
    assert found["holds"] == 0.3
    assert found["does not hold"] == pytest.approx(3 * 0.02)
    assert "no difference" not in found
    assert all_of([outcome(1.0, 0.7), outcome(1.0, 0.9)])["does not hold"] == 0.9


def test_a_claim_about_several_tasks_needs_every_task() -> None:
    """On a task that all students solve there is no difference, on another growth is far better.

    "No difference" was the verdict on all three tasks together, because one showed none.
    """
    solved, better, noisy = (
        outcome(1.0, 1.0, 0.001),
        outcome(0.001, 1.0, 1.0),
        outcome(0.3, 0.7, 0.6),
    )
    assert simes([0.001, 1.0]) < 0.05  # by which it was "no difference"
    assert decided(solved, better) == "in part"
    assert decided(solved, noisy) == "undecided"
    assert decided(solved, solved) == "no difference"
    assert decided(better, better) == "holds"
    worse = outcome(1.0, 0.001, 1.0)
    assert decided(noisy, worse) == "does not hold"
    assert decided(better, worse) == "in part"


def test_simes_by_hand() -> None:
    assert simes([0.3, 0.01, 0.8]) == pytest.approx(0.03)  # Bonferroni's 3 · 0.01
    assert simes([0.02, 0.9, 0.02, 0.9]) == pytest.approx(0.04)  # 4 · 0.02 / 2


def test_one_error_rate_covers_all_verdicts() -> None:
    """Of 30 claims that are all false, each in a family of its own, 1.5 hold by chance at 5 %.

    Corrected within each family they kept their p-values, and the smallest held.  By Benjamini and
    Yekutieli, p-values are multiplied by 1 + 1/2 + … + 1/m, by m and by one over their rank.
    """
    by_chance = [(it + 0.5) / 30 for it in range(30)]
    assert min(by_chance) < 0.05
    found = corrected([{"holds": p} for p in by_chance])
    assert {verdict(each) for each in found} == {"undecided"}
    one, other = corrected([{"holds": 0.001, "does not hold": 0.9}, {"holds": 0.02}])
    harmonic = 1 + 1 / 2 + 1 / 3
    assert one["holds"] == pytest.approx(0.001 * 3 * harmonic)
    assert other["holds"] == pytest.approx(0.02 * 3 * harmonic / 2)
    assert one["does not hold"] == 1.0
    assert corrected([]) == []


def test_a_verdict_needs_a_corrected_p_below_a_twentieth() -> None:
    assert verdict({"holds": 0.049, "does not hold": 1.0, "no difference": 0.01}) == "holds"
    assert verdict({"holds": 1.0, "does not hold": 0.049}) == "does not hold"
    assert verdict({"holds": 1.0, "no difference": 0.049}) == "no difference"
    assert verdict({"holds": 0.05, "does not hold": 0.5}) == "undecided"


@pytest.mark.parametrize("arrange", [apart, paired])
def test_conditions_are_alike_within_the_margin(arrange: Callable[..., list[Runs]]) -> None:
    near, close, far = arrange(np.arange(10.0), np.arange(10.0) + 1, np.arange(10.0) + 100)
    assert alike(near, close, margin=20.0).p_for <= 0.001
    assert alike(near, far, margin=20.0).p_for > 0.999
    assert decided(alike(near, far, margin=20.0)) == "does not hold"


@pytest.mark.parametrize(
    ("ours", "theirs", "margin", "expected"),
    [
        # Noise: within two printed deviations, which the count alone called good.
        ((437.0, 60.0, 10), (497.7, 40.0, 10), 24, "different"),
        ((470.0, 60.0, 10), (497.7, 40.0, 10), 24, "undecided"),
        # 30 printed deviations away, and hardly a point.
        ((495.0, 1.0, 10), (498.5, 0.1, 5), 24, "same"),
        ((500.0, 0.0, 10), (500.0, 0.0, 10), 24, "same"),
        ((400.0, 0.0, 10), (500.0, 0.0, 10), 24, "different"),
        ((497.0, 0.0, 1), (497.7, 1.8, 10), 24, "undecided"),
    ],
)
def test_printed_means_are_compared_by_equivalence(
    ours: Any, theirs: Any, margin: float, expected: str
) -> None:
    assert compare_means(Moments(*ours), Moments(*theirs), margin) == expected


def test_equivalence_is_that_of_two_tests_by_welch() -> None:
    """The margins at which the larger of the two p-values is on either side of 5 %."""
    one, other = [9.0, 11.0, 10.0, 13.0], [12.0, 10.0, 11.0]
    ours, theirs = (Moments(*mean_std(it), len(it)) for it in (one, other))
    for margin, is_same in ((2.5, True), (2.0, False)):
        lower = stats.ttest_ind(one, np.subtract(other, margin), equal_var=False)
        upper = stats.ttest_ind(np.subtract(one, margin), other, equal_var=False)
        assert (lower.statistic > 0, upper.statistic < 0) == (True, True)
        assert (max(lower.pvalue, upper.pvalue) / 2 < 0.05) == is_same
        assert (compare_means(ours, theirs, margin) == "same") == is_same


RUNS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6)


@settings(max_examples=25, deadline=None)
@given(RUNS, RUNS)
def test_exchanging_the_sides_exchanges_for_and_against(
    low: list[float], high: list[float]
) -> None:
    one, other = exceeds(*apart(low, high)), exceeds(*apart(high, low))
    assert one.effect.value == pytest.approx(1 - other.effect.value)
    assert (one.p_for, one.p_against) == pytest.approx((other.p_against, other.p_for))
    assert 0 <= one.effect.interval.low <= one.effect.interval.high <= 1


def test_complete_separation_leaves_an_interval() -> None:
    """Bootstraps gave 1.00 [1.00, 1.00], as if ten runs proved that no other run can differ.

    The concordance of ten runs and ten varies like the share of 0.25 · 1200 / 21 = 14.29 tosses,
    that of ten pairs like ten.
    """
    samples = np.arange(10.0), np.arange(10.0) + 100
    for arrange, tosses in ((apart, 14.285714), (paired, 10)):
        found = exceeds(*arrange(*samples)).effect
        assert found.value == 1.0
        assert found.interval == pytest.approx((tosses / (tosses + 1.959964**2), 1.0))


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
        rises([runs([1.0, 2.0])])
