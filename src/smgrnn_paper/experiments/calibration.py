"""Calibration: which reading of the paper's rules comes closest to the paper's own sizes.

All readings are screened on two cheap conditions, the best of them compared on more, and the best
of those on LunarLander too.  The seeds are none of those of the paper's experiments.  Growth is
limited where a network is so large already that its distance counts as the largest.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal

from smgrnn.batch import Condition, Experiment, LazyMapping
from smgrnn.config import RunConfig
from smgrnn.graph.settings import Readout
from smgrnn.learning.settings import Loss
from smgrnn.rules.paper import NewWeights, Scale
from smgrnn_paper.experiments.paper import (
    INITIAL_TOPOLOGY,
    OPTIMIZER_SENSITIVITY,
    PRUNING_ABLATION,
)

PLACES = {
    "loss": "learning.loss",
    "readout": "network.readout",
    "interval": "plasticity.interval",
    **{name: f"growth.{name}" for name in ("scale", "max_relays", "initial_weight", "new_weights")},
}
"""The settings of a reading, by their full names."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to read the text; the fields are settings of a run, by their own names."""

    loss: Loss = "cross_entropy"
    readout: Readout = "sum"
    interval: int | Literal["episode"]
    scale: Scale
    max_relays: int | None
    initial_weight: float
    new_weights: NewWeights = "gaussian"

    @classmethod
    def of(cls, settings: RunConfig) -> "Reading":
        """Return the reading in a run's settings."""
        named = settings.named()
        found = {name: named[place] for name, place in PLACES.items()}
        loss: Loss = settings.learning.loss or "cross_entropy"
        readout = settings.network.readout or ("sum" if loss == "cross_entropy" else "state")
        return cls(**found | {"loss": loss, "readout": readout})

    def apply(self, condition: Condition) -> Condition:
        """Return a distillation with the text read this way."""
        values = {place: getattr(self, name) for name, place in PLACES.items()}
        return replace(condition, settings=condition.settings.with_named(values))

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in asdict(self).items())


AXES: dict[str, tuple[Any, ...]] = {
    "loss": ("cross_entropy", "one_hot", "plus_minus"),
    "readout": ("sum", "state"),
    "interval": ("episode", 100),
    "scale": ("update", "variance_to_mean", "weight"),
    "max_relays": (1, None),
    "initial_weight": (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.09, 0.11),
    "new_weights": ("gaussian", "sign"),
}
"""The values that are tried for each setting."""
SIGNED = (0.05, 0.09, 0.11)
"""Magnitudes of weights that have nothing but a random sign; weak edges are below 0.1 (τ_w)."""


def _is_tried(read: Reading) -> bool:
    """Return whether a combination is among those that are tried."""
    # A squared error is of states; sums have no bounds that a target could stand for.
    is_bounded = read.loss == "cross_entropy" or read.readout == "state"
    is_signed = read.new_weights == "sign"
    is_drawn = read.initial_weight in SIGNED if is_signed else read.initial_weight < 0.09
    # Networks explode where every unstable edge counts by the printed scale, and every 100 updates
    # by either of the first two.
    is_bounded &= (read.scale, read.max_relays) != ("update", None)
    return is_bounded and is_drawn and (read.interval == "episode" or read.scale == "weight")


READINGS: tuple[Reading, ...] = tuple(
    read
    for values in product(*AXES.values())
    if _is_tried(read := Reading(**dict(zip(AXES, values, strict=True))))
)
"""Every combination that is tried."""

PAPER = Reading(interval="episode", scale="variance_to_mean", max_relays=1, initial_weight=0.04)
"""The preset `paper`, the closest of the first calibration, which had one loss and read-out."""
_RELAYS = Reading(interval="episode", scale="weight", max_relays=None, initial_weight=0.05)
_ONE_HOT = replace(_RELAYS, loss="one_hot", readout="state")
SHORTLIST: tuple[Reading, ...] = (
    _ONE_HOT,
    replace(_ONE_HOT, initial_weight=0.04),
    replace(_ONE_HOT, loss="plus_minus"),
    _RELAYS,
    replace(_RELAYS, initial_weight=0.04),
    replace(_RELAYS, initial_weight=0.04, readout="state"),
    PAPER,
)
"""The closest of the screening that no printed number refutes, and the first calibration's."""
FINALISTS: tuple[Reading, ...] = (SHORTLIST[0], SHORTLIST[1], PAPER)
"""The closest of the comparison, and the first calibration's."""


