"""Verdicts: every claim is decided by the runs there are, and says on what it rests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import AnyCondition, Store
from smgrnn.pages.page import DataTable
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.verdicts import COLUMNS, Finding, claim_tables, judge
from support.fabricated import filled

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 8, 4
CLAIMS = load_claims()

Judge = Callable[..., list[Finding]]


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Return findings on claims, given the figures of runs by variant, or by task and variant."""

    def find(figures: dict[str, dict[str, Any]], *ids: str) -> list[Finding]:
        claims = [CLAIMS[id] for id in ids]
        names = {claim.experiment for claim in claims}

        def of(condition: AnyCondition, seed: int) -> dict[str, Any]:
            name = f"{condition.task}/{condition.variant}"
            chosen = figures.get(name, figures.get(condition.variant, {}))
            chosen, step = dict(chosen), chosen.get("spread", 0.1)
            chosen.pop("spread", None)
            return {name: values + step * seed for name, values in chosen.items()}

        found = filled(tmp_path, *names, seeds=SEEDS, episodes=EPISODES, figures=of)
        return judge(claims, found)

    return find


def cells(finding: Finding) -> dict[str, str]:
    """Return the cells of a claim by the names of their columns."""
    texts = (cell.text for cell in finding.row().cells)
    return dict(zip((column.name for column in COLUMNS), texts, strict=True))


def late(smgrnn: float, static: float) -> dict[str, dict[str, float]]:
    return {"smgrnn": {"late_return": smgrnn}, "static": {"late_return": static}}


AGAINST = {
    "smgrnn": {"late_return": 150.0},
    "Acrobot-v1/static": {"late_return": 150.2},  # the weaker, but not clear
    "LunarLander-v3/static": {"late_return": 200.0},
}
NOISY = {
    "smgrnn": {"late_return": 200.0},
    "Acrobot-v1/static": {"late_return": 100.0},
    "LunarLander-v3/static": {"late_return": 95.0, "spread": 30.0},  # to 305
}


@pytest.mark.parametrize(
    ("figures", "verdict", "task", "effect", "p"),
    [
        (late(200, 100), "holds", "Acrobot-v1", "1.00 [0.75, 1.00]", "<0.001 (<0.001)"),
        (AGAINST, "does not hold", "LunarLander-v3", "0.00 [0.00, 0.25]", "<0.001 (<0.001)"),
        (NOISY, "too noisy", "LunarLander-v3", "0.", "0."),
        (late(200, 200), "no difference", "Acrobot-v1", "0.50", "<0.001 (<0.001)"),
        (late(201, 200), "holds", "Acrobot-v1 (within the margin)", "1.00", "<0.001"),
    ],
)  # fmt: skip
def test_a_verdict_rests_on_the_comparison_that_decides(
    judged: Judge, figures: Any, verdict: str, task: str, effect: str, p: str
) -> None:
    [found] = judged(figures, "growth-lifts-return")
    shown = cells(found)
    assert found.standing == shown["verdict"] == verdict
    assert shown["comparison"] == f"late return: smgrnn > static on {task}"
    assert shown["effect"].startswith(effect)
    assert shown["p"].startswith(p)
    assert shown["seeds"] == "8"
    assert (shown["needed"] != "–") == (verdict == "too noisy")


def test_a_finding_has_its_samples_family_test_and_margin(judged: Judge, tmp_path: Path) -> None:
    [found] = judged(late(200, 100), "growth-lifts-return")
    more = Results(Store(tmp_path), ["growth-ablation"], seeds=SEEDS + 2, episodes=EPISODES)
    assert cells(judge([found.claim], more)[0])["seeds"] == "8 of 10"
    low, high = found.samples[0].ours, found.samples[1].ours
    assert low is not None
    assert high is not None
    assert (low.text(2), high.n) == ("100.35 ± 0.23", SEEDS)
    numbers = found.to_dict()
    assert (numbers["family"], numbers["n_family"]) == ("growth-ablation", 1)
    assert (numbers["seeds"], numbers["parts"][0]["margin"]) == ("8", pytest.approx(4.16))
    assert numbers["margin"] == "1 % of the way from random to expert"
    shown, behind = claim_tables([found], "Claims")
    [row] = shown.rows
    assert row.labels == ("1", found.claim.sentence)
    assert [cell.text for cell in row.cells] == ["holds", "1.00 [0.75, 1.00]"]
    assert row.cells[1].span == pytest.approx((0.75, 1.0, 1.0), abs=0.005)
    [folded] = behind.blocks
    assert isinstance(folded, DataTable)
    texts = [cell.text for cell in folded.rows[0].cells]
    assert texts[1:3] == ["Mann–Whitney", "1 % of the way from random to expert"]


def test_without_runs_a_claim_is_not_run_and_says_what_is_missing(tmp_path: Path) -> None:
    found = judge(list(CLAIMS.values()), Results(Store(tmp_path)))
    assert {each.standing for each in found} == {"not run"}
    [slower] = [each for each in found if each.claim.id == "cartpole-mlp-slower"]
    assert cells(slower)["comparison"] == "no run of smgrnn on CartPole-v1"


def test_every_claim_is_about_runs_of_its_experiment(tmp_path: Path) -> None:
    results = Results(Store(tmp_path))
    for claim in CLAIMS.values():
        named = set(results.every[claim.experiment].conditions.values())
        for source in claim.sources:
            assert results.find(*source).condition in named, claim.id
