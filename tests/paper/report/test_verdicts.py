"""Verdicts: every claim is decided by the runs there are, and says on what it rests."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import AnyCondition, Store
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.verdicts import Finding, comparisons, judge
from support.fabricated import fill_store

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 8, 4
CLAIMS = load_claims()

Judge = Callable[..., list[Finding]]


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Return findings on claims, given the figures of runs by variant, or by task and variant."""

    def find(figures: dict[str, dict[str, Any]], *ids: str) -> list[Finding]:
        store, claims = Store(tmp_path), [CLAIMS[id] for id in ids]
        names = {claim.experiment for claim in claims}

        def of(condition: AnyCondition, seed: int) -> dict[str, Any]:
            name = f"{condition.task}/{condition.variant}"
            chosen = figures.get(name, figures.get(condition.variant, {}))
            chosen, step = dict(chosen), chosen.get("spread", 0.1)
            chosen.pop("spread", None)
            return {name: values + step * seed for name, values in chosen.items()}

        fill_store(store, choose_experiments(names, seeds=SEEDS, episodes=EPISODES), of)
        return judge(claims, Results(store, names, seeds=SEEDS, episodes=EPISODES))

    return find


def test_a_claim_holds_with_its_numbers(judged: Judge) -> None:
    figures = {"smgrnn": {"late_return": 200.0}, "static": {"late_return": 100.0}}
    [found] = judged(figures, "growth-lifts-return")
    assert found.standing == "holds"
    assert found.sentence == (
        "Holds. In late return, a run of smgrnn is above one of static on Acrobot-v1 with "
        "probability 1.00 [0.75, 1.00] (the weakest of 2 comparisons; p < 0.001, corrected "
        "p < 0.001)."
    )
    low, high = found.samples[0].ours, found.samples[1].ours
    assert low is not None
    assert high is not None
    assert (low.text(2), high.n) == ("100.35 ± 0.23", SEEDS)


def test_a_refuted_claim_names_what_speaks_against_it(judged: Judge) -> None:
    figures = {
        "smgrnn": {"late_return": 150.0},
        "Acrobot-v1/static": {"late_return": 150.2},  # the weaker, but not clear
        "LunarLander-v3/static": {"late_return": 200.0},
    }
    [found] = judged(figures, "growth-lifts-return")
    assert found.standing == "does not hold"
    assert found.sentence == (
        "Does not hold. In late return, a run of smgrnn is above one of static on LunarLander-v3 "
        "with probability 0.00 [0.00, 0.25] (the clearest against it of 2 comparisons; p < 0.001, "
        "corrected p < 0.001)."
    )


def test_a_claim_that_is_too_noisy_names_its_weakest_part_and_the_seeds_that_would_do(
    judged: Judge,
) -> None:
    figures = {
        "smgrnn": {"late_return": 200.0},
        "Acrobot-v1/static": {"late_return": 100.0},
        "LunarLander-v3/static": {"late_return": 95.0, "spread": 30.0},  # to 305
    }
    [found] = judged(figures, "growth-lifts-return")
    assert found.standing == "too noisy"
    assert "on LunarLander-v3 with probability 0." in found.sentence
    assert "(the weakest of 2 comparisons; p = 0." in found.sentence
    assert re.search(r"If effects are as found, (about \d+|more than 1000) seeds", found.sentence)


def test_a_difference_within_the_margin_is_none(judged: Judge) -> None:
    figures = {"smgrnn": {"late_return": 200.0}, "static": {"late_return": 200.0}}
    [found] = judged(figures, "growth-lifts-return")
    assert found.standing == "no difference"
    assert "with probability 0.50" in found.sentence
    assert "the closest to none of 2 comparisons" in found.sentence


def test_a_difference_that_holds_within_the_margin_says_so(judged: Judge) -> None:
    figures = {"smgrnn": {"late_return": 201.0}, "static": {"late_return": 200.0}}
    [found] = judged(figures, "growth-lifts-return")
    assert found.standing == "holds"
    assert found.sentence.endswith("The difference is within the margin.")


