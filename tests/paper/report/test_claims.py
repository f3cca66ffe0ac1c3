"""The paper's claims as data, and the road from runs to verdicts."""

import numpy as np
import pytest

from smgrnn_paper.report.claims import (
    Claim,
    Judgement,
    Margin,
    Source,
    load_claims,
    weigh,
)
from smgrnn_paper.report.paper import METRICS, load_paper
from smgrnn_paper.report.tables import BESIDE

CARTPOLE, ACROBOT, LANDER = "CartPole-v1", "Acrobot-v1", "LunarLander-v3"


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return load_claims()


def claim(kind: str = "greater", **changes: object) -> Claim:
    settings = {
        "id": f"a-{kind}",
        "experiment": "growth-ablation",
        "family": "family",
        "where": ("Sec. IV",),
        "sentence": "So it is.",
        "kind": kind,
        "metric": "late_return",
        "tasks": ((CARTPOLE,),),
        "conditions": (("static",), ("smgrnn",)),
        "margin": None if kind == "above" else Margin(units=0.1),
    }
    return Claim(**{**settings, **changes})  # type: ignore[arg-type]


def verdicts(means: dict[str, float], *claims: Claim, n: int = 10) -> list[str]:
    """Decide claims on runs around the mean of their condition, with a deviation of about 1."""
    around = np.linspace(-1.5, 1.5, n)

    def samples(source: Source, metric: str) -> np.ndarray:
        assert metric == "late_return"
        return means[source.condition] + around

    return [found.verdict for found in weigh(claims, samples)]


def test_every_claim_can_be_told_from_the_others(claims: dict[str, Claim]) -> None:
    assert len(claims) == 71
    assert len({claim.sentence for claim in claims.values()}) == len(claims)
    for claim in claims.values():
        assert claim.where
        assert claim.metric in METRICS
        assert (claim.bound is not None) == (claim.kind == "above")
        assert (claim.margin is None) == (claim.kind == "above" and claim.bound != "margin")


def test_claims_point_the_way_the_paper_printed(claims: dict[str, Claim]) -> None:
    """Where a table has the means that a claim compares, they lie as the claim says."""
    paper, means = load_paper(), {}
    for table in paper.tables.values():
        for row in table.rows:
            for column in table.columns:
                if row.task and row.condition:
                    source, name = Source(row.task, row.condition), column.name
                    means[source, BESIDE.get(name, name)] = table.cell(row.name, name).mean
    n_checked = 0
    for each in claims.values():
        if each.kind in ("greater", "trend") and not each.spread:
            for part in each.parts:
                found = (means.get((source, each.metric)) for source in part)
                numbers = [number for number in found if number is not None]
                assert numbers == sorted(numbers), (each.id, part)
                n_checked += len(numbers) > 1
    assert n_checked >= 40


def test_each_group_is_compared_with_the_one_before_it_on_every_task() -> None:
    both = claim(conditions=(("mlp-100", "mlp-200"), ("smgrnn",)), tasks=((CARTPOLE,), (ACROBOT,)))
    assert both.parts == tuple(
        (Source(task, mlp), Source(task, "smgrnn"))
        for task in (CARTPOLE, ACROBOT)
        for mlp in ("mlp-100", "mlp-200")
    )
    assert len(both.sources) == 6
    sizes = claim(along="tasks", tasks=(("xor",), (CARTPOLE, ACROBOT)), conditions=(("smgrnn",),))
    assert [part[1].task for part in sizes.parts] == [CARTPOLE, ACROBOT]  # above xor
    three = (("static",), ("smgrnn",), ("mlp-100",))
    assert len(set(claim("equivalent", conditions=three).parts)) == 6  # both ways
    assert [len(part) for part in claim("trend").parts] == [2]
    assert [len(part) for part in claim("above", bound=0.0).parts] == [1, 1]


