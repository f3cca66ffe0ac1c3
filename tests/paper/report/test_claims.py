"""The paper's claims as data, and the road from runs to verdicts."""

from dataclasses import replace

import numpy as np
import pytest

from smgrnn_paper.report.claims import Claim, Margin, Source, load_claims, weigh
from smgrnn_paper.report.paper import METRICS, load_paper
from smgrnn_paper.report.statistics import Origin, Runs
from smgrnn_paper.report.tables import BESIDE

CARTPOLE, ACROBOT, LANDER = "CartPole-v1", "Acrobot-v1", "LunarLander-v3"


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return load_claims()


def claim(kind: str = "greater", **changes: object) -> Claim:
    settings = {
        "id": f"a-{kind}",
        "experiment": "growth-ablation",
        "where": ("Sec. IV",),
        "sentence": "So it is.",
        "kind": kind,
        "metric": "late_return",
        "tasks": ((CARTPOLE,),),
        "conditions": (("static",), ("smgrnn",)),
        "margin": None if kind == "above" else Margin(units=0.1),
    }
    return Claim(**{**settings, **changes})  # type: ignore[arg-type]


def origins(source: Source, values: np.ndarray) -> Runs:
    """Return runs with the seeds 0, 1, … and one teacher."""
    return {Origin(source.task, "", seed): float(it) for seed, it in enumerate(values)}


def verdicts(means: dict[str, float], *claims: Claim, n: int = 10) -> list[str]:
    """Decide claims on runs around the mean of their condition, with a deviation of about 1."""
    around = np.linspace(-1.5, 1.5, n)

    def samples(source: Source, metric: str) -> Runs:
        assert metric == "late_return"
        # The order of runs is another in each condition, or all pairs would be equally far apart.
        return origins(
            source, means[source.condition] + np.roll(around, 3 * (source.condition == "static"))
        )

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
    assert len(set(claim("equivalent", conditions=three).parts)) == 3
    assert [len(part) for part in claim("trend").parts] == [2]
    assert [len(part) for part in claim("above", bound=0.0).parts] == [1, 1]


def test_returns_have_a_margin_on_the_scale_of_their_task(claims: dict[str, Claim]) -> None:
    """1 % of the way from random to expert; 20 points were more than students differ by."""
    margin = claims["pruning-keeps-late-return"].margin
    assert margin is not None
    found = [margin.on(task, []) for task in (CARTPOLE, ACROBOT, LANDER)]
    assert found == pytest.approx([4.78, 4.16, 4.52])
    runs = [origins(Source(CARTPOLE, ""), np.array(it)) for it in ([10.0, 20.0], [30.0, 40.0])]
    assert Margin(share=0.1).on(CARTPOLE, runs) == 2.5  # of the median


TWENTY = {"margin": Margin(units=20.0)}


@pytest.mark.parametrize(
    ("kind", "changes", "static", "smgrnn", "expected"),
    [
        ("greater", {}, 0.0, 10.0, "holds"),
        ("greater", {}, 10.0, 0.0, "does not hold"),
        ("greater", {}, 0.0, 0.0, "undecided"),
        ("greater", TWENTY, 0.0, 0.0, "no difference"),
        ("greater", TWENTY, 0.0, 10.0, "holds"),  # it is shown, whatever the margin
        ("greater", {"factor": 10.0}, 10.0, 150.0, "holds"),
        ("greater", {"factor": 10.0}, 10.0, 50.0, "does not hold"),
        ("not_lower", TWENTY, 10.0, 0.0, "holds"),
        ("not_lower", TWENTY, 50.0, 0.0, "does not hold"),
        ("equivalent", TWENTY, 10.0, 0.0, "holds"),
        ("equivalent", TWENTY, 0.0, 50.0, "does not hold"),
        ("equivalent", TWENTY, 50.0, 0.0, "does not hold"),
        ("equivalent", TWENTY, 0.0, 20.0, "undecided"),
        ("trend", {}, 0.0, 10.0, "holds"),
        ("trend", {}, 10.0, 0.0, "does not hold"),
        ("trend", TWENTY, 0.0, 0.0, "no difference"),
        ("above", {"bound": 5.0}, 10.0, 10.0, "holds"),
        ("above", {"bound": 5.0}, 10.0, 0.0, "in part"),
        ("above", {"bound": 15.0}, 10.0, 0.0, "does not hold"),
        ("above", {"bound": "margin", "margin": Margin(units=0.1), "spread": True}, 0, 0, "holds"),
        ("above", {"bound": "margin", "spread": True} | TWENTY, 0.0, 0.0, "does not hold"),
        ("greater", {"spread": True}, 0.0, 10.0, "undecided"),
        ("greater", {"spread": True} | TWENTY, 0.0, 10.0, "no difference"),
    ],
)
def test_runs_decide_claims(
    kind: str, changes: dict[str, object], static: float, smgrnn: float, expected: str
) -> None:
    assert verdicts({"static": static, "smgrnn": smgrnn}, claim(kind, **changes)) == [expected]


