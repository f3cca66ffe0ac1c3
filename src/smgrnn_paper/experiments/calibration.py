"""Calibration: which reading of the paper's rules comes closest to the numbers that it prints.

A reading is a value for each setting that the text leaves open.  Many are screened on two cheap
conditions with one seed, the closest compared on CartPole and Acrobot with three, and the closest
of those run all of the paper's tables.  LunarLander, the optimizer tables and the tables on initial
topologies are held out: no stage before the last runs them, and no distance counts them.

The seeds are none of those of the paper's experiments.  Growth is limited where a network is so
large already that its distance counts as the largest.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple

from smgrnn.batch import Condition, Experiment, LazyMapping
from smgrnn.graph.settings import Readout
from smgrnn.learning.settings import Loss
from smgrnn.rules.paper import Scale
from smgrnn.rules.settings import HistoryOnEdit
from smgrnn_paper.experiments.paper import (
    GROWTH_ABLATION,
    INITIAL_TOPOLOGY,
    OPTIMIZER_SENSITIVITY,
    OTHER_TEACHERS,
    PLAIN,
    PRUNING_ABLATION,
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to read the text."""

    update: int | Literal["step", "episode"]
    """When the weights are updated: at each step, once per episode, or every n steps."""
    interval: int | Literal["episode"]
    """Updates between two calls of the module, or a call at each episode's end."""
    loss: Loss = "one_hot"
    readout: Readout = "state"
    scale: Scale
    max_relays: int | None
    initial_weight: float
    """Standard deviation of new weights."""
    spread: float | Literal["new"]
    """Standard deviation of the weights of the initial graph; "new" is that of new weights."""
    history: HistoryOnEdit = "keep"
    full_window: bool = True

    def apply(self, condition: Condition) -> Condition:
        """Return a distillation with the text read this way; a fixed graph has no rules."""
        spread = self.initial_weight if self.spread == "new" else self.spread
        values: dict[str, Any] = {
            "learning.update": self.update,
            "learning.loss": self.loss,
            "readout": self.readout,
            "weight_std": spread,
        }
        if condition.settings.plasticity.growth is not None:
            values |= {
                "plasticity.interval": self.interval,
                "plasticity.history_on_edit": self.history,
                "plasticity.full_window": self.full_window,
                "growth.scale": self.scale,
                "growth.max_relays": self.max_relays,
                "growth.initial_weight": self.initial_weight,
            }
        return replace(condition, settings=condition.settings.with_named(values))

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in asdict(self).items())


SCALES = ("update", "variance_to_mean", "weight")
LOSSES = (("one_hot", "state"), ("cross_entropy", "sum"))
"""The losses that the screening tries, each with what it reads."""
OTHER_LOSSES = (("plus_minus", "state"), ("cross_entropy", "state"))
"""The losses that the comparison tries with the closest readings."""


def _readings(losses: Iterable[tuple[str, str]], **axes: Iterable[Any]) -> list[Reading]:
    """Return all combinations of some values."""
    return [
        Reading(**dict(zip(axes, values, strict=True)), loss=loss, readout=readout)  # type: ignore[arg-type]
        for values in product(*axes.values())
        for loss, readout in losses
    ]


READINGS: tuple[Reading, ...] = (
    *_readings(
        LOSSES,
        update=("episode",),
        interval=(1,),
        scale=SCALES,
        max_relays=(None, 1),
        initial_weight=(0.02, 0.03, 0.04, 0.05, 0.06),
        spread=("new", 0.1),
        full_window=(True, False),
    ),
    *_readings(
        LOSSES[:1],
        update=(50, 100),
        interval=(1, "episode"),
        scale=SCALES,
        max_relays=(None, 1),
        initial_weight=(0.03, 0.04, 0.05),
        spread=("new", 0.1),
        full_window=(True, False),
    ),
    *_readings(
        LOSSES,
        update=("step",),
        interval=("episode",),
        scale=SCALES,
        max_relays=(None, 1),
        initial_weight=(0.03, 0.04, 0.05),
        spread=("new", 0.1),
        full_window=(True, False),
    ),
)
"""The readings that are screened; what an edit does to histories is tried in the comparison."""

