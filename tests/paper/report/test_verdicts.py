"""Verdicts: every claim is decided by the runs there are, and says on what it rests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import AnyCondition, Store
from smgrnn.pages.page import DataTable
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.verdicts import COLUMNS, Finding, claim_tables, count_evidence, judge
from support.fabricated import filled

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 10, 4
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
            return {name: values + step * (seed % SEEDS) for name, values in chosen.items()}

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
    "Acrobot-v1/static": {"late_return": 150.2, "spread": 0.15},  # the weaker, but as clear
    "LunarLander-v3/static": {"late_return": 200.0},
}
NOISY = {
    "smgrnn": {"late_return": 200.0},
    "Acrobot-v1/static": {"late_return": 100.0},
    "LunarLander-v3/static": {"late_return": 95.0, "spread": 30.0},  # to 305
}
IN_PART = {
    "smgrnn": {"late_return": 200.0},
    "Acrobot-v1/static": {"late_return": 100.0},
    "LunarLander-v3/static": {"late_return": 200.0},
}


@pytest.mark.parametrize(
    ("figures", "verdict", "compared", "effect", "p"),
    [
        (late(200, 100), "holds", "{} Acrobot-v1", "1.00 [0.72, 1.00]", "<0.001 (0."),
        (AGAINST, "does not hold", "{} Acrobot-v1 (within the margin)", "0.00 [0.00", "<0.001"),
        (NOISY, "undecided", "{} LunarLander-v3", "0.", "0."),
        (IN_PART, "in part", "not {} LunarLander-v3 (within the margin)", "0.50", "0.004"),
        (late(200, 200), "no difference", "{} Acrobot-v1", "0.50", "<0.001"),
        (late(201, 200), "holds", "{} Acrobot-v1 (within the margin)", "1.00", "<0.001"),
    ],
)
def test_a_verdict_rests_on_the_comparison_that_decides(
    judged: Judge, figures: Any, verdict: str, compared: str, effect: str, p: str
) -> None:
    [found] = judged(figures, "growth-lifts-return")
    shown = cells(found)
    assert found.standing == shown["verdict"] == verdict
    assert shown["comparison"] == f"late return: {compared.format('smgrnn > static on')}"
    assert shown["effect"].startswith(effect)
    assert shown["p"].startswith(p)
    assert shown["seeds"] == "10"


def test_a_finding_has_its_samples_test_margin_and_evidence(judged: Judge, tmp_path: Path) -> None:
    [found] = judged(late(200, 100), "growth-lifts-return")
    more = Results(Store(tmp_path), ["growth-ablation"], seeds=SEEDS + 2, episodes=EPISODES)
    assert cells(judge([found.claim], more)[0])["seeds"] == "10 of 12"
    low, high = found.samples[0].ours, found.samples[1].ours
    assert low is not None
    assert high is not None
    assert (low.text(2), high.n) == ("100.45 ± 0.29", SEEDS)
    numbers = found.to_dict()
    assert (numbers["seeds"], numbers["parts"][0]["margin"]) == ("10", pytest.approx(4.16))
    assert numbers["margin"] == "1 % of the way from random to expert"
    assert numbers["circular"] == "in part"
    assert found.row().labels[0].endswith(" Circular in part.")
    assert count_evidence([found])["circular in part"]["holds"] == 1
    assert sum(count_evidence([found])["independent"].values()) == 0
    shown, behind = claim_tables([found], "Claims")
    [row] = shown.rows
    assert row.labels == ("1", f"{found.claim.sentence} Circular in part.")
    assert [cell.text for cell in row.cells] == ["holds", "1.00 [0.72, 1.00]"]
    assert row.cells[1].span == pytest.approx((0.72, 1.0, 1.0), abs=0.005)
    [folded] = behind.blocks
    assert isinstance(folded, DataTable)
    texts = [cell.text for cell in folded.rows[0].cells]
    assert texts[1:3] == ["signed-rank, 10 pairs", "1 % of the way from random to expert"]


def test_teachers_are_those_of_the_records(judged: Judge) -> None:
    """A search has no teacher, and no pairs with students that have one."""
    figures = {"neat": {"late_nodes": 1.0}, "smgrnn": {"late_return": 200.0}}
    [found] = judged(figures, "dynamic-topology-is-not-enough")
    assert found.test == "Mann–Whitney, 10 runs"


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