def test_a_claim_of_two_tasks_holds_in_part_if_one_has_no_difference() -> None:
    """All students of CartPole may have 500 points while those of Acrobot are far apart.

    That was "no difference", and nothing said that the claim holds on Acrobot.
    """

    def samples(source: Source, _: str) -> Runs:
        gain = 0.0 if source.task == CARTPOLE else 10.0
        return origins(source, np.arange(12) / 100 + gain * (source.condition == "smgrnn"))

    both = claim(tasks=((CARTPOLE,), (ACROBOT,)), margin=Margin(units=1.0))
    (found,) = weigh([both], samples)
    assert found.verdict == "in part"
    assert [part.p_equal is not None and part.p_equal < 0.001 for part in found.parts] == [
        True,
        False,
    ]


def test_claims_are_corrected_together_whichever_experiment_decides_them() -> None:
    """Ten pairs that all rise have p = 1 / 1024: enough for one claim, not for the best of 72.

    Corrected over the claims of its own experiment alone it held, whatever else was claimed.
    """
    gains = {"static": np.zeros(10), "smgrnn": np.ones(10), "mlp-100": np.tile([1.0, -1.0], 5)}

    def samples(source: Source, _: str) -> Runs:
        return origins(source, np.arange(10.0) + gains[source.condition])

    other = claim(experiment="baseline-comparison", conditions=(("static",), ("mlp-100",)))
    assert [it.verdict for it in weigh([claim()], samples)] == ["holds"]
    found = weigh([claim(), *[other] * 71], samples)
    assert found[0].raw["holds"] == 2**-10
    assert {it.verdict for it in found} == {"undecided"}


def test_a_claim_is_circular_where_the_calibration_used_its_numbers(
    claims: dict[str, Claim],
) -> None:
    found = {id: it.circular for id, it in claims.items()}
    assert found["cartpole-near-optimal"] == "wholly"
    assert found["growth-lifts-return"] == "in part"  # LunarLander is held out
    assert found["pruning-bounds-growth"] == "in part"
    assert found["cartpole-smaller-than-harder-tasks"] == "in part"
    assert found["size-follows-difficulty"] == "in part"
    assert found["matches-mlps"] == ""  # no MLP was fitted
    assert found["rmsprop-largest"] == found["larger-starts-grow-less"] == ""
    assert found["harder-tasks-skip-more"] == found["pruning-keeps-best-return"] == ""
    # By content: 0 hidden nodes, and the usual rate, are the standard network under other names.
    starts = claim("above", experiment="initial-topology", conditions=(("n_hidden=0",),), bound=0.0)
    rates = replace(
        starts, experiment="optimizer-sensitivity", conditions=(("learning_rate=0.01",),)
    )
    assert (starts.circular, rates.circular) == ("wholly", "wholly")
    assert replace(rates, conditions=(("learning_rate=0.03",),)).circular == ""


def test_linear_growth_does_not_settle(claims: dict[str, Claim]) -> None:
    """Growth with the root of time is not over: 13 % of it is left; above 0.75 it had settled."""
    share = np.sqrt(0.75) + np.arange(12) / 1e4
    found = weigh([claims["size-settles"]], lambda source, _: origins(source, share))
    assert found[0].verdict == "does not hold"
    assert share.min() > 0.75


def test_twice_as_large_is_not_far_larger(claims: dict[str, Claim]) -> None:
    """RMSprop's networks are over 16 times as large in the paper; any difference was enough."""

    def verdict(times: float) -> str:
        sizes = np.arange(12) + 30.0
        scale = {"optimizer=rmsprop": times}
        (found,) = weigh(
            [claims["rmsprop-largest"]],
            lambda source, _: origins(source, sizes * scale.get(source.condition, 1.0)),
        )
        return found.verdict

    assert [verdict(times) for times in (2.0, 16.0)] == ["does not hold", "holds"]