PAPER = Reading(
    update="step",
    interval="episode",
    loss="cross_entropy",
    readout="sum",
    scale="variance_to_mean",
    max_relays=1,
    initial_weight=0.04,
    spread=0.1,
)
"""The preset `paper`, the closest of the first two calibrations."""
_EPISODE = replace(PAPER, update="episode", interval=1, full_window=False)
_ONE_HOT: dict[str, Any] = {"loss": "one_hot", "readout": "state"}
_STATES: dict[str, Any] = {"update": 100, "spread": "new", **_ONE_HOT}
_CLOSE: tuple[tuple[Reading, list[dict[str, Any]]], ...] = (
    (
        replace(_EPISODE, scale="update"),
        [
            *({"initial_weight": w} for w in (0.02, 0.03, 0.04)),
            *({"spread": "new", "initial_weight": w} for w in (0.03, 0.035, 0.04)),
            {"loss": "plus_minus", "readout": "state"},
            {"readout": "state"},
            {**_ONE_HOT, "initial_weight": 0.03},
        ],
    ),
    (
        _EPISODE,
        [
            {"initial_weight": 0.02},
            *({"spread": "new", "initial_weight": w} for w in (0.03, 0.035, 0.04)),
            {"spread": "new", "initial_weight": 0.02, "max_relays": None},
            {**_ONE_HOT, "spread": "new", "initial_weight": 0.03},
            _ONE_HOT,
        ],
    ),
    (
        replace(_EPISODE, scale="weight", spread="new"),
        [
            *({"initial_weight": w} for w in (0.04, 0.045, 0.05)),
            {**_ONE_HOT, "initial_weight": 0.05},
        ],
    ),
    (
        replace(_EPISODE, scale="weight", max_relays=None),
        [
            {"initial_weight": 0.02},
            *({"spread": "new", "initial_weight": w} for w in (0.025, 0.03)),
            *({"spread": "new", "initial_weight": w, "full_window": True} for w in (0.02, 0.03)),
            {"spread": "new", "initial_weight": 0.03, "history": "reset_on_removal"},
            {"spread": "new", "initial_weight": 0.03, "history": "reset"},
        ],
    ),
    (
        replace(_EPISODE, **_STATES),
        [
            {"scale": "weight"},
            {"scale": "weight", "max_relays": None},
            {"scale": "weight", "interval": "episode", "initial_weight": 0.05},
            {"update": 50, "interval": "episode", "spread": 0.1},
            {"update": 50, "interval": "episode", "spread": 0.1, "scale": "update"},
        ],
    ),
    (
        replace(PAPER, full_window=False),
        [
            {},
            *({"scale": "update", "initial_weight": w} for w in (0.03, 0.035, 0.04)),
            {"max_relays": None, "initial_weight": 0.03},
            {"scale": "weight", "max_relays": None},
            {"spread": "new", "full_window": True},
        ],
    ),
)
SHORTLIST: tuple[Reading, ...] = (
    *(replace(base, **changes) for base, each in _CLOSE for changes in each),
    PAPER,
)
"""The closest of the screening with their neighbors, and the preset `paper`."""
_STEP = replace(PAPER, full_window=False)
_ALL = replace(_EPISODE, scale="weight", max_relays=None, spread="new")
CLOSEST: tuple[Reading, ...] = (
    replace(_STEP, scale="update"),
    PAPER,
    _STEP,
    replace(PAPER, spread="new"),
    replace(_EPISODE, scale="update", **_ONE_HOT | {"update": 50, "interval": "episode"}),
    replace(_EPISODE, spread="new"),
    replace(_EPISODE, scale="update", spread="new"),
    replace(_EPISODE, scale="update", loss="plus_minus", readout="state"),
    replace(_EPISODE, scale="weight", spread="new", initial_weight=0.045),
    replace(_EPISODE, **_ONE_HOT),
    replace(_ALL, initial_weight=0.025),
    replace(_ALL, **_STATES),
    replace(_STEP, scale="weight", max_relays=None),
    replace(_STEP, max_relays=None, initial_weight=0.03),
)
"""The closest ten of the comparison, and the closest four that insert every relay."""
FINALISTS: tuple[Reading, ...] = (
    PAPER,
    replace(PAPER, spread="new"),
    replace(_STEP, scale="update"),
    replace(_EPISODE, spread="new"),
    replace(_ALL, initial_weight=0.025),
    replace(_ALL, full_window=True, **_ONE_HOT),
)
"""The closest with either step, the closest that no printed number refutes, and the one that came
closest in an independent simulation with other teachers: squared errors once per episode."""