def test_every_verdict_states_family_test_margin_and_seeds(judged: Judge) -> None:
    [found] = judged({}, "growth-lifts-return")
    assert found.rule == (
        "Family: growth-ablation, 1 claim. Mann and Whitney's test, one-sided. Margin: 1 % of the "
        "way from a random policy to the expert, 4.2 on Acrobot-v1 and 4.5 on LunarLander-v3. "
        "Seeds: 8."
    )
    numbers = found.to_dict()
    assert (numbers["family"], numbers["n_family"]) == ("growth-ablation", 1)
    assert (numbers["seeds"], numbers["parts"][0]["margin"]) == ("8", pytest.approx(4.16))


def test_a_claim_that_can_hardly_fail_says_why(judged: Judge) -> None:
    [found] = judged({}, "growth-adds-nodes")
    assert found.caution == (
        "It can hardly fail: the reading of the rules was chosen by these sizes."
    )
    [other] = judged({}, "growth-lifts-return")
    assert other.caution == ""


def test_p_values_are_corrected_over_the_claims_of_the_family_that_ran(judged: Judge) -> None:
    figures = {"smgrnn": {"late_return": 200.0}, "static": {"late_return": 100.0}}
    ids = [claim.id for claim in CLAIMS.values() if claim.experiment == "growth-ablation"]
    found = judged(figures, *ids)
    assert {each.n_family for each in found} == {len(ids)}
    [lifts] = [each for each in found if each.claim.id == "growth-lifts-return"]
    assert lifts.judgement is not None
    assert lifts.judgement.p_for > lifts.judgement.whole.p_for


def test_without_runs_a_claim_is_not_run_and_says_what_is_missing(tmp_path: Path) -> None:
    claims = list(CLAIMS.values())
    found = judge(claims, Results(Store(tmp_path)))
    assert {each.standing for each in found} == {"not run"}
    by_id = {each.claim.id: each for each in found}
    assert by_id["cartpole-mlp-slower"].sentence == (
        "Not run. Nothing is known of smgrnn on CartPole-v1 and mlp-100 on CartPole-v1."
    )
    assert by_id["best-of-the-grid"].sentence.endswith(" on CartPole-v1 and 80 other conditions.")


def test_missing_seeds_are_told(judged: Judge, tmp_path: Path) -> None:
    figures = {"smgrnn": {"late_return": 200.0}, "static": {"late_return": 100.0}}
    judged(figures, "growth-lifts-return")
    more = Results(Store(tmp_path), ["growth-ablation"], seeds=SEEDS + 2, episodes=EPISODES)
    [found] = judge([CLAIMS["growth-lifts-return"]], more)
    assert found.standing == "holds"
    assert found.n_missing == 8  # two conditions on two tasks
    assert found.sentence.endswith(" 8 runs missing.")


@pytest.mark.parametrize(
    ("id", "relation"),
    [
        ("cartpole-near-optimal", "a run of smgrnn on CartPole-v1 is above 475"),
        (
            "matches-mlps",
            "a run of smgrnn is not below one of mlp-100 by the margin on CartPole-v1",
        ),
        (
            "static-depends-on-start",
            "a run of static on CartPole-v1 is further from its median than the margin",
        ),
        ("growth-adds-nodes", "a run of smgrnn is above 2 times one of static on CartPole-v1"),
        (
            "growth-steadies-return",
            "a run of static is further from its median than one of smgrnn on CartPole-v1",
        ),
        (
            "size-follows-difficulty",
            "two runs are in the order xor < CartPole-v1 < Acrobot-v1 < LunarLander-v3",
        ),
        ("lunarlander-largest", "a run of LunarLander-v3 is above one of xor"),
    ],
)
def test_every_kind_of_comparison_is_said_in_words(judged: Judge, id: str, relation: str) -> None:
    [found] = judged({}, id)
    assert comparisons(found)[0][0] == relation


def test_every_claim_is_about_runs_of_its_experiment(tmp_path: Path) -> None:
    results = Results(Store(tmp_path))
    for claim in CLAIMS.values():
        named = set(results.every[claim.experiment].conditions.values())
        for source in claim.sources:
            assert results.find(*source).condition in named, claim.id
