"""Changes since the first report: counted, and put down to the runs or to the measure."""

from pathlib import Path
from typing import Any

import pytest

from smgrnn.batch import AnyCondition, Store
from smgrnn_paper.experiments import choose_experiments
from smgrnn_paper.report.changes import Changes, find_changes, first_verdicts
from smgrnn_paper.report.claims import load_claims
from smgrnn_paper.report.results import Results
from smgrnn_paper.report.verdicts import judge
from support.fabricated import fill_store

pytestmark = pytest.mark.xdist_group("report")

SEEDS, EPISODES = 8, 4
CLAIMS = load_claims()


def changes(folder: Path, id: str, figures: dict[str, dict[str, Any]]) -> Changes | None:
    """Return the changes among one claim, given the figures of runs by variant."""
    store, claim = Store(folder), CLAIMS[id]

    def of(condition: AnyCondition, seed: int) -> dict[str, Any]:
        chosen = figures.get(condition.variant, {})
        return {name: value + 0.01 * seed for name, value in chosen.items()}

    names = [claim.experiment]
    fill_store(store, choose_experiments(names, seeds=SEEDS, episodes=EPISODES), of)
    results = Results(store, names, seeds=SEEDS, episodes=EPISODES)
    return find_changes(judge([claim], results), results)


def test_the_first_verdicts_are_of_claims_that_there_still_are() -> None:
    first = first_verdicts()
    assert len(first) == 67
    assert set(first) <= set(CLAIMS)
    counts = [
        [each.verdict for each in first.values()].count(word)
        for word in ("holds", "does not hold", "undecided")
    ]
    assert counts == [34, 6, 27]


def test_a_margin_that_changed_the_verdict_is_named(tmp_path: Path) -> None:
    """Ten points are comparable within 20, as the first report had it, and not within 4.8."""
    figures = {"smgrnn": {"late_return": 480.0}, "mlp-200": {"late_return": 490.0}}
    found = changes(tmp_path, "cartpole-wide-mlp-catches-up", figures)
    assert found is not None
    [change] = found.changed
    assert (change.first, change.now) == ("holds", "does not hold")
    assert change.cause == (
        "the measure: a margin of 1 % of the way from a random policy to the expert, "
        "4.8 on CartPole-v1 instead of 20"
    )


def test_runs_that_changed_the_verdict_are_named(tmp_path: Path) -> None:
    figures = {"smgrnn": {"late_return": 300.0}, "mlp-200": {"late_return": 490.0}}
    found = changes(tmp_path, "cartpole-wide-mlp-catches-up", figures)
    assert found is not None
    assert found.changed[0].cause == "the runs: teachers, rules and seeds"
    assert found.text.startswith("Of 1 claim that the first report judged, 1 claim changed")


def test_an_undecided_claim_that_says_more_has_not_changed(tmp_path: Path) -> None:
    figures = {name: {"late_return": 200.0} for name in ("smgrnn", "static")}
    found = changes(tmp_path, "growth-lifts-return", figures)
    assert found is not None
    assert (found.n_judged, found.changed) == (1, ())


def test_a_claim_that_is_new_has_not_changed(tmp_path: Path) -> None:
    assert changes(tmp_path, "static-depends-on-start", {}) is None