def condition_name(reading: Reading, row: str) -> str:
    """Return the name of the condition that runs a row of the paper's tables in some reading."""
    return f"{row}@{reading}"


SEEDS = tuple(range(100, 109))
"""Seeds of the last stage; the screening has the first of them, the comparison three."""
FEWER = 3
"""Seeds of LunarLander and of growth without pruning, which take longer than all else together."""
LIMITS = {
    "smgrnn": (200, 1_000),
    "CartPole-v1/optimizer=rmsprop": (6_000, 20_000),
    "CartPole-v1/growth-only": (6_000, 20_000),
    "Acrobot-v1/growth-only": (6_000, 20_000),
    "LunarLander-v3/growth-only": (10_000, 70_000),
}
"""Most nodes and edges of a row, or else of a kind of student."""


def _rows() -> dict[str, Condition]:
    rows = {}
    for experiment in (PRUNING_ABLATION, INITIAL_TOPOLOGY, OPTIMIZER_SENSITIVITY):
        for name, condition in experiment.conditions.items():
            assert isinstance(condition, Condition)
            row = f"{condition.task}/{name.removeprefix(f'{condition.task}/')}"
            max_nodes, max_edges = LIMITS.get(row, LIMITS["smgrnn"])
            limits = {"max_nodes": max_nodes, "max_edges": max_edges}
            settings = condition.settings.with_changes(plasticity=limits)
            rows[row] = replace(condition, settings=settings)
    return rows


ROWS = LazyMapping(_rows)
"""All conditions whose size the paper prints, named like the rows of its tables."""
SCREENED = (
    "CartPole-v1/optimizer=adam",
    "CartPole-v1/learning_rate=0.01",
    "CartPole-v1/smgrnn",
    "CartPole-v1/n_hidden=0",
    "Acrobot-v1/smgrnn",
    "Acrobot-v1/n_hidden=0",
)
"""The rows that all readings run: CartPole for 1000 and for 2000 episodes, Acrobot for 2000."""
LEFT_OUT = ("LunarLander-v3/n_hidden=5", "LunarLander-v3/n_hidden=10")
"""The rows that the finalists do not run: they take as long as all on CartPole."""


def _final() -> dict[str, Condition]:
    return {row: each for row, each in ROWS.items() if row not in LEFT_OUT}


def _stage(
    name: str,
    question: str,
    readings: Iterable[Reading],
    rows: Callable[[], Mapping[str, Condition]],
    seeds: tuple[int, ...] = SEEDS,
) -> Experiment:
    """Return the experiment in which some readings run some rows."""

    def conditions() -> dict[str, Condition]:
        found = rows().items()
        return {condition_name(it, row): it.apply(each) for it in readings for row, each in found}

    def more() -> dict[str, tuple[int, ...]]:
        quick = [
            row
            for row, each in rows().items()
            if each.task != "LunarLander-v3" and each.variant != "growth-only"
        ]
        return {condition_name(it, row): seeds[FEWER:] for it in readings for row in quick}

    return Experiment(
        id=f"calibration-{name}-v2",
        question=question,
        artefacts=(),
        conditions=LazyMapping(conditions),
        seeds=seeds[:FEWER],
        more=LazyMapping(more),
    )


CALIBRATION: tuple[Experiment, ...] = (
    _stage(
        "screening",
        "Which readings of the rules grow networks of about the paper's size?",
        READINGS,
        lambda: {row: ROWS[row] for row in SCREENED},
        SEEDS[:1],
    ),
    _stage(
        "comparison",
        "Which of them follow the paper's tables on CartPole and Acrobot?",
        SHORTLIST,
        lambda: {row: each for row, each in ROWS.items() if not row.startswith("LunarLander")},
        SEEDS[:FEWER],
    ),
    _stage("final", "Which of those follow all of the paper's tables?", FINALISTS, _final),
    _stage(
        "smooth",
        "Is that so with other teachers too?",
        FINALISTS,
        lambda: {row: replace(each, teachers=()) for row, each in _final().items()},
    ),
)
"""The stages; the last has the smooth teachers, the default of a run."""