SEEDS = tuple(range(100, 105))
"""Seeds of all of the paper's tables; the screening has the first, the comparison three."""
MORE_SEEDS = tuple(range(100, 115))
"""Seeds of the last stage."""
FEWER = 3
"""Seeds of the comparison; in the last stage, of LunarLander and of growth without pruning."""
LIMITS = {
    "smgrnn": (200, 1_000),
    "CartPole-v1/optimizer=rmsprop": (6_000, 20_000),
    "CartPole-v1/growth-only": (4_400, 12_000),
    "Acrobot-v1/growth-only": (4_400, 12_000),
    "LunarLander-v3/growth-only": (10_000, 70_000),
}
"""Most nodes and edges of a row, or else of a kind of student."""
SUM = "@sum"
"""End of the names of rows whose updates follow the sum of the gradients instead of the mean."""
LEFT_OUT = tuple(f"LunarLander-v3/{name}" for name in ("growth-only", "n_hidden=5", "n_hidden=10"))
"""The rows that no stage runs: they take as long as all others together."""


def condition_name(reading: Reading, row: str) -> str:
    """Return the name of the condition that runs a row of the paper's tables in some reading."""
    return f"{row}@{reading}"


def _rows() -> dict[str, Condition]:
    rows = {}
    for experiment in (GROWTH_ABLATION, PRUNING_ABLATION, INITIAL_TOPOLOGY, OPTIMIZER_SENSITIVITY):
        for name, condition in experiment.conditions.items():
            assert isinstance(condition, Condition)
            row = f"{condition.task}/{name.removeprefix(f'{condition.task}/')}"
            settings = condition.settings
            if settings.plasticity.growth is not None:
                most = LIMITS.get(row, LIMITS["smgrnn"])
                limits = dict(zip(("max_nodes", "max_edges"), most, strict=True))
                settings = settings.with_changes(plasticity=limits)
            rows[row] = replace(condition, settings=settings)
            if row.partition("/")[2].startswith("optimizer="):
                summed = settings.with_changes(learning={"reduction": "sum"})
                rows[f"{row}{SUM}"] = replace(rows[row], settings=summed)
    return rows


ROWS = LazyMapping(_rows)
"""All conditions whose numbers the paper prints, named like the rows of its tables."""
SCREENED = ("CartPole-v1/smgrnn", "Acrobot-v1/smgrnn")
"""The rows that all readings run."""
FITTED = tuple(
    f"{task}/{student}"
    for task in ("CartPole-v1", "Acrobot-v1")
    for student in ("smgrnn", "static", "growth-only")
)
"""The rows that the distance counts; the sizes at 1000 episodes are those of the same runs."""


class Stage(NamedTuple):
    """A stage of the calibration."""

    experiment: Experiment
    readings: tuple[Reading, ...]
    """The readings whose conditions it runs."""


def _stage(
    name: str,
    question: str,
    readings: tuple[Reading, ...],
    rows: Callable[[], Mapping[str, Condition]],
    seeds: tuple[int, ...] = SEEDS,
    n_slow: int = FEWER,
) -> Stage:
    """Return the stage in which some readings run some rows; slow ones have fewer seeds."""

    def conditions() -> dict[str, Condition]:
        found = rows().items()
        return {condition_name(it, row): it.apply(each) for it in readings for row, each in found}

    def more() -> dict[str, tuple[int, ...]]:
        quick = [row for row in rows() if not row.startswith("Lunar") and "growth-only" not in row]
        return {condition_name(it, row): seeds[n_slow:] for it in readings for row in quick}

    made = Experiment(
        id=f"calibration-{name}-v3",
        question=question,
        conditions=LazyMapping(conditions),
        seeds=seeds[:n_slow],
        more=LazyMapping(more),
    )
    return Stage(made, readings)


def _fitted() -> dict[str, Condition]:
    return {row: ROWS[row] for row in FITTED if not row.endswith("growth-only")}


def _old() -> dict[str, Condition]:
    former = OTHER_TEACHERS[PLAIN]
    rows = [*_fitted(), "LunarLander-v3/smgrnn", "LunarLander-v3/static"]
    return {row: replace(it, teachers=former[it.task]) for row in rows for it in [ROWS[row]]}


_STAGES = (
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
        _fitted,
        SEEDS[:FEWER],
    ),
    _stage(
        "growth",
        "Which of the closest of those grow as the paper's networks do without pruning?",
        CLOSEST,
        lambda: {row: ROWS[row] for row in FITTED},
        SEEDS[:FEWER],
        n_slow=1,
    ),
    _stage(
        "final",
        "Which of those follow all of the paper's tables?",
        FINALISTS,
        lambda: {row: each for row, each in ROWS.items() if row not in LEFT_OUT},
    ),
    _stage("teachers", "Is that so with the former teachers too?", FINALISTS, _old),
    _stage(
        "decision",
        "Which of the closest four is closest, if more seeds are asked?",
        FINALISTS[:4],
        _fitted,
        MORE_SEEDS,
    ),
)
CALIBRATION = {stage.experiment.id: stage for stage in _STAGES}
"""The stages by the id of their experiment."""