def test_returns_have_a_margin_on_the_scale_of_their_task(claims: dict[str, Claim]) -> None:
    """1 % of the way from random to expert; 20 points were more than students differ by."""
    margin = claims["pruning-keeps-late-return"].margin
    assert margin is not None
    found = [margin.on(task, []) for task in (CARTPOLE, ACROBOT, LANDER)]
    assert found == pytest.approx([4.78, 4.16, 4.52])
    runs = [np.array([10.0, 20.0]), np.array([30.0, 40.0])]
    assert Margin(share=0.1).on(CARTPOLE, runs) == 2.5  # of the median


TWENTY = {"margin": Margin(units=20.0)}


@pytest.mark.parametrize(
    ("kind", "changes", "static", "smgrnn", "expected"),
    [
        ("greater", {}, 0.0, 10.0, "holds"),
        ("greater", {}, 10.0, 0.0, "does not hold"),
        ("greater", {}, 0.0, 0.0, "too noisy"),
        ("greater", TWENTY, 0.0, 0.0, "no difference"),
        ("greater", TWENTY, 0.0, 10.0, "holds"),  # it is shown, whatever the margin
        ("greater", {"factor": 10.0}, 10.0, 150.0, "holds"),
        ("greater", {"factor": 10.0}, 10.0, 50.0, "does not hold"),
        ("not_lower", TWENTY, 10.0, 0.0, "holds"),
        ("not_lower", TWENTY, 50.0, 0.0, "does not hold"),
        ("equivalent", TWENTY, 10.0, 0.0, "holds"),
        ("equivalent", TWENTY, 0.0, 50.0, "does not hold"),
        ("equivalent", TWENTY, 50.0, 0.0, "does not hold"),
        ("equivalent", TWENTY, 0.0, 20.0, "too noisy"),
        ("trend", {}, 0.0, 10.0, "holds"),
        ("trend", {}, 10.0, 0.0, "does not hold"),
        ("trend", TWENTY, 0.0, 0.0, "no difference"),
        ("above", {"bound": 5.0}, 10.0, 10.0, "holds"),
        ("above", {"bound": 5.0}, 10.0, 0.0, "does not hold"),
        ("above", {"bound": "margin", "margin": Margin(units=0.1), "spread": True}, 0, 0, "holds"),
        ("above", {"bound": "margin", "spread": True} | TWENTY, 0.0, 0.0, "does not hold"),
        ("greater", {"spread": True}, 0.0, 10.0, "too noisy"),
        ("greater", {"spread": True} | TWENTY, 0.0, 10.0, "no difference"),
    ],
)
def test_runs_decide_claims(
    kind: str, changes: dict[str, object], static: float, smgrnn: float, expected: str
) -> None:
    assert verdicts({"static": static, "smgrnn": smgrnn}, claim(kind, **changes)) == [expected]


def test_a_claim_of_three_tasks_has_no_difference_if_one_has_none() -> None:
    """All students of CartPole may have 500 points while those of LunarLander are far apart."""

    def samples(source: Source, _: str) -> np.ndarray:
        gain = 0.0 if source.task == CARTPOLE else 10.0
        return np.arange(10) / 100 + (gain if source.condition == "smgrnn" else 0.0)

    both = claim(tasks=((CARTPOLE,), (ACROBOT,)), margin=Margin(units=1.0))
    (found,) = weigh([both], samples)
    assert found.verdict == "no difference"
    assert [part.p_equal < 0.001 for part in found.parts] == [True, False]


def test_claims_are_corrected_within_their_family_only() -> None:
    """Five runs of either side, fully apart, have p = 1 / 252."""

    def samples(source: Source, _: str) -> np.ndarray:
        return np.arange(5.0) + (10.0 if source.condition == "smgrnn" else 0.0)

    def p_values(*families: str) -> list[float]:
        asked = [claim(family=family) for family in families]
        found: tuple[Judgement, ...] = weigh(asked, samples)
        return [round(each.p_for * 252, 6) for each in found]

    assert p_values("a") == [1.0]
    assert p_values("a", "a", "b") == [2.0, 2.0, 1.0]
